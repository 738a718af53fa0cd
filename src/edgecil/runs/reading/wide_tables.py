"""Wide tables made long: columns that are methods, seeds, orders, datasets, tasks or steps.

A column is one of these by its name (`task_3`, `seed 0`, `Order-1`, `CIFAR-100`,
`acc_t1_after_t2`), or, in a table without methods, because nothing else is known about it: a
column for each method.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from edgecil.errors import name_some, nearest
from edgecil.runs.cells.cell_table import Cell
from edgecil.runs.cells.marked_numbers import parse_marked_name
from edgecil.runs.cells.text_cells import LEVELS
from edgecil.runs.metric_names import metric_name, split_words
from edgecil.runs.metrics import DEFAULT_METRIC
from edgecil.runs.reading.column_names import column_name
from edgecil.runs.reading.column_roles import unknown_numbers
from edgecil.runs.reading.dataset_names import is_dataset
from edgecil.runs.reading.frames import Frame, is_numeric, texts_of
from edgecil.runs.reading.memory_tables import DATA_FRAME
from edgecil.runs.reading.metric_choice import metric_of_column
from edgecil.runs.reading.named_values import name_values, name_wide_values
from edgecil.runs.reading.path_names import METRIC_WORDS, parse_name
from edgecil.runs.reading.questions import ReadingQuestion
from edgecil.runs.reading.reading_options import Declarations

_UNIT = r"(?:task|exp|experience|context|domain|t|d|session|stage|phase|step|increment|batch)"
_PAIR = re.compile(
    rf"(?P<before>.*?)(?:(?<=[\W_])|^){_UNIT}[ _-]?#?(?P<task>\d{{1,3}})[ _-]*(?:after|@|post)"
    rf"[ _-]*(?:training[ _-]*)?(?:{_UNIT})?[ _-]?(?P<step>\d{{1,3}})(?P<after>.*)",
    re.IGNORECASE,
)
_STEP = re.compile(
    r"(?P<before>.*?)(?:(?<=[\W_])|^)(?:after|session|stage|phase|step|increment|post)"
    rf"[ _-]*(?:{_UNIT})?[ _-]?#?(?P<step>\d{{1,4}})(?P<after>.*)",
    re.IGNORECASE,
)
_TASK = re.compile(
    r"(?P<before>.*?)(?:(?<=[\W_])|^)(?:task|experience|exp|context|domain|t|d)"
    r"[ _-]?#?(?P<task>\d{1,3})(?P<after>.*)",
    re.IGNORECASE,
)
_SEED = re.compile(
    r"(?P<before>.*?)(?:(?<=[\W_])|^)(?:seed|run|trial|rep|repeat|repetition|fold)"
    r"[ _=#-]*(?P<seed>\d{1,10})(?P<after>.*)",
    re.IGNORECASE,
)
_SHORT_SEED = re.compile(r"(?P<before>)[sr](?P<seed>\d{1,10})(?P<after>)", re.IGNORECASE)
_ORDER = re.compile(
    r"(?P<before>.*?)(?:(?<=[\W_])|^)(?:(?:task|class)[ _-]?)?(?:order|ordering|permutation|perm)"
    r"[ _=#-]*(?P<order>\d{1,4})(?P<after>.*)",
    re.IGNORECASE,
)
NUMBERED = "number"
"""The column of the names of columns that are numbers of unknown meaning."""
_KEYS = ("method", "dataset", "seed", "order", "order_seed", "epoch", "step", "task", "fold")
_SEED_WORD = re.compile("seed|run|trial|rep|fold", re.IGNORECASE)
_QUALIFIER = re.compile(
    r"(reproduced|reported|original|paper|published|reimplemented|ours?)[\s_-]+(.+)", re.IGNORECASE
)
_MEASURED = {"eval", "evaluated", "evaluation", "test", "tested", "on"}
_EDGES = " _-./:()[]"
UNNAMED = "value"
"""The metric of a table that names none."""


@dataclass(frozen=True)
class _Part:
    """What the name of a wide column says: values of roles, and the metric of its cells."""

    roles: dict[str, str]
    metric: str


def make_long(frame: Frame, declared: Declarations) -> Frame:
    """Return a frame in which methods, seeds, orders, datasets, tasks and steps are rows."""
    long = _melted(frame, declared)
    name_wide_values(long)
    return long


def _melted(frame: Frame, declared: Declarations) -> Frame:
    free = unknown_numbers(frame)
    metrics = frame.with_role("metric")
    candidates = [*free, *(name for name in metrics if not _is_declared(name, declared))]
    _find_learned(frame, candidates)
    if _name_rows(frame):
        name_values(frame)
        return frame
    for find in (_charts, _pairs, _steps, _tasks, _seeds, _orders, _datasets, _qualified):
        parts = find(frame, candidates)
        if len(parts) > 1 or (parts and find in (_charts, _pairs)):
            return _melt(frame, parts, declared)
    if not metrics and not frame.with_role("mean", "value", "curve", "metric name"):
        parts = _methods(frame, free)
        if parts:
            return _melt(frame, parts, declared)
    return frame


def _name_rows(frame: Frame) -> bool:
    """Turn a table with methods as columns and metrics as rows; return whether it is one."""
    taken = ("method", "dataset", "seed", "metric name", "order", "step", "task", "mean")
    texts = [name for name, cells in frame.columns.items() if not is_numeric(cells)]
    numbers = [name for name, cells in frame.columns.items() if is_numeric(cells)]
    if len(texts) != 1 or len(numbers) < 2 or frame.with_role(*taken[1:]):
        return False
    name = texts[0]
    cells = texts_of(frame.columns[name])
    named = [cell for cell in cells if metric_name(cell) is not None]
    are_metrics = len(set(cells)) == len(cells) > 1 and 5 * len(named) >= 3 * len(cells)
    if not are_metrics or frame.roles.get(name) not in (None, "text", "method", "label"):
        return False
    count = len(frame)
    frame.columns = {
        "metric": frame.columns[name] * len(numbers),
        "method": [method for method in numbers for _ in range(count)],
        "value": [cell for method in numbers for cell in frame.columns[method]],
    }
    frame.roles = {"metric": "metric name", "method": "method", "value": "value"}
    frame.table_of_row = frame.table_of_row * len(numbers)
    frame.row_numbers = frame.row_numbers * len(numbers)
    return True


def _find_learned(frame: Frame, names: Sequence[str]) -> None:
    """Take a column of tasks beside columns of tasks as the steps of measurement."""
    tasks = frame.with_role("task")
    if tasks and not frame.with_role("step") and len(_matches(names, _TASK, ("task",))) > 1:
        frame.roles[tasks[0]] = "step"


def _is_declared(name: str, declared: Declarations) -> bool:
    return name.lower() in {column.lower() for column in declared.roles}


def _matches(
    names: Sequence[str], pattern: re.Pattern[str], roles: Sequence[str]
) -> dict[str, _Part]:
    """Return the parts of names that a pattern matches, if what is left of them is a metric."""
    parts: dict[str, _Part] = {}
    for name in names:
        plain = parse_marked_name(name).name
        match = pattern.fullmatch(plain)
        if match is None:
            continue
        rest = " ".join(
            text.strip(_EDGES) for text in (match["before"], match["after"]) if text.strip(_EDGES)
        )
        if set(split_words(rest)) <= _MEASURED:
            rest = ""
        if rest and metric_name(rest) is None and column_name(rest).role != "metric":
            continue
        parts[name] = _Part({role: str(int(match[role])) for role in roles}, rest)
    return parts


def _charts(frame: Frame, names: Sequence[str]) -> dict[str, _Part]:
    """Return columns of runs, `NAME - METRIC`, as a chart of Weights & Biases has them."""
    if not frame.with_role("step", "epoch"):
        return {}
    parts: dict[str, _Part] = {}
    for name in names:
        run, dash, metric = name.rpartition(" - ")
        if dash and not metric.endswith(("__MIN", "__MAX")) and metric_name(metric) is not None:
            run_name = parse_name(run)
            roles = {"method": run_name.method or run}
            parts[name] = _Part(
                {**roles, "seed": run_name.seed} if run_name.seed else roles, metric
            )
    return parts


def _pairs(frame: Frame, names: Sequence[str]) -> dict[str, _Part]:
    return _matches(names, _PAIR, ("task", "step"))


def _steps(frame: Frame, names: Sequence[str]) -> dict[str, _Part]:
    return {} if frame.with_role("step") else _matches(names, _STEP, ("step",))


def _tasks(frame: Frame, names: Sequence[str]) -> dict[str, _Part]:
    return {} if frame.with_role("task") else _matches(names, _TASK, ("task",))


def _seeds(frame: Frame, names: Sequence[str]) -> dict[str, _Part]:
    """Return columns of seeds: `seed 0`, or numbers alone beside a column of methods."""
    if frame.with_role("seed"):
        return {}
    parts = {
        name: part
        for name, part in _matches(names, _SEED, ("seed",)).items()
        if not part.metric or _SEED_WORD.search(name)
    }
    parts = parts or _matches(names, _SHORT_SEED, ("seed",))
    numbered = [name for name in names if re.fullmatch(r"\d{1,10}", name)]
    if parts or len(numbered) < 2 or not frame.with_role("method"):
        return parts
    role = _role_of_numbers([int(name) for name in numbered])
    column_list = name_some(numbered)
    if role == "":
        frame.question = ReadingQuestion(
            f"The columns {column_list} of {frame.origin} may be seeds (seed={NUMBERED}), or the "
            f"tasks after which (step={NUMBERED}) or on which (task={NUMBERED}) it was measured; "
            "say which by `columns`.",
            {"columns": [f"{role}={NUMBERED}" for role in ("seed", "step", "task")]},
        )
        return {name: _Part({NUMBERED: name}, "") for name in numbered}
    if role == "seed":
        frame.notes.append(f"The columns {column_list} of {frame.origin} are seeds.")
    return {name: _Part({role: name}, "") for name in numbered}


def _role_of_numbers(numbers: Sequence[int]) -> str:
    """Return what columns with the names of numbers are; empty if they count from 0 or 1.

    >>> [_role_of_numbers(numbers) for numbers in ([42, 1993, 7], [20, 40, 60], [0, 1])]
    ['seed', 'step', '']
    """
    gaps = {after - before for before, after in pairwise(numbers)}
    if gaps == {1} and numbers[0] in (0, 1):
        return ""
    is_even = len(gaps) == 1 and min(gaps) > 1
    return "step" if len(numbers) > 2 and is_even else "seed"


def _orders(frame: Frame, names: Sequence[str]) -> dict[str, _Part]:
    """Return columns of orders, `Order-1`, below a dataset in a header of several rows or alone."""
    if frame.with_role("order", "sequence"):
        return {}
    parts: dict[str, _Part] = {}
    for name in names:
        *above, last = parse_marked_name(name).name.split(LEVELS)
        orders = _matches([last], _ORDER, ("order",))
        if not orders:
            continue
        metrics = [level for level in above if _names_metric(level)]
        datasets = [level for level in above if level not in metrics]
        roles = {"dataset": " ".join(datasets)} if datasets else {}
        metric = " ".join([*metrics, orders[last].metric]).strip()
        parts[name] = _Part(roles | orders[last].roles, metric)
    return parts


def _datasets(frame: Frame, names: Sequence[str]) -> dict[str, _Part]:
    """Return columns of datasets, with a metric below them in a header of several rows."""
    if frame.with_role("dataset"):
        return {}
    parts: dict[str, _Part] = {}
    for name in names:
        levels = parse_marked_name(name).name.split(LEVELS)
        datasets = [level for level in levels if is_dataset(level)]
        if not datasets and len(levels) == 1:
            continue
        rest = [level for level in levels if level not in datasets]
        metrics = [level for level in rest if _names_metric(level)]
        scenario = [level for level in rest if level not in metrics]
        dataset = " ".join([*datasets, *scenario])
        if dataset and (datasets or metrics):
            parts[name] = _Part({"dataset": dataset}, " ".join(metrics))
    return parts


def _qualified(frame: Frame, names: Sequence[str]) -> dict[str, _Part]:
    """Return columns of one metric from several sources: `Reproduced Acc`, `Reported Acc`."""
    parts: dict[str, _Part] = {}
    role = "setting" if frame.with_role("method") else "method"
    for name in names:
        match = _QUALIFIER.fullmatch(parse_marked_name(name).name)
        if match is not None and _names_metric(match[2]):
            parts[name] = _Part({role: match[1].lower()}, match[2])
    is_same = len({part.metric for part in parts.values()}) == 1
    return parts if is_same else {}


def _names_metric(level: str) -> bool:
    return metric_name(level) is not None or split_words(level) in (("avg",), ("last",), ("final",))


def _methods(frame: Frame, names: Sequence[str]) -> dict[str, _Part]:
    """Return columns of methods: all columns of numbers of a table without method and metric."""
    has_texts = any(frame.roles.get(name) == "text" for name in frame.columns)
    if frame.with_role("method") or has_texts:
        return {}
    chosen = []
    for name in names:
        near = nearest(name.lower(), _KEYS, 0.8)
        if near:
            frame.undecided.append(f"The column {name!r} is not used; is it the {near[0]!r}?")
            frame.roles[name] = "ignore"
        else:
            chosen.append(name)
    if len(chosen) < 2:
        return {}
    return {name: _Part({"method": name}, "") for name in chosen}


def _melt(frame: Frame, parts: dict[str, _Part], declared: Declarations) -> Frame:
    """Return the frame with a row for each wide cell."""
    count = len(frame)
    metrics = list(dict.fromkeys(_metric_of(part, frame) for part in parts.values()))
    by_place: dict[tuple[tuple[str, str], ...], dict[str, str]] = {}
    for name, part in parts.items():
        place = tuple(part.roles.items())
        by_place.setdefault(place, {})[_metric_of(part, frame)] = name
    kept = [name for name in frame.columns if name not in parts and not _is_left_out(frame, name)]
    wide_roles = list(dict.fromkeys(role for part in parts.values() for role in part.roles))
    columns: dict[str, list[Cell]] = {name: frame.columns[name] * len(by_place) for name in kept}
    roles = {name: frame.roles[name] for name in kept if name in frame.roles}
    for role in wide_roles:
        cells = [dict(place).get(role) for place in by_place]
        columns[role] = [cell for cell in cells for _ in range(count)]
        roles[role] = declared.roles.get(role, role)
        if role in declared.roles:
            frame.question = None
    empty: list[Cell] = [None] * count
    for metric in metrics:
        blocks = [
            frame.columns[names[metric]] if metric in names else empty
            for names in by_place.values()
        ]
        columns[metric] = [cell for block in blocks for cell in block]
        roles[metric] = "metric"
    long = Frame(
        columns,
        roles,
        frame.tables,
        frame.table_of_row * len(by_place),
        frame.row_numbers * len(by_place),
        frame.notes,
        frame.undecided,
        frame.parts,
        frame.question,
        frame.is_log,
        frame.metric_hint,
    )
    is_numbered = not long.with_role("seed", "run", "order", "sequence", "step", "task")
    are_methods = all(
        part.roles.keys() == {"method"} and not part.metric for part in parts.values()
    )
    if are_methods and is_numbered:
        long.add("seed", [number for _ in by_place for number in range(count)], "seed")
        long.notes.append(f"Each row of {frame.origin} counts as one seed of all methods.")
    return long


def _metric_of(part: _Part, frame: Frame) -> str:
    """Return the metric of a wide column: by its name, else by the file's, or its caption's.

    Wide DataFrames have accuracies if they do not say otherwise, as lists of numbers have.
    """
    if part.metric and column_name(part.metric).role in ("", "metric"):
        return part.metric
    if frame.metric_hint:
        return frame.metric_hint
    if all(table.form == DATA_FRAME for table in frame.tables):
        return DEFAULT_METRIC
    captions = {_metric_of_caption(table.caption) for table in frame.tables}
    return (captions.pop() if len(captions) == 1 else "") or part.metric or UNNAMED


def _metric_of_caption(caption: str) -> str:
    """Return the metric that a caption names; an empty text if it names none, or several.

    >>> _metric_of_caption("Average accuracy (%) on CIFAR-100"), _metric_of_caption("Results")
    ('accuracy', '')
    """
    words = {word for word in split_words(caption) if word in METRIC_WORDS}
    words = {DEFAULT_METRIC if metric_of_column(word) == DEFAULT_METRIC else word for word in words}
    return words.pop() if len(words) == 1 else ""


def _is_left_out(frame: Frame, name: str) -> bool:
    """Return whether a column is the mean of the wide ones beside it."""
    if name.endswith(("__MIN", "__MAX")):
        return True
    words = split_words(name.split(LEVELS)[-1])
    is_mean = (
        bool(words) and words[0] in ("avg", "average", "mean") and is_numeric(frame.columns[name])
    )
    return is_mean and frame.roles.get(name) in (None, "metric", "mean") and len(words) < 3


Finder = Callable[[Frame, Sequence[str]], dict[str, _Part]]
