"""The roles of the columns of a frame: what the user declares, then names, then values."""

from __future__ import annotations

import re
from collections.abc import Sequence

from edgecil.errors import DataError, UsageError, format_value, nearest
from edgecil.runs.cells.cell_table import Cell
from edgecil.runs.cells.marked_numbers import parse_marked_name
from edgecil.runs.metric_names import metric_name, split_words
from edgecil.runs.metrics import METRICS
from edgecil.runs.reading.column_names import column_name, statistic_name
from edgecil.runs.reading.dataset_names import is_dataset
from edgecil.runs.reading.frames import (
    Frame,
    depends_on,
    groups_of,
    is_absent,
    is_constant,
    is_numeric,
    number_in,
    numbers_in,
    texts_of,
)
from edgecil.runs.reading.reading_options import Declarations, describe_columns
from edgecil.sequences.protocols import PROTOCOLS, USER_SEQUENCES

SINGLE = ("method", "dataset", "seed", "order", "run", "task", "step", "split", "status", "n")
"""Roles that one column of a frame has."""

# What a column becomes whose role another one has.
_LOSERS = {
    "method": "setting",
    "dataset": "scenario",
    "seed": "run",
    "order": "run",
    "run": "label",
    "task": "label",
    "step": "epoch",
    "split": "setting",
    "status": "label",
    "n": "label",
}
_SPLITS = re.compile(
    r"(?:train(?:ing)?|test(?:ing)?|val(?:id(?:ation)?)?|dev|eval(?:uation)?|held.?out)"
    r"(?:[ _-]?(?:set|split|stream|phase|data))?",
    re.IGNORECASE,
)
_STEP_CELL = re.compile(
    r"(?:after|train(?:ed)?|tr|step|session|stage|phase)[\s_-]*(?:on[\s_-]*)?"
    r"(?:t|task|exp|experience)?[\s_-]*#?(\d{1,4})",
    re.IGNORECASE,
)
_LIMITS = {"threshold", "limit", "budget", "target", "patience", "weight", "coef", "coefficient"}
"""Words of settings that have the name of a metric beside them."""

_CONTRACT = {
    "method": "method",
    "dataset": "dataset",
    "seed": "seed",
    "class_order": "class order",
    "task_sizes": "task sizes",
    "task_count": "task count",
    "classifier": "setting",
    "scenario": "scenario",
    "unit": "unit",
    "run": "run",
}
"""Roles of the facts that forms agree on; three of them are no role of a column."""

_PATH = re.compile(r".*[/\\].*|.*\.(?:json|ya?ml|toml|py|pth?|log|txt|csv)", re.IGNORECASE)
_LOCATION = re.compile(r"(?:\w+:/|\.{0,2}/|~/|[A-Za-z]:\\).*")
_QUANTITY = re.compile(r"[~≈<>]?\s?\d+(?:[.,]\d+)?\s?[kKMGBTmµ]?(?:i?B|s|ms|h|x|×)?")
_PERMUTATION = re.compile(r"[(\[]?\d{1,5}(?:[,\s]+\d{1,5}){2,}[)\]]?")
_WRITTEN = ("Markdown table", "HTML table", "LaTeX table", "printed table")
"""Forms of tables whose first column names what the rows are of."""
_MEAN_AT_END = re.compile(r"(?:^|[\s_.\-/]+)(?:means?|avg|average)$", re.IGNORECASE)
_MEAN_AT_START = re.compile(r"^(?:means?|avg|average)(?:[\s_.\-/]+|$)", re.IGNORECASE)

LONG_COLUMNS = ("method", "dataset", "seed", "task", "step", "number")
"""Names of columns that were names of wide ones."""

FACT_ROLES = ("class order", "task sizes", "task count", "unit")


