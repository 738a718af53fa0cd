"""Results of Mammoth: `logs.pyd`, with the dictionary of one run in each line.

Mammoth writes the file of a class-incremental run twice, below `class-il` and, with the classes of
other tasks masked, below `task-il`. Accuracies are per cent.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from edgecil.errors import DataError
from edgecil.runs.cells.cell_table import CellTable
from edgecil.runs.cells.file_text import read_file_text
from edgecil.runs.cells.run_log import (
    ALL_TASKS,
    CLASS_INCREMENTAL,
    DOMAIN_INCREMENTAL,
    TASK_INCREMENTAL,
    facts_of,
    number_runs,
    parse_literal,
    run_table,
)

FORM = "Mammoth log"
SCENARIOS = {
    "class-il": CLASS_INCREMENTAL,
    "task-il": TASK_INCREMENTAL,
    "domain-il": DOMAIN_INCREMENTAL,
}
_MEAN = re.compile(r"accmean_task(\d{1,4})")
_ACCURACY = re.compile(r"accuracy_(\d{1,4})_task(\d{1,4})")
_NAMES = {"method": "model", "dataset": "dataset", "seed": "seed"}
_NO_SETTINGS = ("cpu_memory_usage", "gpu_memory_usage")


def recognises(path: Path, head: bytes) -> bool:
    """Return whether the first line is a dictionary with Mammoth's accuracies."""
    return head.lstrip().startswith(b"{'") and b"'accmean_task1'" in head


def read(path: Path) -> list[CellTable]:
    """Return a table for each run."""
    lines = [line for line in read_file_text(path).splitlines() if line.strip()]
    tables = []
    for number, line in enumerate(lines, start=1):
        run = parse_literal(line, f"Line {number} of {path}")
        if not isinstance(run, Mapping):
            raise DataError(f"Line {number} of {path} is no dictionary of a run; remove it.")
        tables.append(_table(run, path))
    return number_runs([[table] for table in tables])


def _table(run: Mapping[str, Any], path: Path) -> CellTable:
    means: dict[int, float] = {}
    accuracies: dict[tuple[int, int], float] = {}
    settings = {}
    for name, value in run.items():
        mean, accuracy = _MEAN.fullmatch(name), _ACCURACY.fullmatch(name)
        if mean and isinstance(value, (int, float)):
            means[int(mean[1]) - 1] = float(value)
        elif accuracy and isinstance(value, (int, float)):
            accuracies[int(accuracy[2]) - 1, int(accuracy[1]) - 1] = float(value)
        elif not mean and not accuracy and name not in _NO_SETTINGS:
            settings[name] = value
    steps = range(len(means))
    matrix = [[accuracies.get((step, task)) for task in range(step + 1)] for step in steps]
    has_matrix = any(accuracy is not None for row in matrix for accuracy in row)
    facts = facts_of(settings, _NAMES)
    scenario = next((SCENARIOS[part] for part in path.parts if part in SCENARIOS), None)
    if scenario is not None:
        facts["scenario"] = scenario
    facts["unit"] = "%"
    return run_table(
        FORM,
        str(path),
        accuracies=matrix if has_matrix else (),
        curve=[means.get(step) for step in steps],
        curve_name=ALL_TASKS,
        facts=facts,
    )
