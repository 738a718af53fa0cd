"""Text logs of Avalanche, of its loggers for files and for the console.

After each experience that is trained, the log gives accuracies on the experiences of the test
stream, as `Top1_Acc_Exp/eval_phase/test_stream/Exp000 = 0.7250`. A run begins where the first
experience is trained; a log has several if the program was started again or has several seeds.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from edgecil.errors import DataError
from edgecil.runs.cells.cell_table import Cell, CellTable
from edgecil.runs.cells.file_text import CELLS, read_file_text
from edgecil.runs.cells.run_log import number_runs, run_table

FORM = "Avalanche log"
_LINE = re.compile(rb"-- >> Start of (?:training|eval) phase << --")
_TRAINING = re.compile(r"-- Starting training on experience (\d{1,4})\b", re.ASCII)
_ACCURACY = re.compile(
    r"\s*Top1_Acc_Exp/eval_phase/test_stream(?:/Task\d{1,4})?/Exp(\d{1,4}) = ([0-9.eE+-]+)\s*",
    re.ASCII,
)


@dataclass
class _Run:
    """Accuracies by the experience that was trained last, and by the one that is tested."""

    accuracies: dict[int, dict[int, float]] = field(default_factory=dict)


def recognises(path: Path, head: bytes) -> bool:
    """Return whether a file has the lines of Avalanche's loggers."""
    return _LINE.search(head) is not None


def read(path: Path) -> list[CellTable]:
    """Return a table for each run that tested something after training."""
    runs = [run for run in _parse(read_file_text(path)) if run.accuracies]
    if not runs:
        raise DataError(
            f"{path} has no accuracies on its test stream; its runs ended before the first test, "
            "or it logs training alone."
        )
    tables = []
    for run in runs:
        steps = sorted(run.accuracies)
        tasks = sorted({task for accuracies in run.accuracies.values() for task in accuracies})
        CELLS.check(str(path), len(steps) * len(tasks))
        matrix = [[run.accuracies[step].get(task) for task in tasks] for step in steps]
        facts: dict[str, Cell] = {"unit": "fraction", "task_count": len(tasks)}
        has_one_step = len(steps) == 1
        table = run_table(
            FORM, str(path), accuracies=matrix, facts=facts, has_later_tasks=has_one_step
        )
        tables.append([table])
    return number_runs(tables)


def _parse(text: str) -> list[_Run]:
    runs: list[_Run] = []
    trained: int | None = None
    for line in text.splitlines():
        training = _TRAINING.search(line)
        accuracy = _ACCURACY.fullmatch(line)
        if training:
            experience = int(training[1])
            if trained is None or experience <= trained:
                runs.append(_Run())
            trained = experience
        elif accuracy and runs and trained is not None:
            value = _number(accuracy[2])
            if value is not None:
                runs[-1].accuracies.setdefault(trained, {})[int(accuracy[1])] = value
    return runs


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