def assign_roles(frame: Frame, declared: Declarations) -> None:
    """Give every column a role, as far as declarations, names and values tell it."""
    _declare(frame, declared)
    fact_names = {name for table in frame.tables for name in table.facts}
    for name in frame.columns:
        if name in frame.roles:
            continue
        if name in fact_names:
            frame.roles[name] = _fact_role(frame, name)
        elif metric_is(declared.metric, name):
            frame.roles[name] = "metric"
        else:
            role = column_name(name).role
            if role:
                frame.roles[name] = role
    _find_permutations(frame)
    _find_sequences(frame)
    _leave_index(frame)
    _find_steps(frame)
    _find_statistics(frame)
    _find_named_cells(frame)
    _check_values(frame)
    _find_by_values(frame)
    for role in SINGLE:
        _choose_one(frame, role, declared)
    if declared.metric and not frame.with_role("metric", "mean"):
        _promote_metric(frame, declared.metric)


def _leave_index(frame: Frame) -> None:
    """Leave out an unnamed first column that numbers the rows, as pandas writes its index."""
    first = next(iter(frame.columns), "")
    is_unnamed = all(table.header[:1] in (("",), ("Unnamed: 0",)) for table in frame.tables)
    if first in frame.roles or not is_unnamed or len(frame.columns) < 3:
        return
    texts = texts_of(frame.columns[first])
    if all(text.isascii() and text.isdigit() for text in texts):
        pairs = set(zip(frame.table_of_row, texts, strict=True))
        is_counter = counts_up(frame, first, []) and len(pairs) == len(texts)
        if is_counter or set(texts) == {"0"}:
            frame.roles[first] = "ignore"


def _find_steps(frame: Frame) -> None:
    """Find a column of texts that count steps: `after_0`, `Train_T1`."""
    if frame.with_role("step"):
        return
    for name in frame.columns:
        if frame.roles.get(name) not in (None, "method", "run", "label"):
            continue
        texts = texts_of(frame.columns[name])
        matches = [_STEP_CELL.fullmatch(text) for text in texts]
        if len(set(texts)) > 1 and all(matches):
            frame.columns[name] = [match[1] for match in matches if match]
            frame.roles[name] = "step"
            return


def metric_is(wanted: str, name: str) -> bool:
    """Return whether a column is the metric that the user asks for, by name."""
    if not wanted:
        return False
    last = re.split(r"[./]", name.lower())[-1]
    return wanted.lower() in (name.lower(), last)


def _declare(frame: Frame, declared: Declarations) -> None:
    """Give columns the roles that the user declares."""
    lower = {name.lower(): name for name in frame.columns}
    for column, role in declared.roles.items():
        name = column if column in frame.columns else lower.get(column.lower())
        if name is not None:
            frame.roles[name] = role


def check_declared(frames: Sequence[Frame], declared: Declarations, *, is_long: bool) -> None:
    """Refuse a declared column that no frame has.

    Columns that wide tables get when they are made long are not looked for before.
    """
    present = {name.lower(): name for frame in frames for name in frame.columns}
    for option, columns in (
        ("columns", declared.roles),
        ("only", declared.only),
        ("by", declared.by or ()),
    ):
        for column in columns:
            if column.lower() in present or (not is_long and column in LONG_COLUMNS):
                continue
            near = nearest(column.lower(), present)
            hint = f"Did you mean {present[near[0]]!r}?" if near else ""
            advice = hint or f"It has {describe_columns(list(present.values()))}."
            raise UsageError(
                f"`{option}` must name columns of {frames[0].origin}. "
                f"Got {format_value(column)}. {advice}"
            )


def _fact_role(frame: Frame, name: str) -> str:
    """Return the role of a fact: the contract's if it names the fact, else a setting of a log."""
    if name in _CONTRACT:
        return _CONTRACT[name]
    role = column_name(name).role
    if role in ("label", "ignore", "status") or _are_paths(frame.columns[name]):
        return role if role in ("ignore", "status") else "label"
    if role in ("method", "dataset", "seed", "run"):
        is_taken = any(role in table.facts for table in frame.tables)
        return "setting" if is_taken else role
    if role == "metric":
        return "label" if frame.is_log else "metric"
    if role == "task" and not is_numeric(frame.columns[name]):
        return "scenario"  # each task has a run of its own
    return "setting"


