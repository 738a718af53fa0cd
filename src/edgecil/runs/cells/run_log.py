"""What the logs of all toolboxes share: the columns of a run's table, its facts, runs by number."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from edgecil.errors import DataError, first_line
from edgecil.runs.cells.cell_table import Cell, CellTable

AFTER_TASK = "after task"
TASK = "task"
ACCURACY = "accuracy"
ALL_CLASSES = "accuracy of all classes"
ALL_TASKS = "mean accuracy of tasks"

ROLES: Mapping[str, str] = {
    AFTER_TASK: "step",
    TASK: "task",
    ACCURACY: "metric",
    ALL_CLASSES: "curve",
    ALL_TASKS: "curve",
}
"""The roles of the columns of a run's table."""

CLASS_INCREMENTAL = "class-incremental"
TASK_INCREMENTAL = "task-incremental"
DOMAIN_INCREMENTAL = "domain-incremental"

# Parts of a text for a value: texts in quotes, numbers of NumPy, other objects, and not-a-number.
_PART = re.compile(
    r"""
    (?P<quoted>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
    | \b(?:np|numpy)\.(?:float|int|uint)\d{1,3}\((?P<number>[^()]{0,40})\)
    | \bnp\.(?P<bool>True|False)_
    | \b[A-Za-z_][\w.]{0,60}\((?P<object>[^()\[\]{}]{0,300})\)
    | (?<![\w.])(?P<nan>nan|inf)(?![\w.])
    """,
    re.VERBOSE,
)


def number_runs(tables_of_runs: Sequence[Sequence[CellTable]]) -> list[CellTable]:
    """Return the tables of all runs with their place, and only the roles of their columns."""
    numbered = []
    for number, tables in enumerate(tables_of_runs, start=1):
        place = f"run {number}" if len(tables_of_runs) > 1 else ""
        for table in tables:
            roles = {name: role for name, role in table.roles.items() if name in table.header}
            numbered.append(replace(table, place=place, roles=roles))
    return numbered


def run_table(
    form: str,
    source: str,
    *,
    accuracies: Sequence[Sequence[float | None]] = (),
    curve: Sequence[float | None] = (),
    curve_name: str = ALL_CLASSES,
    facts: Mapping[str, Cell] | None = None,
    has_later_tasks: bool = False,
) -> CellTable:
    """Return the table of a run.

    Args:
        form: the form of its file.
        source: the path of its file.
        accuracies: for each task learned, accuracies on the tasks. Those on tasks that come later
            are left out, since most toolboxes write zeros there.
        curve: for each task learned, an accuracy over everything learned so far.
        curve_name: what that accuracy is: `ALL_CLASSES` or `ALL_TASKS`.
        facts: what the file says about the run.
        has_later_tasks: keep accuracies on tasks that come later.
    """
    header = [AFTER_TASK]
    rows: list[tuple[Cell, ...]] = []
    has_curve = any(value is not None for value in curve)
    if accuracies:
        header += [TASK, ACCURACY]
        for step, accuracies_of_step in enumerate(accuracies):
            total = curve[step] if step < len(curve) else None
            last = len(accuracies_of_step) if has_later_tasks else step + 1
            for task, accuracy in enumerate(accuracies_of_step[:last]):
                rows.append((step, task, accuracy, total) if has_curve else (step, task, accuracy))
    else:
        rows = list(enumerate(curve))
    if has_curve:
        header.append(curve_name)
    roles = {name: ROLES[name] for name in header}
    return CellTable(form, source, tuple(header), tuple(rows), facts=facts or {}, roles=roles)


def facts_of(settings: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Cell]:
    """Return the facts of a run: those with a name of the contract first, then its settings.

    Args:
        settings: all settings of the run, by their name in the file.
        names: the name of a setting for each fact, such as `{"method": "approach"}`.
    """
    facts: dict[str, Cell] = {}
    for fact, name in names.items():
        if settings.get(name) is not None:
            facts[fact] = plain_cell_of(settings[name])
    for name, value in settings.items():
        if name not in facts and name not in names.values() and value is not None:
            facts[name] = plain_cell_of(value)
    return facts


def plain_cell_of(value: Any) -> Cell:
    """Return a setting as a cell: a list becomes its values with blanks between them."""
    if isinstance(value, (list, tuple)):
        return " ".join(map(str, value))[:2000]
    if value is None or isinstance(value, (bool, int, float)):
        return value
    return str(value)[:2000]


def parse_literal(text: str, source: str) -> Any:
    """Return the value of Python's text for a value, such as a dictionary; nothing is executed.

    Numbers of NumPy are read as numbers, and other objects, such as `device(type='cpu')`, as the
    text between their brackets.
    """
    plain = _PART.sub(_plain_part, text)
    try:
        return ast.literal_eval(plain)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError) as error:
        raise DataError(
            f"{source} has a text that is no dictionary or list: {text[:80]} "
            f"({first_line(error)[:80]})."
        ) from error


def _plain_part(match: re.Match[str]) -> str:
    """Return what stands for a part of a text in Python's literals."""
    if match["quoted"] is not None:
        return match["quoted"]
    if match["object"] is not None:
        return repr(match["object"])
    return match["number"] or match["bool"] or "None"
