"""Finished runs: which rows of a frame belong to one run, and the value that counts of each.

Steps, tasks, epochs and cells of a matrix are never runs. Rows of one run are those with the same
method, dataset, seed, order, name of the run and settings.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from edgecil.errors import DataError, name_some
from edgecil.runs.cells.cell_table import Cell
from edgecil.runs.cells.run_log import CLASS_INCREMENTAL
from edgecil.runs.metrics import find_metric
from edgecil.runs.reading.column_roles import are_locations, counts_up, unknown_numbers
from edgecil.runs.reading.frames import (
    Frame,
    depends_on,
    groups_of,
    is_absent,
    is_constant,
    is_numeric,
    number_in,
    texts_of,
)
from edgecil.runs.reading.questions import ReadingQuestion
from edgecil.runs.reading.reading_options import BEST, LAST, Declarations

IDENTITY = (
    "method",
    "dataset",
    "scenario",
    "seed",
    "order",
    "run",
    "setting",
    "sequence",
    "protocol",
    "identity",
)
"""Roles of the columns that rows of one run have in common."""

SEED_LIKE = ("seed", "order", "run", "sequence")
STEP_LIKE = ("step", "epoch", "task", "index")

_MOST_DIGITS = 5  # of a setting, such as 0.00025 or 12345
_AGGREGATE = re.compile(
    r"(?:mean|avg|average|std|std\.? ?dev|stdev|sd|median|overall|total|all|max|min|sem|stderr|sum)"
    r"\.?(?: ?(?:±|\+/-|\+-) ?(?:std|sd|se|sem))?(?: (?:over|of|across) .*)?",
    re.IGNORECASE,
)


@dataclass
class RunRows:
    """Finished runs of a frame, by column; each list has an entry for every run.

    `cells` have the identity of the runs by the name of the column, `rows` the row of the frame
    that a value stands in; `column` names the column of the values.
    """

    frame: Frame
    cells: dict[str, list[Cell]]
    values: list[Cell]
    rows: list[int]
    column: str = ""
    steps: int = 0
    notes: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.rows)


def drop_aggregates(frame: Frame) -> None:
    """Leave out rows with means or spreads over other rows of the table."""
    if frame.with_role("sequence"):
        return
    names = []
    for column in frame.with_role("seed", "method", "dataset", "task", "step", "run", "label"):
        texts = texts_of(frame.columns[column])
        marked = {text for text in texts if _AGGREGATE.fullmatch(text)}
        if not marked or marked == set(texts):
            continue
        frame.take([row for row, text in enumerate(texts) if text not in marked])
        names += sorted(marked)
    if names:
        frame.notes.append(f"Rows of {name_some(list(dict.fromkeys(names)))} are no runs.")


def drop_copied_rows(frame: Frame) -> None:
    """Leave out rows that repeat another one of the same file in every cell, the seed included."""
    if not frame.with_role("seed", "run") or frame.is_log:
        return
    columns = list(frame.columns.values())
    first_rows: dict[tuple[Cell, ...], int] = {}
    for row, number in enumerate(frame.table_of_row):
        cells = [frame.tables[number].source, *(column[row] for column in columns)]
        first_rows.setdefault(tuple(map(repr, cells)), row)
    copies = len(frame) - len(first_rows)
    if copies:
        frame.take(sorted(first_rows.values()))
        rows = "1 row" if copies == 1 else f"{copies} rows"
        frame.notes.append(f"{frame.origin} has {rows} that repeat another one and count once.")


def keep_only(frame: Frame, declared: Declarations) -> None:
    """Keep the rows that the user declares, and of several splits the test."""
    lower = {name.lower(): name for name in frame.columns}
    for column, values in declared.only.items():
        name = lower.get(column.lower())
        if name is None:
            continue
        wanted = {value.lower() for value in values}
        texts = texts_of(frame.columns[name])
        rows = [row for row, text in enumerate(texts) if text.lower() in wanted]
        if not rows:
            present = name_some(list(dict.fromkeys(texts)), 12)
            raise DataError(
                f"No row of {frame.origin} has {name!r} {' or '.join(values)}; it has {present}."
            )
        frame.take(rows)
    _choose_scenario(frame, declared)
    for name in frame.with_role("split"):
        if name.lower() not in {column.lower() for column in declared.only}:
            _choose_split(frame, name)


def _choose_scenario(frame: Frame, declared: Declarations) -> None:
    """Keep the class-incremental results of logs that test each run in several scenarios."""
    facts = {name for table in frame.tables for name in table.facts}
    for name in frame.with_role("scenario"):
        if name not in facts or name.lower() in {column.lower() for column in declared.only}:
            continue
        texts = texts_of(frame.columns[name])
        other_scenarios = sorted(set(texts) - {CLASS_INCREMENTAL, ""})
        if CLASS_INCREMENTAL in texts and other_scenarios:
            frame.take([row for row, text in enumerate(texts) if text == CLASS_INCREMENTAL])
            frame.notes.append(
                f"Class-incremental results are read; those that are "
                f"{' and '.join(other_scenarios)} are read by `only` {name}={other_scenarios[0]}."
            )


def _choose_split(frame: Frame, name: str) -> None:
    texts = texts_of(frame.columns[name])
    splits = list(dict.fromkeys(texts))
    if len(splits) < 2:
        return
    for pattern in ("test", "eval|held", "val|dev"):
        chosen = [split for split in splits if re.match(pattern, split, re.IGNORECASE)]
        if len(chosen) == 1:
            frame.take([row for row, text in enumerate(texts) if text == chosen[0]])
            frame.notes.append(f"Rows of {name} {chosen[0]!r} are read, the others are not.")
            return
        if chosen:
            splits = chosen
            break
    raise ReadingQuestion(
        f"{frame.origin} has the values {name_some(splits, 12)} in {name!r}; say which to read: "
        f"`only` {name}={splits[0]}.",
        {"only": [f"{name}={split}" for split in splits]},
    )


def finished_runs(frame: Frame, metric: str, declared: Declarations) -> RunRows:
    """Return the runs of a frame with their value of a metric, one of its columns."""
    if frame.question is not None:
        raise frame.question
    if frame.is_split:
        values = frame.columns[metric]
        frame.take([row for row, cell in enumerate(values) if cell is not None])
    resolve_unknown(frame, declared, metric)
    identity = frame.with_role(*IDENTITY)
    groups = groups_of(frame, identity)
    steps = [name for name in frame.with_role(*STEP_LIKE) if not is_constant(frame.columns[name])]
    if not steps:
        cells = {name: frame.columns[name] for name in identity}
        whole = RunRows(frame, cells, frame.columns[metric], list(range(len(frame))), metric)
        whole.notes += frame.parts
        return whole
    rows_of_group: dict[int, list[int]] = {}
    for row, group in enumerate(groups):
        rows_of_group.setdefault(group, []).append(row)
    return _last_steps(frame, metric, steps, identity, list(rows_of_group.values()), declared)


def resolve_unknown(frame: Frame, declared: Declarations, metric: str = "") -> None:
    """Find out what the columns are that differ between rows which are alike otherwise.

    The name of a run says nothing of them where the run has a seed.
    """
    decided: set[str] = set()
    roles = {*IDENTITY, *STEP_LIKE} - ({"run"} if frame.with_role("seed") else set())
    unknown = [name for name in unknown_numbers(frame) if name != metric]
    unknown += frame.with_role("text")
    if not frame.with_role("sequence"):  # its labels belong to protocols
        labels = frame.with_role("label")
        unknown += [name for name in labels if _is_repeated_text(frame.columns[name])]
    for _ in range(len(unknown)):
        key_columns = frame.with_role(*roles)
        groups = groups_of(frame, key_columns)
        if len(set(groups)) == len(frame):
            return
        varying = [
            name
            for name in unknown
            if frame.roles.get(name) in (None, "text", "label")
            and name not in decided
            and not depends_on(frame, name, key_columns)
        ]
        if not varying:
            return
        decided.add(varying[0])
        _decide(frame, varying[0])


def _is_repeated_text(cells: Sequence[Cell]) -> bool:
    """Return whether a column has texts, each of which stands in several rows."""
    texts = texts_of(cells)
    return not is_numeric(cells) and len(set(texts)) > 1 and 2 * len(set(texts)) <= len(texts)


def _decide(frame: Frame, name: str) -> None:
    """Give a column a role that differs between rows which are alike otherwise."""
    texts = texts_of(frame.columns[name])
    distinct = len(set(texts))
    is_repeated = 2 * distinct <= len(texts)
    if not is_numeric(frame.columns[name]):
        identity = frame.with_role(*IDENTITY)
        runs = frame.with_role("run")
        if are_locations(frame.columns[name]) or (runs and depends_on(frame, runs[0], [name])):
            frame.roles[name] = "label"  # another name of the run
            return
        is_of_step = frame.with_role(*STEP_LIKE) and not depends_on(frame, name, identity)
        frame.roles[name] = "setting" if is_repeated and not is_of_step else "label"
        return
    if _are_measured(texts):
        frame.roles[name] = "ignore"
        return
    keys = frame.with_role("method", "dataset", "scenario", "setting", "order", "seed", "run")
    is_counter = counts_up(frame, name, keys) or _are_evenly_spaced(texts)
    if is_counter and distinct > 1:
        has_seed = bool(frame.with_role(*SEED_LIKE))
        roles = ["step", "setting"] if has_seed else ["seed", "step", "setting"]
        words = {
            "seed": "number the runs",
            "step": "number steps of a run",
            "setting": "be a setting",
        }
        choices = ", ".join(f"{role}={name}" for role in roles)
        meanings = " or ".join(words[role] for role in roles)
        raise ReadingQuestion(
            f"The column {name!r} of {frame.origin} may {meanings}; say which by `columns`: "
            f"{choices}.",
            {"columns": [f"{role}={name}" for role in roles]},
        )
    frame.roles[name] = "setting" if is_repeated else "ignore"


def _are_measured(texts: Sequence[str]) -> bool:
    """Return whether most numbers have more digits than people give to settings."""
    digits = [len(re.sub(r"[eE].*|\D", "", text).strip("0")) for text in texts if text]
    return 2 * sum(count > _MOST_DIGITS for count in digits) > len(digits)


def _are_evenly_spaced(texts: Sequence[str]) -> bool:
    """Return whether numbers are whole and evenly spaced, such as 10, 20, 30, 40."""
    if not all(text.isascii() and text.isdigit() and len(text) < 10 for text in set(texts)):
        return False
    numbers = sorted({int(text) for text in texts})
    gaps = {after - before for before, after in pairwise(numbers)}
    return len(numbers) > 3 and len(gaps) == 1


def _last_steps(
    frame: Frame,
    metric: str,
    steps: Sequence[str],
    identity: Sequence[str],
    groups: Sequence[Sequence[int]],
    declared: Declarations,
) -> RunRows:
    """Return the value of every run at its last step, or at the step that is declared."""
    number_of = {name: step_numbers(frame.columns[name]) for name in steps}
    main = next(
        (name for role in STEP_LIKE for name in steps if frame.roles[name] == role), steps[0]
    )
    order = [main, *(name for name in steps if name != main)]
    places = [tuple(number_of[name][row] for name in order) for row in range(len(frame))]
    values = frame.columns[metric]
    chosen = []
    higher = declared.higher_is_better
    higher = find_metric(metric).higher_is_better if higher is None else higher
    for rows in groups:
        filled = [row for row in rows if not is_absent(values[row])] or list(rows)
        if declared.at == BEST:
            sign = 1.0 if higher else -1.0
            chosen.append(max(filled, key=lambda row: sign * _value(values[row])))
        elif declared.at == LAST:
            chosen.append(max(filled, key=lambda row: (places[row], row)))
        else:
            there = [row for row in filled if places[row][0] == declared.at]
            chosen.extend(there[-1:])
    if not chosen:
        available_steps = sorted({place[0] for place in places})
        raise DataError(
            f"No run of {frame.origin} has {main} {declared.at}; it has "
            f"{name_some([f'{number:g}' for number in available_steps], 12)}."
        )
    cells = {name: [frame.columns[name][row] for row in chosen] for name in identity}
    run_rows = RunRows(frame, cells, [values[row] for row in chosen], chosen, metric)
    run_rows.steps = len({place[0] for place in places})
    word = frame.roles[main]
    run_rows.notes.append(_step_note(word, main, run_rows.steps, declared))
    return run_rows


def _step_note(role: str, column: str, count: int, declared: Declarations) -> str:
    unit = {"step": "tasks", "task": "tasks", "epoch": "epochs"}.get(role, "steps")
    if declared.at == BEST:
        return f"best of {count} {unit}"
    if declared.at == LAST:
        return f"last of {count} {unit}"
    return f"{column} {declared.at}"


def _value(cell: Cell) -> float:
    number = number_in(cell)
    return -np.inf if number is None else number.value


def step_numbers(cells: Sequence[Cell]) -> list[float]:
    """Return steps as numbers: those in the cells, or their order of appearance."""
    numbers: dict[Cell, float] = {}
    digits = re.compile(r"\d+(?:\.\d+)?")
    for cell in dict.fromkeys(cells):
        number = number_in(cell)
        if number is not None:
            numbers[cell] = number.value
            continue
        parts = digits.findall(str(cell)) if cell is not None else []
        numbers[cell] = float(parts[0]) if len(parts) == 1 else float(len(numbers))
    return [numbers[cell] for cell in cells]