def _find_permutations(frame: Frame) -> None:
    """Take columns of permutations of the same numbers, `(0, 2, 1)`, as orders."""
    if frame.with_role("order", "sequence"):
        return
    for name in frame.columns:
        if frame.roles.get(name) not in (None, "label", "text", "run"):
            continue
        texts = set(texts_of(frame.columns[name]))
        if len(texts) > 1 and all(_PERMUTATION.fullmatch(text) for text in texts):
            members = {tuple(sorted(map(int, re.findall(r"\d+", text)))) for text in texts}
            if len(members) == 1 and len(next(iter(members))) > 2:
                frame.roles[name] = "order"
                return


def _are_paths(cells: Sequence[Cell]) -> bool:
    """Return whether cells are paths of files, which name runs but are no settings."""
    texts = set(texts_of(cells)) - {""}
    return bool(texts) and all(_PATH.fullmatch(text) for text in texts)


def are_locations(cells: Sequence[Cell]) -> bool:
    """Return whether cells are absolute paths or addresses of pages."""
    texts = set(texts_of(cells)) - {""}
    return bool(texts) and all(_LOCATION.fullmatch(text) for text in texts)


def _find_sequences(frame: Frame) -> None:
    """Take columns of orders whose cells are class orders by task, `0 1|2 3`, as sequences."""
    if frame.with_role("sequence"):
        return
    for name in frame.with_role("order"):
        if any("|" in text for text in texts_of(frame.columns[name][:1])):
            frame.roles[name] = "sequence"
            return


def _find_statistics(frame: Frame) -> None:
    """Recognise columns with means and spreads over runs: `acc_mean` beside `acc_std`."""
    bases: dict[str, dict[str, str]] = {}
    for name in frame.columns:
        statistic = statistic_name(name)
        if statistic is not None and frame.roles.get(name) in (None, "metric"):
            bases.setdefault(statistic.base, {}).setdefault(statistic.statistic, name)
    seeds = [name for name in frame.with_role("seed") if not is_constant(frame.columns[name])]
    plain = {" ".join(_words(name)): name for name in frame.columns}
    for base, columns in bases.items():
        mean = columns.get("mean") or plain.get(base)
        for kind, name in columns.items():
            if kind == "other" and mean is None:
                continue  # the best or the median value of every run
            if kind == "n" and is_numeric(frame.columns[name]):
                frame.roles[name] = "label"  # a count, whatever else its name says
            elif kind != "mean" and mean is not None:
                frame.roles[name] = kind if kind in ("std", "stderr") else "label"
        spread = next((columns[kind] for kind in ("std", "stderr") if kind in columns), None)
        if spread is None or mean is None or seeds or not is_numeric(frame.columns[mean]):
            continue
        _add_mean(frame, mean, spread, _base_name(mean) if mean in columns.values() else mean)
        if "n" in columns and not frame.with_role("n"):
            frame.roles[columns["n"]] = "n"
    _find_lone_spread(frame)
    if frame.spreads and not frame.with_role("n"):
        for name in frame.with_role("seed"):
            texts = set(texts_of(frame.columns[name]))
            if all(text.isascii() and text.isdigit() and int(text) > 1 for text in texts):
                frame.roles[name] = "n"


def _find_named_cells(frame: Frame) -> None:
    """Take columns whose cells name a metric, `ACC=0.88`, as that metric."""
    for name, cells in frame.columns.items():
        if name in frame.roles or not is_numeric(cells):
            continue
        names = {number.name for number in numbers_in(cells).values() if number is not None}
        if len(names) == 1 and metric_name(cell_name := names.pop()) is not None:
            frame.roles[name] = "metric"
            frame.metric_names[name] = "accuracy" if cell_name.lower() == "acc" else cell_name


