"""CSV files of Avalanche: `eval_results.csv`, and the table of all metrics of its evaluation.

`eval_results.csv` has a row for each experience that is tested after each one that was trained.
The file beside it with accuracies of training belongs to the same run, as does one whose name
begins like it.
The table of all metrics has a row for each test, and columns such as
`Top1_Acc_Exp/eval_phase/test_stream/Exp000`. Accuracies are fractions.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path

from edgecil.errors import DataError
from edgecil.io.csv_files import parse_rows
from edgecil.io.numbers import parse_cell
from edgecil.runs.cells.cell_table import CellTable
from edgecil.runs.cells.file_text import CELLS, decode, read_file_text
from edgecil.runs.cells.run_log import run_table

FORM = "Avalanche CSV"
_PAIRS = ("eval_exp", "training_exp")
_EPOCHS = ("training_exp", "epoch")
_RESULTS = "eval_results.csv"
_FURTHER = "eval_results_"  # results of the same run, processed
_ACCURACIES = ("eval_accuracy", "eval_acc")
_TEST_ACCURACY = re.compile(
    r"Top1_Acc_Exp/eval_phase/test_stream(?:/Task\d{1,4})?/Exp(\d{1,4})", re.ASCII
)


def recognises(path: Path, head: bytes) -> bool:
    """Return whether the header has the columns of Avalanche."""
    first_line = (decode(head) or "").partition("\n")[0].strip()
    names = first_line.split(",")
    if tuple(names[:2]) == _EPOCHS:
        return path.with_name(_RESULTS).is_file()
    is_results = tuple(names[:2]) == _PAIRS and any(name in names for name in _ACCURACIES)
    return is_results or (len(names) > 1 and any(map(_TEST_ACCURACY.fullmatch, names)))


def read(path: Path) -> list[CellTable]:
    """Return the table of the run."""
    text = read_file_text(path)
    CELLS.check(str(path), text.count(","))
    rows = [[cell.strip() for cell in row] for row in parse_rows(text, str(path))]
    header, body = rows[0], rows[1:]
    is_further = tuple(header[:2]) == _PAIRS and path.name.startswith(_FURTHER)
    if tuple(header[:2]) == _EPOCHS or (is_further and path.with_name(_RESULTS).is_file()):
        return read(path.with_name(_RESULTS))
    if not body:
        raise DataError(f"{path} has no accuracies; its run ended before the first test.")
    for number, row in enumerate(body, start=2):
        if len(row) != len(header):
            raise DataError(f"Row {number} of {path} has {len(row)} cells, not {len(header)}.")
    is_results = tuple(header[:2]) == _PAIRS
    matrix = _matrix_of_pairs(header, body, path) if is_results else _matrix_of_tests(header, body)
    tasks = max(map(len, matrix))
    # Joint training has one step, after which the experiences of all tasks are tested.
    table = run_table(
        FORM,
        str(path),
        accuracies=matrix,
        facts={"unit": "fraction", "task_count": tasks},
        has_later_tasks=len(matrix) == 1,
    )
    return [table]


def _matrix_of_pairs(
    header: Sequence[str], rows: Sequence[Sequence[str]], path: Path
) -> list[list[float | None]]:
    """Return accuracies on each experience after each one, from a row for every pair."""
    column = next(header.index(name) for name in _ACCURACIES if name in header)
    by_step: dict[int, dict[int, float | None]] = {}
    for row in rows:
        tested, trained = (_experience(cell, path) for cell in row[:2])
        by_step.setdefault(trained, {})[tested] = _accuracy(row[column])
    tasks = sorted({task for accuracies in by_step.values() for task in accuracies})
    return [[by_step[step].get(task) for task in tasks] for step in sorted(by_step)]


def _matrix_of_tests(
    header: Sequence[str], rows: Sequence[Sequence[str]]
) -> list[list[float | None]]:
    """Return accuracies from a row for each test, which repeats the values of earlier tests.

    If every experience is tested after every one, with or without a test before the first, the
    steps are known; otherwise only the last row, the accuracies at the end, is used.
    """
    matches = [_TEST_ACCURACY.fullmatch(name) for name in header]
    columns = {int(match[1]): place for place, match in enumerate(matches) if match}
    tasks = sorted(columns)
    count = len(tasks)
    steps: list[Sequence[str] | None]
    if len(rows) in (count * count, count * (count + 1)):
        steps = list(rows[count - 1 :: count][-count:])
    else:
        steps = [*[None] * (count - 1), rows[-1]]
    matrix = []
    for row in steps:
        accuracies = [] if row is None else [_accuracy(row[columns[task]]) for task in tasks]
        matrix.append(accuracies)
    return matrix


def _experience(cell: str, path: Path) -> int:
    if not (cell.isascii() and cell.isdigit() and len(cell) < 6):
        raise DataError(f"{path} has the experience {cell[:80]!r}; write its number.")
    return int(cell)


def _accuracy(cell: str) -> float | None:
    value = parse_cell(cell)
    return None if value is None or math.isnan(value) else value
