"""Settings that keep the runs of a method apart, under names that say what differs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePath

import numpy as np

from edgecil.errors import name_some, short_name
from edgecil.io.numbers import is_number
from edgecil.runs.identity import POOLED
from edgecil.runs.metric_names import split_words
from edgecil.runs.reading.column_names import column_name
from edgecil.runs.reading.reading_options import Declarations
from edgecil.runs.reading.run_tables import RunList

_MOST = 4  # settings in a name


def keep_settings_apart(
    runs: RunList,
    settings: Sequence[dict[str, str]],
    scenarios: Sequence[dict[str, str]],
    declared: Declarations,
) -> list[str]:
    """Name methods and datasets by settings that differ between their runs.

    Returns:
        Parts of the reading line: which settings are kept apart.
    """
    apart_scenarios = _varying(scenarios, runs.dataset, declared.by)
    for row, scenario_of_run in enumerate(scenarios):
        differing = apart_scenarios.get(runs.dataset[row], [])
        label = _label(scenario_of_run, differing)
        if label:
            runs.dataset[row] = short_name(f"{runs.dataset[row]} ({label})".strip())
    keys = [
        f"{method}\n{dataset}" for method, dataset in zip(runs.method, runs.dataset, strict=True)
    ]
    seeds = [""] * len(runs) if runs.seed is None else [str(cell) for cell in runs.seed]
    apart = _varying(settings, keys, declared.by, seeds)
    # A method is called by the settings that differ on any dataset.
    by_method: dict[str, list[str]] = {}
    for key, names in apart.items():
        method = key.partition("\n")[0]
        by_method[method] = list(dict.fromkeys([*by_method.get(method, []), *names]))
    named: list[str] = []
    for method, names in by_method.items():
        rows = [row for row, method_of_run in enumerate(runs.method) if method_of_run == method]
        needed = names if declared.by else _needed(settings, keys, rows, names)
        by_method[method] = needed
        named += needed
        other_settings = [_plain(name) for name in names if name not in needed]
        if other_settings:
            runs.notes.append(
                f"The runs of {method!r} that are kept apart also differ in "
                f"{name_some(other_settings)}."
            )
    for row, settings_of_run in enumerate(settings):
        label = _label(settings_of_run, by_method.get(runs.method[row], []))
        if label:
            runs.method[row] = short_name(f"{runs.method[row]} ({label})")
    for names in apart_scenarios.values():
        named += names
    apart_names = [_plain(name) for name in dict.fromkeys(named)]
    return [f"{', '.join(apart_names)} kept apart"] if apart_names else []


def _varying(
    settings: Sequence[dict[str, str]],
    keys: Sequence[str],
    by: tuple[str, ...] | None,
    seeds: Sequence[str] = (),
) -> dict[str, list[str]]:
    """Return the settings that differ between the runs of a key, by key."""
    values: dict[str, dict[str, dict[str, set[str]]]] = {}
    for row, (settings_of_run, key) in enumerate(zip(settings, keys, strict=True)):
        seed = seeds[row] if seeds else ""
        by_name = values.setdefault(key, {})
        for name, value in settings_of_run.items():
            by_name.setdefault(name, {}).setdefault(value, set()).add(seed)
    wanted = None if by is None else {name.lower() for name in by}
    varying: dict[str, list[str]] = {}
    for key, by_name in values.items():
        names = [
            name
            for name, seeds_by_value in by_name.items()
            if len(seeds_by_value) > 1
            and (wanted is None or name.lower() in wanted)
            and not (_may_name_seeds(name, seeds_by_value) and _counts_seeds(seeds_by_value))
        ]
        if names:
            varying[key] = names
    return varying


def _needed(
    settings: Sequence[dict[str, str]],
    keys: Sequence[str],
    rows: Sequence[int],
    names: Sequence[str],
) -> list[str]:
    """Return as few settings as tell the runs of a method apart on each of its datasets.

    Of settings that say the same, those stay that are known by name, and have few values.
    """

    def parts(chosen: Sequence[str]) -> int:
        """Return into how many parts settings divide the runs."""
        return len({(keys[row], *(settings[row].get(name) for name in chosen)) for row in rows})

    def worth(name: str) -> tuple[bool, int, int]:
        count = len({settings[row].get(name) for row in rows})
        return column_name(name).role == "setting", -count, -names.index(name)

    needed = list(names)
    for name in sorted(names, key=worth):
        rest = [other for other in needed if other != name]
        if rest and parts(rest) == parts(names):
            needed = rest
    return needed


def _may_name_seeds(name: str, values: Iterable[str]) -> bool:
    """Return whether a setting may be another name of the seed: a seed itself, or texts."""
    texts = list(values)
    are_texts = len(texts) > 2 and not any(map(is_number, texts))
    return "seed" in split_words(name) or are_texts


def _counts_seeds(seeds_by_value: dict[str, set[str]]) -> bool:
    """Return whether each value belongs to one seed and each seed to one value: a second name."""
    seeds = [seed for seeds_of_value in seeds_by_value.values() for seed in seeds_of_value]
    is_single = all(len(seeds_of_value) == 1 for seeds_of_value in seeds_by_value.values())
    return is_single and "" not in seeds and len(set(seeds)) == len(seeds) and len(seeds) > 1


def _label(settings: dict[str, str], names: Sequence[str]) -> str:
    """Return the first settings of a run by these names for its label, and how many more differ."""
    parts = [f"{_plain(name)} {settings[name]}" for name in names if settings.get(name)]
    more = f" and {len(parts) - _MOST} more" if len(parts) > _MOST else ""
    return ", ".join(parts[:_MOST]) + more


def _plain(name: str) -> str:
    return name.replace("_", " ")


def keep_sources_apart(runs: RunList, pool: str | None) -> None:
    """Name methods by their files where several files have runs of one method.

    Files with one run each of different seeds belong together, as do files that name the seed.
    With a reason to pool, the runs are averaged and a note has the reason.
    """
    if len(set(runs.origins)) < 2:
        return
    for method, origins in _origins_of_methods(runs).items():
        short = {origin: Path(origin).name for origin in origins}
        is_unique = len(set(short.values())) == len(short)
        names = short if is_unique else {origin: origin for origin in origins}
        file_names = ", ".join(names.values())
        if pool is not None:
            runs.notes.append(f"Runs of {method} that differ ({file_names}){POOLED}{pool.strip()}.")
            continue
        runs.notes.append(f"Runs of {method} differ and are kept apart: {file_names}.")
        for row, name in enumerate(runs.method):
            if name == method and runs.origins[row] in names:
                runs.method[row] = short_name(f"{method} ({names[runs.origins[row]]})")


def _origins_of_methods(runs: RunList) -> dict[str, list[str]]:
    """Return the files with runs of each method that may differ between its files."""
    rows_of_key: dict[tuple[str, str], list[int]] = {}
    for row, key in enumerate(zip(runs.method, runs.dataset, strict=True)):
        rows_of_key.setdefault(key, []).append(row)
    origins_of_method: dict[str, dict[str, None]] = {}
    for (method, _), rows in rows_of_key.items():
        origins = dict.fromkeys(runs.origins[row] for row in rows)
        if len(origins) > 1 and not _belong_together(runs, rows):
            origins_of_method.setdefault(method, {}).update(origins)
    return {method: list(origins) for method, origins in origins_of_method.items()}


def _belong_together(runs: RunList, rows: Sequence[int]) -> bool:
    """Return whether runs in several files belong to one method: one seed after another.

    Logs of toolboxes name their settings, so that logs with the same settings belong together.
    """
    if runs.identity is not None:
        return True
    keys = runs.keys()
    own_keys = [keys[row] for row in rows]
    if not own_keys[0] or len(set(own_keys)) < len(own_keys):
        return False
    counts = Counter(runs.origins[row] for row in rows)
    return all(runs.is_log[row] for row in rows) or max(counts.values()) == 1


def drop_copies(runs: RunList) -> None:
    """Leave out files that repeat runs of others, and runs that a later log repeats."""
    keys = runs.keys()
    if not keys or not keys[0] or len(set(runs.origins)) < 2:
        return
    rows_of_run: dict[tuple[str, ...], list[int]] = {}
    for row, key in enumerate(keys):
        rows_of_run.setdefault((runs.method[row], runs.dataset[row], *key), []).append(row)
    dropped: set[int] = set()
    for rows in rows_of_run.values():
        if len(rows) > 1 and all(runs.is_log[row] for row in rows):
            dropped |= set(rows[:-1])
            runs.notes.append(
                f"{runs.origins[rows[0]]} and {runs.origins[rows[-1]]} have the same settings and "
                "seed; the later one counts."
            )
    dropped |= _summaries(runs, rows_of_run)
    runs.take([row for row in range(len(runs)) if row not in dropped])


def _summaries(runs: RunList, rows_of_run: Mapping[tuple[str, ...], list[int]]) -> set[int]:
    """Return the rows of runs that stand in an earlier file with the same value."""
    repeated: set[int] = set()
    for rows in rows_of_run.values():
        is_file = all(PurePath(runs.origins[row]).suffix for row in rows)
        values = runs.values[rows]
        is_same = bool(np.allclose(values, values[0], rtol=1e-4, atol=0.0, equal_nan=True))
        if len(rows) > 1 and is_file and is_same:
            repeated |= {row for row in rows if runs.origins[row] != runs.origins[rows[0]]}
    counts = Counter(runs.origins[row] for row in repeated)
    whole = [origin for origin, count in counts.items() if count == runs.origins.count(origin)]
    if whole:
        runs.notes.append(f"{name_some(whole)} repeat the runs of other files and are not read.")
    return {row for row in repeated if runs.origins[row] in whole}