def _add_mean(frame: Frame, mean: str, spread: str, name: str) -> None:
    """Note that a column has means, and another one their spreads."""
    kind = "stderr" if frame.roles.get(spread) == "stderr" else "std"
    frame.roles[mean] = "mean"
    frame.roles[spread] = kind
    frame.spreads[mean] = spread, kind
    frame.metric_names[mean] = "accuracy" if name.lower() in ("acc", "accuracy") else name


def _base_name(name: str) -> str:
    """Return the name of a column of means without the word for it.

    >>> _base_name("avg_accuracy_mean"), _base_name("Mean Acc"), _base_name("mean")
    ('avg_accuracy', 'Acc', 'mean')
    """
    plain = parse_marked_name(name).name
    pattern = _MEAN_AT_END if _MEAN_AT_END.search(plain) else _MEAN_AT_START
    return pattern.sub("", plain) or plain


def _find_lone_spread(frame: Frame) -> None:
    """Recognise a column that is called `std` alone: the spread of the only metric, or of `mean`.

    A column that is called `mean` without a spread has a metric.
    """
    spreads = frame.with_role("std", "stderr")
    alone = [name for name in spreads if column_name(name).role in ("std", "stderr")]
    named = [name for name in frame.with_role("mean") if name not in frame.spreads]
    metrics = frame.with_role("metric")
    values = named or metrics
    if len(alone) == 1 and len(values) == 1:
        _add_mean(frame, values[0], alone[0], metric_hint(frame, values[0]))
        return
    for name in named:
        frame.roles[name] = "metric"


def metric_hint(frame: Frame, column: str) -> str:
    """Return what the values of a column of means are: its name, or what the file's name says."""
    if column_name(column).role == "mean":
        return frame.metric_hint or column
    return parse_marked_name(column).name


def _words(name: str) -> tuple[str, ...]:
    return split_words(parse_marked_name(name).name)


def _check_values(frame: Frame) -> None:
    """Take roles from columns whose values do not fit them."""
    for name in frame.columns:
        role = frame.roles.get(name)
        cells = frame.columns[name]
        if role in ("metric", "mean", "std", "stderr", "value") and not is_numeric(cells):
            has_value = any(not is_absent(cell) for cell in cells)
            other_columns = [other for other in frame.with_role("metric", "mean") if other != name]
            has_other = any(is_numeric(frame.columns[other]) for other in other_columns)
            if has_value and has_other and _share_of_numbers(cells) < 0.5:
                del frame.roles[name]
        elif role == "method" and name.lower() != "method" and _are_measurements(cells):
            del frame.roles[name]  # a method called `baseline`, not a column of methods
        elif role == "split" and not _are_splits(cells):
            frame.roles[name] = "scenario"
        elif _is_only_label(role, cells):
            frame.roles[name] = "label"
        elif role == "protocol" and not _are_protocols(frame, cells):
            frame.roles[name] = "scenario"
        elif role == "metric" and (_exceeds_shares(name, cells) or _LIMITS & set(_words(name))):
            frame.roles[name] = "setting"
        elif role is None and all(is_absent(cell) for cell in cells):
            frame.roles[name] = "ignore"


def _are_measurements(cells: Sequence[Cell]) -> bool:
    """Return whether cells are numbers, some of them with decimals."""
    numbers = [number for number in numbers_in(cells).values() if number is not None]
    return is_numeric(cells) and any(not float(number.value).is_integer() for number in numbers)


def _are_protocols(frame: Frame, cells: Sequence[Cell]) -> bool:
    """Return whether protocols are those that choose class orders, not settings of a benchmark."""
    if frame.with_role("sequence", "order"):
        return True
    protocol_names = {"", USER_SEQUENCES} | PROTOCOLS.declared_names()
    return all(text in protocol_names for text in texts_of(cells))


