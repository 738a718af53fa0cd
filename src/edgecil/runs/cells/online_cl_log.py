"""Logs of online-continual-learning (RaptorMai's) and of the many programs that grew from it.

    Namespace(agent='ER', data='cifar100', num_runs=15, seed=0, …)
    -----------run 0 training batch 1-------------
    [0.137 0.344 0.    0.   ]

A vector has the accuracies on all tasks as fractions, with zeros for those that come later. All
runs continue one stream of random numbers, so the number of a run takes the place of its seed; the
seed of the stream is the setting `base_seed`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from edgecil.errors import DataError
from edgecil.runs.cells.cell_table import Cell, CellTable
from edgecil.runs.cells.console_settings import settings_in
from edgecil.runs.cells.file_text import CELLS, read_file_text
from edgecil.runs.cells.run_log import number_runs, run_table

FORM = "online-continual-learning log"
_MARK = re.compile(rb"-{5,}run \d{1,4} training batch \d{1,4}-{5,}")
_STEP = re.compile(r"-{5,}run (\d{1,4}) training batch (\d{1,4})-{5,}")
_VECTOR = re.compile(r"^\[([\d.\seE+-]{1,5000})\]", re.MULTILINE)
_NAMES = {"agent": "method", "data": "dataset", "seed": "base_seed"}


@dataclass
class _Run:
    """The number of a run, and its accuracies by the task learned."""

    number: int
    accuracies: dict[int, list[float]] = field(default_factory=dict)


def recognises(path: Path, head: bytes) -> bool:
    """Return whether a file has the lines before the tasks of a run."""
    return _MARK.search(head) is not None


def read(path: Path) -> list[CellTable]:
    """Return a table for each run."""
    text = read_file_text(path)
    runs = [run for run in _parse(text) if run.accuracies]
    if not runs:
        raise DataError(f"{path} has no accuracies; its runs ended before the first task did.")
    settings = _settings(text)
    tables = []
    for run in runs:
        steps = range(max(run.accuracies) + 1)
        matrix = [run.accuracies.get(step, []) for step in steps]
        CELLS.check(str(path), sum(map(len, matrix)))
        count = max(map(len, matrix))
        facts = {**settings, "seed": run.number, "unit": "fraction", "task_count": count}
        tables.append([run_table(FORM, str(path), accuracies=matrix, facts=facts)])
    return number_runs(tables)


def _parse(text: str) -> list[_Run]:
    """Return the runs: the last vector before the next task is the one after this task."""
    runs: list[_Run] = []
    marks = list(_STEP.finditer(text))
    for place, mark in enumerate(marks):
        number, task = int(mark[1]), int(mark[2])
        if not runs or runs[-1].number != number or task in runs[-1].accuracies:
            runs.append(_Run(number))
        end = marks[place + 1].start() if place + 1 < len(marks) else len(text)
        vectors = list(_VECTOR.finditer(text, mark.end(), end))
        if vectors:
            runs[-1].accuracies[task] = _numbers(vectors[0][1])
    return runs


def _numbers(text: str) -> list[float]:
    try:
        return [float(word) for word in text.split()]
    except ValueError as error:
        raise DataError(f"The log has accuracies that are no numbers: {text[:80]!r}.") from error


def _settings(text: str) -> dict[str, Cell]:
    start = text.find("Namespace(")
    if start < 0:
        return {}
    settings = settings_in(text[start : start + 5000].partition("\n")[0])
    return {_NAMES.get(name, name): value for name, value in settings.items()}
