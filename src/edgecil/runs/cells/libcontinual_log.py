"""Logs of LibContinual: results of each task between lines of `=`, accuracies in per cent.

    ================Result of Task 1 Testing!================
     * [Batch] Last Average Acc: 60.25 (Best: 60.25)
     * [Task] Last Average Acc: 61.00 (Best: 61.00)
     * Per-Task Acc: [40.0, 82.0]

"Batch" averages over test images of all tasks so far, "Task" over tasks. The log begins with the
settings, as Python writes a dictionary.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from edgecil.errors import DataError
from edgecil.runs.cells.cell_table import CellTable
from edgecil.runs.cells.file_text import read_file_text
from edgecil.runs.cells.run_log import facts_of, number_runs, parse_literal, run_table

FORM = "LibContinual log"
_SECTION = re.compile(r"={4,}[ \t]*([^=\n]{1,80}?)[ \t]*={4,}")
_START = re.compile(r"Task 0 Start!")
# Logs of older versions have tests alone, and no result over them.
_TESTED = re.compile(
    r"(?:Result of|Test \d{1,3}/\d{1,3} of) Task (\d{1,4})(?: Testing)?!", re.ASCII
)
_TOTAL = re.compile(
    r"\* (?:\[Batch\] )?(?:Last )?Average Acc[^:\n]{0,40}: ?(\d{1,3}(?:\.\d{1,20})?)"
)
_PER_TASK = re.compile(r"\* Per-Task Acc ?: ?\[([^\]]{0,20000})\]")
_NUMBER = re.compile(r"(?<![\w.])\d{1,3}(?:\.\d{0,20})?(?:e-\d{1,3})?(?![\w.])", re.ASCII)
_MARK = re.compile(rb"={4,}\s*Task \d+ Start!\s*={4,}")
_NAMES = {"dataset": "dataset", "seed": "seed", "task_count": "task_num"}


@dataclass
class _Run:
    """Settings, and by task learned the accuracies on the tasks and on everything so far."""

    settings: dict[str, Any] = field(default_factory=dict)
    per_task: dict[int, list[float]] = field(default_factory=dict)
    total: dict[int, float] = field(default_factory=dict)


def recognises(path: Path, head: bytes) -> bool:
    """Return whether a file has the lines between which LibContinual trains a task."""
    return _MARK.search(head) is not None


def read(path: Path) -> list[CellTable]:
    """Return a table for each run."""
    runs = [run for run in _parse(read_file_text(path)) if run.total or run.per_task]
    if not runs:
        raise DataError(f"{path} has no accuracies; its run ended before the first task did.")
    tables = []
    for run in runs:
        steps = range(max([*run.total, *run.per_task]) + 1)
        has_matrix = all(len(run.per_task.get(step, [])) == step + 1 for step in steps)
        facts = {**facts_of(run.settings, _NAMES), "unit": "%"}
        if isinstance(run.settings.get("classifier"), Mapping):
            facts["method"] = str(run.settings["classifier"].get("name", ""))[:80]
            del facts["classifier"]
        table = run_table(
            FORM,
            str(path),
            accuracies=[run.per_task[step] for step in steps] if has_matrix else (),
            curve=[run.total.get(step) for step in steps],
            facts=facts,
        )
        tables.append([table])
    return number_runs(tables)


def _parse(text: str) -> list[_Run]:
    sections = list(_SECTION.finditer(text))
    runs: list[_Run] = []
    for place, section in enumerate(sections):
        end = sections[place + 1].start() if place + 1 < len(sections) else len(text)
        if _START.fullmatch(section[1]):
            before = sections[place - 1].end() if place else 0
            runs.append(_Run(_settings(text[before : section.start()])))
        tested = _TESTED.fullmatch(section[1])
        if tested and runs:
            _add_results(runs[-1], int(tested[1]), text[section.end() : end])
    return runs


def _settings(text: str) -> dict[str, Any]:
    """Return the settings before the first task; none where they are no plain dictionary."""
    start, end = text.find("{"), text.rfind("}")
    if not 0 <= start < end:
        return {}
    try:
        settings = parse_literal(text[start : end + 1], "the log")
    except DataError:
        return {}
    return settings if isinstance(settings, dict) else {}


def _add_results(run: _Run, task: int, text: str) -> None:
    total, per_task = _TOTAL.search(text), _PER_TASK.search(text)
    if total:
        run.total[task] = float(total[1])
    if per_task:
        run.per_task[task] = [float(number) for number in _NUMBER.findall(per_task[1])]