def _exceeds_shares(name: str, cells: Sequence[Cell]) -> bool:
    """Return whether a column is called a share of a whole, and all its numbers are counts.

    An accuracy is never a count: where it exceeds 100 %, the table is refused.
    """
    meaning = metric_name(name)
    is_accuracy = any(word.startswith("acc") for word in _words(name))
    if meaning is None or meaning.unit != "share" or is_accuracy:
        return False
    numbers = [number_in(cell) for cell in dict.fromkeys(cells)]
    values = [number.value for number in numbers if number is not None]
    return bool(values) and min(values) > 100.0


def _is_only_label(role: str | None, cells: Sequence[Cell]) -> bool:
    """Return whether a column is called a metric or a number of runs, and its cells are none."""
    if role == "metric name":
        return not _are_metric_names(cells)
    return role == "n" and not is_numeric(cells)


def _share_of_numbers(cells: Sequence[Cell]) -> float:
    filled = [cell for cell in cells if not is_absent(cell)]
    return sum(number_in(cell) is not None for cell in filled) / max(1, len(filled))


def _are_splits(cells: Sequence[Cell]) -> bool:
    texts = set(texts_of(cells)) - {""}
    return bool(texts) and all(_SPLITS.fullmatch(text) for text in texts)


def _are_metric_names(cells: Sequence[Cell]) -> bool:
    texts = set(texts_of(cells)) - {""}
    named = [text for text in texts if metric_name(text) is not None or text in METRICS]
    return bool(texts) and 2 * len(named) >= len(texts) and not is_numeric(cells)


def _find_by_values(frame: Frame) -> None:
    """Find roles of text columns that names do not tell."""
    texts = [name for name in frame.columns if _is_unknown_text(frame, name)]
    for name in texts:
        values = set(texts_of(frame.columns[name])) - {""}
        if _are_splits(frame.columns[name]) and len(values) > 1:
            frame.roles[name] = "split"
        elif not frame.with_role("dataset") and all(map(is_dataset, values)):
            frame.roles[name] = "dataset"
        elif (
            len(values) > 1
            and not frame.with_role("metric name")
            and _are_metric_names(frame.columns[name])
            and not frame.with_role("metric")
        ):
            frame.roles[name] = "metric name"
    _find_method(frame, [name for name in texts if name not in frame.roles])


def _is_unknown_text(frame: Frame, name: str) -> bool:
    cells = frame.columns[name]
    return name not in frame.roles and not is_numeric(cells)


def _find_method(frame: Frame, texts: list[str]) -> None:
    """Find the column of methods among texts, if no name tells it; the others are labels."""
    has_method = bool(frame.with_role("method"))
    runs = frame.with_role("run")
    varying = [
        name
        for name in texts
        if not is_constant(frame.columns[name]) and (not runs or depends_on(frame, name, runs))
    ]
    varying = [name for name in varying if not _are_quantities(frame.columns[name])]
    if not has_method and varying:
        distinct = {name: len(set(texts_of(frame.columns[name]))) for name in varying}
        repeated = [name for name in varying if distinct[name] < len(frame)]
        chosen = (repeated or varying)[0]
        for name in repeated:  # a finer column of the same kind: type and subtype
            if distinct[name] > distinct[chosen] and depends_on(frame, chosen, [name]):
                chosen = name
        chosen = _setting_before(frame, chosen) or chosen
        frame.roles[chosen] = "method"
        frame.notes.append(f"The column {chosen!r} has the names of the methods.")
    elif not has_method and all(table.form in _WRITTEN for table in frame.tables):
        first = _setting_before(frame, "")
        if first:
            frame.roles[first] = "method"
            frame.notes.append(f"The column {first!r} has the names of the methods.")
    for name in texts:
        frame.roles.setdefault(name, "text")


def _are_quantities(cells: Sequence[Cell]) -> bool:
    """Return whether texts are numbers with a unit, such as `~11M` or `2.5 GB`."""
    texts = set(texts_of(cells)) - {""}
    return bool(texts) and all(_QUANTITY.fullmatch(text) for text in texts)


