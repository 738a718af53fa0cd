"""The roles of the columns of a frame: what the user declares, then names, then values."""

from __future__ import annotations

import re
from collections.abc import Sequence

from edgecil.errors import DataError, UsageError, format_value, nearest
from edgecil.runs.cells.cell_table import Cell
from edgecil.runs.cells.marked_numbers import parse_marked_name
from edgecil.runs.metric_names import metric_name, words_of
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
    texts_of,
)
from edgecil.runs.reading.reading_options import Declarations, describe_columns

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
    _find_sequences(frame)
    _find_statistics(frame)
    _check_values(frame)
    _find_by_values(frame)
    for role in SINGLE:
        _choose_one(frame, role, declared)
    if declared.metric and not frame.with_role("metric", "mean"):
        _promote_metric(frame, declared.metric)


def metric_is(asked: str, name: str) -> bool:
    """Return whether a column is the metric that the user asks for, by name."""
    if not asked:
        return False
    last = re.split(r"[./]", name.lower())[-1]
    return asked.lower() in (name.lower(), last)


def _declare(frame: Frame, declared: Declarations) -> None:
    """Give columns the roles that the user declares."""
    lower = {name.lower(): name for name in frame.columns}
    for column, role in declared.roles.items():
        name = column if column in frame.columns else lower.get(column.lower())
        if name is not None:
            frame.roles[name] = role


def check_declared(frames: Sequence[Frame], declared: Declarations) -> None:
    """Refuse a declared column that no frame has."""
    present = {name.lower(): name for frame in frames for name in frame.columns}
    for option, columns in (
        ("columns", declared.roles),
        ("only", declared.only),
        ("by", declared.by or ()),
    ):
        for column in columns:
            if column.lower() in present:
                continue
            near = nearest(column.lower(), present)
            hint = f"Did you mean {present[near[0]]!r}?" if near else ""
            listed = hint or f"It has {describe_columns(list(present.values()))}."
            raise UsageError(
                f"`{option}` must name columns of {frames[0].origin}. "
                f"Got {format_value(column)}. {listed}"
            )


def _fact_role(frame: Frame, name: str) -> str:
    """Return the role of a fact: those of the contract first, settings of a log otherwise."""
    if name in _CONTRACT:
        return _CONTRACT[name]
    role = column_name(name).role
    if role in ("label", "ignore", "status"):
        return role
    if role in ("method", "dataset", "seed", "run"):
        is_taken = any(role in table.facts for table in frame.tables)
        return "setting" if is_taken else role
    return "metric" if role == "metric" and not frame.is_log else "setting"


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
            bases.setdefault(statistic.base, {})[statistic.statistic] = name
    plain = {" ".join(_words(name)): name for name in frame.columns}
    for base, columns in bases.items():
        spread = next((columns[kind] for kind in ("std", "stderr", "ci") if kind in columns), None)
        mean = columns.get("mean") or plain.get(base)
        for kind, name in columns.items():
            if kind in ("std", "stderr", "other", "ci") and (mean or kind != "other"):
                frame.roles[name] = "label" if kind in ("other", "ci") else kind
        if spread is not None and mean is not None and is_numeric(frame.columns[mean]):
            frame.roles[mean] = "mean"
    # A column that is called `std` alone is the spread of the only metric.
    alone = frame.with_role("std", "stderr")
    named = [name for name in frame.with_role("mean") if column_name(name).role == "mean"]
    metrics = frame.with_role("metric")
    if alone and not frame.with_role("mean") and len(metrics) == 1:
        frame.roles[metrics[0]] = "mean"
    elif named and not alone:
        for name in named:
            frame.roles[name] = "metric"


def _words(name: str) -> tuple[str, ...]:
    return words_of(parse_marked_name(name).name)


def _check_values(frame: Frame) -> None:
    """Take roles from columns whose values do not fit them."""
    for name in frame.columns:
        role = frame.roles.get(name)
        cells = frame.columns[name]
        if role in ("metric", "mean", "std", "stderr", "value") and not is_numeric(cells):
            has_value = any(not is_absent(cell) for cell in cells)
            others = [other for other in frame.with_role("metric", "mean") if other != name]
            has_other = any(is_numeric(frame.columns[other]) for other in others)
            if has_value and has_other and _share_of_numbers(cells) < 0.5:
                del frame.roles[name]
        elif role == "split" and not _are_splits(cells):
            frame.roles[name] = "setting"
        elif _is_only_label(role, cells):
            frame.roles[name] = "label"
        elif role is None and all(is_absent(cell) for cell in cells):
            frame.roles[name] = "ignore"


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
    varying = [name for name in texts if not is_constant(frame.columns[name])]
    if not has_method and varying:
        repeated = [
            name for name in varying if len(set(texts_of(frame.columns[name]))) < len(frame)
        ]
        chosen = (repeated or varying)[0]
        frame.roles[chosen] = "method"
        frame.notes.append(f"The column {chosen!r} has the names of the methods.")
    for name in texts:
        frame.roles.setdefault(name, "text")


def _choose_one(frame: Frame, role: str, declared: Declarations) -> None:
    """Leave a role to one column; others become what stands beside it."""
    names = frame.with_role(role)
    if len(names) < 2:
        return
    said = {column.lower() for column, own in declared.roles.items() if own == role}
    ranked = sorted(names, key=lambda name: (name.lower() not in said, _rank(frame, name)))
    varying = [name for name in ranked if not is_constant(frame.columns[name])]
    if role in ("seed", "order", "dataset", "task", "run") and varying and not said:
        ranked = [*varying, *(name for name in ranked if name not in varying)]
    chosen, *others = ranked
    for name in others:
        frame.roles[name] = _LOSERS[role]
        if name not in declared.roles and depends_on(frame, name, [chosen]):
            frame.roles[name] = "label"


def _rank(frame: Frame, name: str) -> int:
    by_form = any(name in table.roles or name in table.facts for table in frame.tables)
    return -1 if by_form else column_name(name).rank


def _promote_metric(frame: Frame, asked: str) -> None:
    """Take the column that the user asks for as metric, whatever its name says."""
    for name in frame.columns:
        if metric_is(asked, name) and is_numeric(frame.columns[name]):
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


def refuse_metric(asked: str) -> None:
    """Refuse the name of a role in place of a metric's."""
    if column_name(asked).role in ("method", "dataset", "seed", "order") or asked in (
        "protocol",
        "label",
        "sequence",
        "repeat",
        "status",
        "identity",
    ):
        raise UsageError(f"`metric` must be a column of values. Got {asked!r}.")


def no_metric_error(frame: Frame, asked: str) -> DataError:
    """Return the error for a frame without the metric that is asked for."""
    names = list(frame.columns)
    metrics = [name for name in frame.with_role("metric", "mean") if name]
    near = nearest(asked.lower(), [name.lower() for name in names])
    lower = {name.lower(): name for name in names}
    if near:
        hint = f". Did you mean {lower[near[0]]!r}?"
    elif metrics:
        hint = f"; choose one by `metric`: {describe_columns(metrics)}."
    else:
        hint = f". It has {describe_columns(names)}."
    return DataError(f"{frame.origin} has no column {format_value(asked)}{hint}")
