"""Matrices of accuracies whose rows and columns have the names of tasks.

{"rte": {"after_rte": 0.61, "after_mrpc": 0.51}, "mrpc": {"after_mrpc": 0.82}}
{"after_task_1": {"task_1": 0.9}, "after_task_2": {"task_1": 0.5, "task_2": 0.8}}
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from edgecil.runs.cells.cell_table import Cell, CellTable
from edgecil.runs.cells.run_log import AFTER_TASK, ROLES, TASK

_AFTER = re.compile(
    r"after[\s_-]+(?:(?:training|learning)[\s_-]+)?(?:on[\s_-]+)?(.+)", re.IGNORECASE
)


def named_matrix_table(
    value: Mapping[Any, Any], form: str, source: str, place: str, facts: Mapping[str, Cell]
) -> CellTable | None:
    """Return the long table of a matrix; None if a mapping is no matrix of named tasks."""
    if len(value) < 2 or not all(_is_row(row) for row in value.values()):
        return None
    outer = [str(name) for name in value]
    inner = list(dict.fromkeys(str(name) for row in value.values() for name in row))
    is_outer_step = all(map(_AFTER.fullmatch, outer))
    if is_outer_step == all(map(_AFTER.fullmatch, inner)):
        return None
    steps, tasks = (outer, inner) if is_outer_step else (inner, outer)
    trained = [match[1] for match in map(_AFTER.fullmatch, steps) if match]
    if sorted(trained) != sorted(tasks):
        return None
    rows: list[tuple[Cell, ...]] = []
    for name, row in value.items():
        for other, accuracy in row.items():
            step, task = (name, other) if is_outer_step else (other, name)
            rows.append((steps.index(str(step)), tasks.index(str(task)), accuracy))
    names = (AFTER_TASK, TASK, place.rpartition(".")[2] or "value")
    roles = {name: ROLES[name] for name in names[:2]}
    return CellTable(form, source, names, tuple(sorted(rows, key=_order)), place, "", facts, roles)


def _is_row(row: Any) -> bool:
    return (
        isinstance(row, Mapping)
        and len(row) > 0
        and all(isinstance(cell, (int, float)) or cell is None for cell in row.values())
    )


def _order(row: tuple[Cell, ...]) -> tuple[int, int]:
    return int(row[0] or 0), int(row[1] or 0)