def _setting_before(frame: Frame, chosen: str) -> str:
    """Return a column of names of settings that tells all rows apart and stands before another."""
    for name in frame.columns:
        if name == chosen:
            return ""
        texts = texts_of(frame.columns[name])
        is_text = frame.roles.get(name) == "setting" and not is_numeric(frame.columns[name])
        if is_text and len(set(texts)) == len(texts):
            return name
    return ""


def _choose_one(frame: Frame, role: str, declared: Declarations) -> None:
    """Leave a role to one column; others become what stands beside it."""
    names = frame.with_role(role)
    if len(names) < 2:
        return
    declared_names = {
        column.lower() for column, declared_role in declared.roles.items() if declared_role == role
    }

    def rank(name: str) -> tuple[bool, int]:
        return name.lower() not in declared_names, _rank_column(frame, name)

    ranked = sorted(names, key=rank)
    varying = [name for name in ranked if not is_constant(frame.columns[name])]
    if role in ("seed", "order", "dataset", "task", "run") and varying and not declared_names:
        ranked = [*varying, *(name for name in ranked if name not in varying)]
    chosen, *losers = ranked
    for name in losers:
        frame.roles[name] = _LOSERS[role]
        if name not in declared.roles and depends_on(frame, name, [chosen]):
            frame.roles[name] = "label"


def _rank_column(frame: Frame, name: str) -> int:
    """Return the rank of a column's name in its role; columns of a known form come first."""
    by_form = any(name in table.roles or name in table.facts for table in frame.tables)
    return -1 if by_form else column_name(name).rank


def _promote_metric(frame: Frame, wanted: str) -> None:
    """Take the column that the user asks for as metric, whatever its name says."""
    for name in frame.columns:
        if metric_is(wanted, name) and is_numeric(frame.columns[name]):
            frame.roles[name] = "metric"


def unknown_numbers(frame: Frame) -> list[str]:
    """Return the columns of numbers that have no role."""
    return [
        name
        for name, cells in frame.columns.items()
        if name not in frame.roles and is_numeric(cells)
    ]


def counts_up(frame: Frame, name: str, keys: Sequence[str]) -> bool:
    """Return whether a column counts 0, 1, 2, … or 1, 2, 3, … within each group of rows."""
    values: dict[int, set[str]] = {}
    for group, text in zip(groups_of(frame, keys), texts_of(frame.columns[name]), strict=True):
        values.setdefault(group, set()).add(text)
    for texts in values.values():
        if not all(text.isascii() and text.isdigit() and len(text) < 9 for text in texts):
            return False
        numbers = sorted(map(int, texts))
        if numbers[0] > 1 or numbers != list(range(numbers[0], numbers[0] + len(numbers))):
            return False
    return True


def refuse_metric(wanted: str) -> None:
    """Refuse the name of a role in place of a metric's."""
    if column_name(wanted).role in ("method", "dataset", "seed", "order") or wanted in (
        "protocol",
        "label",
        "sequence",
        "repeat",
        "status",
        "identity",
    ):
        raise UsageError(f"`metric` must be a column of values. Got {wanted!r}.")


def no_metric_error(frame: Frame, wanted: str) -> DataError:
    """Return the error for a frame without the metric that is asked for."""
    names = list(frame.columns)
    metrics = [name for name in frame.with_role("metric", "mean") if name]
    near = nearest(wanted.lower(), [name.lower() for name in names])
    lower = {name.lower(): name for name in names}
    if near:
        hint = f". Did you mean {lower[near[0]]!r}?"
    elif metrics:
        hint = f"; choose one by `metric`: {describe_columns(metrics)}."
    else:
        hint = f". It has {describe_columns(names)}."
    return DataError(f"{frame.origin} has no column {format_value(wanted)}{hint}")
