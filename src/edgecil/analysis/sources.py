"""What `analyze` accepts as a source: experiments, files, tables and DataFrames, one or several.

Here the runs of all sources meet. Runs of one method that differ in what gives them their meaning
are never averaged: they are kept apart under names that say what differs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias, TypedDict, cast

import numpy as np
from typing_extensions import Unpack

from edgecil.analysis.plain_numbers import Numbers, is_numbers, numbers_frame
from edgecil.analysis.plausibility import check_runs, in_per_cent
from edgecil.classes import get_classes
from edgecil.errors import (
    DataError,
    EdgecilError,
    UsageError,
    format_value,
    name_some,
    warn,
    wrong_value_error,
)
from edgecil.experiments.experiment import Experiment
from edgecil.io.data_frames import DataFrameLike
from edgecil.io.directory import check_path
from edgecil.io.files import check_new
from edgecil.options import checked
from edgecil.runs.grid import NAME, DataFrame, is_tensorboard, name_of, read_grid
from edgecil.runs.identity import MACHINE, remarks
from edgecil.runs.metrics import DEFAULT_METRIC, METRICS
from edgecil.runs.published import PublishedResult
from edgecil.runs.run_files import read_runs, write_runs
from edgecil.runs.run_table import Runs, join_tables
from edgecil.runs.training_seeds import SEEDS, SHARED
from edgecil.sequences.protocols import find_protocol
from edgecil.sequences.sequence import ClassSequence

POOLED = " are averaged: "
"""In the note on every method whose runs are averaged though their settings differ."""

One: TypeAlias = str | Path | Experiment | Runs | DataFrameLike
Source: TypeAlias = One | Numbers | Mapping[str, DataFrameLike | Numbers]


class Reading(TypedDict, total=False):
    """How sources are read; the same for every function that takes them.

    Attributes:
        pool: reason to average runs of a method whose settings differ between sources. By default
            they are kept apart, under names that say what differs.
        seeds_are: what a seed varies in a file without sequences: `orders`, `trainings` or `both`.
        orders_from: protocol that drew the class orders of such a file from its column
            `order_seed`, or else `seed`: `random-legacy` for PyCIL and PILOT; requires 'tasks'.
        tasks: number of tasks of these orders, or the sizes of the tasks.
    """

    pool: str | None
    seeds_are: str | None
    orders_from: str | None
    tasks: Sequence[int] | int | None


@dataclass(frozen=True, eq=False)
class DatasetRuns:
    """The runs on one dataset, their experiments as of one moment, and notes in sentences.

    Those of a single source also say `where` they are from. `published` are results of which only
    the mean, and perhaps its spread, is known; their methods need not be in the table.
    """

    table: Runs
    experiments: tuple[Experiment, ...] = ()
    notes: tuple[str, ...] = ()
    where: str = ""
    published: tuple[PublishedResult, ...] = ()


@dataclass(frozen=True, eq=False)
class Gathered:
    """The runs of all sources, each with its name, by one metric, for each dataset."""

    sources: list[One]
    words: tuple[str, ...]
    metric: str
    datasets: list[DatasetRuns]


def is_saved_analysis(source: object) -> bool:
    """Return whether a source is the JSON file of a saved analysis."""
    if isinstance(source, (list, tuple)) and len(source) == 1:
        source = source[0]
    return (
        isinstance(source, (str, Path))
        and Path(source).suffix == ".json"
        and not Path(source).is_dir()
    )


def list_sources(source: Source | Sequence[Source]) -> list[One]:
    """Return one source or several as a list; experiments are read as they are now."""
    if isinstance(source, (list, tuple, Mapping)) and not source:
        raise UsageError("`source` must have at least one entry. Got none.")
    if is_numbers(source):
        return [numbers_frame(source)]
    if isinstance(source, (list, tuple)):
        return [one for entry in source for one in list_sources(entry)]
    if isinstance(source, Mapping):
        return [_named(str(name), content) for name, content in source.items()]
    if isinstance(source, (str, Path)):
        check_path(source)
        if is_saved_analysis(source) and Path(source).exists():
            raise UsageError(
                f"{source} is a saved analysis, without the runs; give what it was made from."
            )
        return [Experiment.open(source).snapshot() if Path(source).is_dir() else source]
    if isinstance(source, Experiment):
        return [source.snapshot()]
    if isinstance(source, Runs):
        return [source]
    if _is_frame(source):
        return [cast(DataFrameLike, source)]
    raise wrong_value_error(
        "source",
        "an experiment, the path of one or of a file, a DataFrame, a list of accuracies, a list of "
        "these, or a dict of DataFrames or accuracies by the name of the method",
        source,
    )


def _is_frame(source: object) -> bool:
    is_table = hasattr(source, "iloc") or hasattr(source, "to_pandas")
    return hasattr(source, "columns") and is_table


def _named(name: str, source: Any) -> DataFrame:
    """Return a DataFrame that has a name, which stands for its method if it has none."""
    if is_numbers(source):
        source = numbers_frame(source)
    if not _is_frame(source):
        raise wrong_value_error(
            "source", "a DataFrame or accuracies for each name of a dict", source
        )
    frame = source.to_pandas() if hasattr(source, "to_pandas") else source.copy(deep=False)
    frame.attrs = {**frame.attrs, NAME: name}
    return frame


def _describe(source: One) -> str:
    """Return a source in a few words: its path, if it has one."""
    if isinstance(source, Runs):
        return f"a table of {source.dataset}"
    path = source.directory if isinstance(source, Experiment) else source
    return str(path) if isinstance(path, (str, Path)) else name_of(path) or "a DataFrame"


def default_metric(sources: Sequence[One]) -> str:
    """Return the metric that all sources name; A(O) if they name none or several."""
    named = set()
    for source in sources:
        if isinstance(source, Experiment):
            config = source.config
            named.add(DEFAULT_METRIC if config is None else METRICS.resolve(config.metric))
        else:
            named.add(source.metric if isinstance(source, Runs) else DEFAULT_METRIC)
    return named.pop() if len(named) == 1 else DEFAULT_METRIC


def available_metrics(sources: Sequence[One]) -> list[str]:
    """Return the metrics of edgecil that every source has; files have them as columns."""
    available = list(METRICS)
    for source in sources:
        if isinstance(source, Runs):
            own = [source.metric]
        elif isinstance(source, Experiment):
            tables = {name: source.table(name) for name in METRICS}
            own = [name for name, table in tables.items() if table.missing < len(table)]
        else:
            own = list(read_grid(source).columns)
        available = [name for name in available if name in own]
    return available


def gather(
    source: Source | Sequence[Source],
    *,
    metric: str | None = None,
    classifier: str | None = None,
    **reading: Unpack[Reading],
) -> Gathered:
    """Read the runs of all sources, join those on the same dataset, and check them."""
    sources = list_sources(source)
    metric = default_metric(sources) if metric is None else metric
    pool = reading.get("pool")
    if pool is not None and not pool.strip():
        raise UsageError("`pool` must be the reason to average runs with different settings.")
    options = {name: it for name, it in reading.items() if name != "pool" and it is not None}
    tracked = [one for one in sources if is_tensorboard(one)]  # each file has one run
    units = [one for one in sources if not is_tensorboard(one)]
    groups: dict[str, list[DatasetRuns]] = {}
    for number, one in enumerate([*units, *([tracked] if tracked else [])], 1):
        for part in _read(one, metric, classifier, options, number):
            groups.setdefault(part.table.dataset, []).append(part)
    joined = [_join(group, pool) for group in groups.values()]
    return Gathered(sources, tuple(map(_describe, sources)), metric, joined)


@checked
def export_runs(
    source: Source | Sequence[Source],
    out: str | Path,
    *,
    metric: str | None = None,
    classifier: str | None = None,
    overwrite: bool = False,
    **reading: Unpack[Reading],
) -> Path:
    """Write runs to a CSV file, with the ids that their classes have in the dataset.

    Args:
        source: experiment directories and CSV files. In Python also experiments, DataFrames and
            accuracy tables.
        out: the file to write, .csv or .csv.gz.
        metric: the metric to write: `accuracy`, `last`, `average`, `forgetting` or `bwt`; by
            default that of the experiments, as in an analysis.
        classifier: the classifier of the methods, such as `nme`; each method's main one by
            default.
        overwrite: replace the file if it exists.
        reading: see :class:`Reading`.

    Returns:
        The file.
    """
    check_new(out, overwrite=overwrite)
    tables: list[Runs] = []
    for part in gather(source, metric=metric, classifier=classifier, **reading).datasets:
        table = part.table
        if table.names is not None:
            try:
                table = table.numbered_by(get_classes(table.dataset).labels)
            except EdgecilError:
                warn(
                    f"The class ids in {out} are those of the experiment, 0 to "
                    f"{len(table.classes) - 1}, because those of {table.dataset!r} are unknown."
                )
        tables.append(_without_failures(table))
    write_runs(tables, out)
    return Path(out)


def _without_failures(table: Runs) -> Runs:
    """Return the runs without those that failed here and have a value in another directory."""
    columns = table.method, table.protocol, table.label, table.sequence, table.seed
    keys = list(zip(*(column.tolist() for column in columns), strict=True))
    has_value = (~np.isnan(table.values)).tolist()
    finished = {key for key, given in zip(keys, has_value, strict=True) if given}
    kept = [given or key not in finished for key, given in zip(keys, has_value, strict=True)]
    return table if all(kept) else table.take(np.array(kept))


def _read(
    source: One | list[One],
    metric: str,
    classifier: str | None,
    options: Mapping[str, Any],
    number: int,
) -> Iterator[DatasetRuns]:
    if isinstance(source, Experiment):
        where = str(source.directory)
        yield DatasetRuns(source.table(metric, classifier), (source,), where=where)
        return
    where = str(source) if isinstance(source, (str, Path)) else name_of(source) or f"table {number}"
    if classifier is not None:
        raise UsageError(
            f"`classifier` requires experiment directories. Got {format_value(classifier)} "
            f"for {where}; give the column of that classifier as `metric`."
        )
    if isinstance(source, Runs) and source.metric != metric:
        raise UsageError(
            f"`metric` must be the table's {source.metric!r}. Got {format_value(metric)}."
        )
    tables = [source] if isinstance(source, Runs) else read_runs(source, metric=metric, **options)
    yield from (DatasetRuns(table, where=where) for table in tables)


def _join(group: Sequence[DatasetRuns], pool: str | None) -> DatasetRuns:
    """Return the runs of several sources on one dataset as one table, and check them."""
    parts, notes = _keep_apart(group, pool)
    table, scaled = in_per_cent(_joined([part.table for part in parts]))
    experiments = tuple(one for part in parts for one in part.experiments)
    published = tuple(result for part in parts for result in part.published)
    notes += [*table.notes, *scaled, *_note_seeds(table, experiments), *_note_machines(experiments)]
    notes += [sentence for one in experiments for sentence in remarks(one.identity)]
    notes += check_runs(table)
    return DatasetRuns(table, experiments, tuple(dict.fromkeys(notes)), published=published)


def _keep_apart(
    group: Sequence[DatasetRuns], pool: str | None
) -> tuple[list[DatasetRuns], list[str]]:
    """Return the parts with methods renamed where a name has runs of different meaning."""
    variants: dict[str, dict[str, tuple[str, dict[str, Any]]]] = {}
    contents: dict[str, str] = {}
    for part in group:
        table = part.table
        pairs = dict.fromkeys(zip(table.method.tolist(), table.identity.tolist(), strict=True))
        for code, place in pairs:
            own = table.settings[place] if table.settings else {}
            key = table.identities[place] or part.where
            variants.setdefault(table.methods[code], {}).setdefault(key, (part.where, own))
            content = own.get("dataset", {}).get("sha256")
            if content is not None:
                contents.setdefault(content, part.where)
    if len(contents) > 1 and pool is None:
        first, second, *_ = contents.values()
        raise DataError(
            f"{first} and {second} have different data under the name {group[0].table.dataset!r}, "
            "so their runs cannot be compared; analyse each alone, or give a reason to `pool`."
        )
    names: dict[tuple[str, str], str] = {}
    notes: list[str] = []
    for method, own_variants in variants.items():
        if len(own_variants) == 1:
            continue
        labels = _label(own_variants)
        listed = ", ".join(
            f"{label} in {own_variants[key][0]}" if label not in own_variants[key][0] else label
            for key, label in labels.items()
        )
        if pool is not None:
            notes.append(f"Runs of {method} that differ ({listed}){POOLED}{pool.strip()}.")
            continue
        names |= {(method, key): f"{method} ({label})" for key, label in labels.items()}
        notes.append(f"Runs of {method} differ and are kept apart: {listed}.")
    return [_renamed(part, names) for part in group] if names else list(group), notes


def _renamed(part: DatasetRuns, names: Mapping[tuple[str, str], str]) -> DatasetRuns:
    table = part.table
    old = [table.methods[code] for code in table.method.tolist()]
    keys = [table.identities[place] or part.where for place in table.identity.tolist()]
    new = [names.get((name, key), name) for name, key in zip(old, keys, strict=True)]
    renamed = dict(zip(old, new, strict=True))
    experiments = tuple(replace(one, renamed=renamed) for one in part.experiments)
    return replace(part, table=table.with_methods(new), experiments=experiments)


def _label(variants: Mapping[str, tuple[str, dict[str, Any]]]) -> dict[str, str]:
    """Return what tells variants of a method apart: settings that differ, or else their sources."""
    leaves = [_leaves("", own) for _, own in variants.values()]
    every = dict.fromkeys(path for own in leaves for path in own)
    differing = [path for path in every if len({repr(own.get(path)) for own in leaves}) > 1]
    more = f" and {len(differing) - 2} more" if differing[2:] else ""
    words = [
        ", ".join(
            f"{it.rpartition('.')[2]} {format_value(own[it])}" for it in differing[:2] if it in own
        )
        for own in leaves
    ]
    settings = [f"{it}{more}".replace("_", " ").replace("'", "") if it else "" for it in words]
    sources = [where for where, _ in variants.values()]
    for labels in (settings, [Path(where).name for where in sources], sources):
        if len(set(labels)) == len(labels) and all(labels):
            return dict(zip(variants, labels, strict=True))
    return {key: key for key in variants}


def _leaves(path: str, value: Any) -> dict[str, Any]:
    """Return plain values by the path of their names, `schedule.epochs`."""
    if not isinstance(value, dict):
        return {path: value}
    inside = ((f"{path}.{name}" if path else name, own) for name, own in value.items())
    return {leaf: own for name, one in inside for leaf, own in _leaves(name, one).items()}


def _note_seeds(table: Runs, experiments: Sequence[Experiment]) -> list[str]:
    """Return what to do if experiments trained a sample of all orders with one seed."""
    stored = [experiment.identity.get(SEEDS) for experiment in experiments]
    protocols = map(find_protocol, table.protocols)
    meant = any(it.exhaustive or it.searched for it in protocols)
    if meant or SHARED not in stored or not table.shares_seeds:
        return []
    return [
        "All orders were trained with one seed, so claims are about it alone; for claims about "
        "other trainings, run these orders without 'one_seed' in a new directory."
    ]


def _note_machines(experiments: Sequence[Experiment]) -> list[str]:
    """Return a sentence if experiments were trained by other versions or on other processors."""
    machines = [machine for experiment in experiments for machine in experiment.machines]
    differing = []
    for name in MACHINE:
        values = dict.fromkeys(machine[name] for machine in machines if name in machine)
        if len(values) > 1:
            differing.append(f"{name} {' and '.join(values)}")
    return [f"The runs come from different machines: {'; '.join(differing)}."] if differing else []


def _joined(tables: Sequence[Runs]) -> Runs:
    """Return runs on one dataset as one table, with classes numbered as in the first."""
    if len(tables) == 1:
        return tables[0]
    if len({table.stand_in.replace("run", "seed") for table in tables}) > 1:
        raise DataError(
            "Some sources have class orders (a column 'order_seed' or 'sequence') and others have "
            "not, so their runs cannot be joined; analyse them one by one."
        )
    named = [_with_names(table) for table in tables]
    first = named[0]
    if not first.has_orders:
        return join_tables(_apart(named))
    classes = [table.names or table.classes for table in named]
    for own in classes:
        if set(own) != set(classes[0]):
            some, others = (name_some(list(map(str, it))) for it in (classes[0], own))
            raise DataError(
                f"Runs on {first.dataset!r} from several sources must have the same classes, but "
                f"some have {some} and others {others}."
            )
    if first.names is not None:
        named = [first, *(table.numbered_by(first.names) for table in named[1:])]
    return join_tables(named)


def _apart(tables: Sequence[Runs]) -> list[Runs]:
    """Return tables without sequences whose stand-ins are the same for the same seed or order.

    Its label names a seed, an order, or a run that no other method shares.
    """
    numbers: dict[object, int] = {}
    apart = []
    for number, table in enumerate(tables):
        stand_ins = list(table.sequences)
        for place, label in dict.fromkeys(zip(table.sequence, table.label, strict=True)):
            text = table.labels[label]
            key = text if text.startswith(("seed ", "order ")) else (number, place)
            stand_ins[place] = ClassSequence([[numbers.setdefault(key, len(numbers))]])
        apart.append(replace(table, sequences=tuple(stand_ins)))
    return apart


def _with_names(table: Runs) -> Runs:
    """Return the table with classes numbered 0 ... N-1 and, if the dataset is registered, named."""
    if table.names is not None:
        return table.renumbered()
    names = class_names(table)
    return table if names is None else replace(table.renumbered(), names=names)


def class_names(table: Runs) -> tuple[str, ...] | None:
    """Return the names of a table's classes by their ids; None if they are not registered."""
    if table.names is not None or not table.has_orders:
        return table.names
    try:
        labels = get_classes(table.dataset).labels
    except EdgecilError:
        return None
    return tuple(labels[id_] for id_ in table.classes) if table.classes[-1] < len(labels) else None
