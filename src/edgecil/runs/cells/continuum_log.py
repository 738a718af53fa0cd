"""Logs of Continuum's logger, as Continual-CLIP, DyTox and others write them: a line for each task.

    {"task": 1, "acc": 94.7, "avg_acc": 96.55, "acc_per_task": [96.2, 93.2], "forgetting": 0.0}

`acc` is over all classes seen, and `avg_acc` its mean over the tasks so far. A run begins where the
first task is logged again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from edgecil.errors import DataError
from edgecil.io.files import parse_json
from edgecil.runs.cells.cell_table import Cell, CellTable
from edgecil.runs.cells.file_text import CELLS, read_file_text
from edgecil.runs.cells.run_log import number_runs, run_table

FORM = "Continuum log"
_MOST_TASKS = 10_000


@dataclass
class _Run:
    """By the task learned, the accuracies on the tasks and over all classes."""

    per_task: dict[int, list[float]] = field(default_factory=dict)
    total: dict[int, float] = field(default_factory=dict)


def recognises(path: Path, head: bytes) -> bool:
    """Return whether the first line is an object with accuracies of tasks."""
    first_line = head.lstrip().partition(b"\n")[0]
    names = (b'"task":', b'"acc":', b'"acc_per_task":')
    return first_line.startswith(b"{") and all(name in first_line for name in names)


def read(path: Path) -> list[CellTable]:
    """Return a table for each run."""
    lines = [line for line in read_file_text(path).splitlines() if line.strip()]
    CELLS.check(str(path), len(lines))
    runs: list[_Run] = []
    last = -1
    for number, line in enumerate(lines, start=1):
        record = parse_json(line, f"Line {number} of {path}")
        task = _task(record, f"Line {number} of {path}")
        if task is None:
            continue  # a summary of the run
        if not runs or task < last:
            runs.append(_Run())
        last = task
        _add(runs[-1], task, record)
    tables = [[_table(run, path)] for run in runs if run.total or run.per_task]
    if not tables:
        raise DataError(f"{path} has no accuracies; its run ended before the first task did.")
    return number_runs(tables)


def _task(record: Any, source: str) -> int | None:
    if not isinstance(record, Mapping) or "task" not in record:
        return None
    task = record["task"]
    if type(task) is not int or not 0 <= task < _MOST_TASKS:
        raise DataError(f"{source} has the task {str(task)[:80]!r}; write its number.")
    return task


def _add(run: _Run, task: int, record: Mapping[str, Any]) -> None:
    """Add the accuracies after a task; a later line for the same task replaces an earlier one."""
    total, per_task = record.get("acc"), record.get("acc_per_task")
    if isinstance(total, (int, float)):
        run.total[task] = float(total)
    if isinstance(per_task, list) and all(isinstance(value, (int, float)) for value in per_task):
        run.per_task[task] = [float(value) for value in per_task]


def _table(run: _Run, path: Path) -> CellTable:
    steps = range(max([*run.total, *run.per_task]) + 1)
    has_matrix = all(len(run.per_task.get(step, [])) > step for step in steps)
    values = [*run.total.values(), *(value for row in run.per_task.values() for value in row)]
    facts: dict[str, Cell] = {"unit": "%" if max(values) > 1 else "fraction"}
    return run_table(
        FORM,
        str(path),
        accuracies=[run.per_task[step] for step in steps] if has_matrix else (),
        curve=[run.total.get(step) for step in steps],
        facts=facts,
    )
