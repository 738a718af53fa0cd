"""The folder of a run of FACIL: its arguments, its matrices of accuracies, and its console.

    args-TIME.txt   raw_log-TIME.txt   stdout-TIME.txt   results/acc_tag-TIME.txt   …

`tag` is class-incremental ("task-agnostic"), `taw` is told the task of each test image. Any file of
the folder gives the tables of its run, and their source is the matrix. Rows of a matrix are tasks
learned, and accuracies are fractions; those in a console are rounded per cent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from edgecil.errors import DataError
from edgecil.io.files import parse_json
from edgecil.runs.cells.cell_table import CellTable
from edgecil.runs.cells.file_text import CELLS, read_file_text
from edgecil.runs.cells.run_log import (
    CLASS_INCREMENTAL,
    TASK_INCREMENTAL,
    facts_of,
    number_runs,
    run_table,
)

FORM = "FACIL results"
SCENARIOS = {"acc_tag": CLASS_INCREMENTAL, "acc_taw": TASK_INCREMENTAL}
_TITLES = {"TAg Acc": CLASS_INCREMENTAL, "TAw Acc": TASK_INCREMENTAL}
_MATRIX = r"(?:acc|forg|avg_accs|wavg_accs)_(?:tag|taw)"
_NAME = re.compile(rf"({_MATRIX}|args|raw_log|stdout)(-[\d-]{{1,40}})?\.txt", re.ASCII)
_NAMES = {"method": "approach", "dataset": "datasets", "seed": "seed", "task_count": "num_tasks"}
_CONTENT = {
    "args": re.compile(rb'"approach"\s*:'),
    "raw_log": re.compile(rb'"group"\s*:'),
    "stdout": re.compile(rb"TAw |Arguments =\s+approach: "),
}
_ARGUMENT = re.compile(r"\t(\w{1,60}): (.*)")
_PERCENT = re.compile(r"(-?\d{1,3}\.\d)%")


def recognises(path: Path, head: bytes) -> bool:
    """Return whether a file belongs to a run of FACIL, by its name and content."""
    match = _NAME.fullmatch(path.name)
    if match is None:
        return False
    if match[1] in _CONTENT:
        return _CONTENT[match[1]].search(head) is not None
    return re.fullmatch(rb"[\d.eE+\-\s]|nan", head[:1]) is not None


def read(path: Path) -> list[CellTable]:
    """Return the tables of the run: class-incremental, and told the task."""
    match = _NAME.fullmatch(path.name)
    if match is None:
        raise DataError(f"{path} is no file of FACIL; its name must be that of FACIL's loggers.")
    time = match[2] or ""
    folder = path.parent if match[1] in _CONTENT else path.parent.parent
    settings = _settings(folder / f"args{time}.txt")
    tables = []
    for name, scenario in SCENARIOS.items():
        file = folder / "results" / f"{name}{time}.txt"
        if not file.is_file():
            file = path.parent / f"{name}{time}.txt"
        if file.is_file():
            tables.append(_table(file, _matrix(file), settings, scenario, unit="fraction"))
    if not tables and match[1] == "stdout":
        tables = list(_console_tables(path, settings))
    if not tables:
        raise DataError(
            f"{path} has no accuracies; its run ended before the first task did, or its folder "
            "`results` is missing."
        )
    return number_runs([tables])


def _settings(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    settings = parse_json(read_file_text(path), str(path))
    if not isinstance(settings, dict):
        raise DataError(f"{path} has no settings of a run; it must be one JSON object.")
    return settings


def _matrix(path: Path) -> list[list[float]]:
    """Return the rows of a matrix; rows of tasks that were not learned are zeros, and left out."""
    text = read_file_text(path)
    CELLS.check(str(path), len(text) // 2)
    try:
        rows = [[float(cell) for cell in line.split()] for line in text.splitlines()]
    except ValueError as error:
        raise DataError(f"{path} has a matrix with a cell that is no number ({error}).") from error
    rows = [row for row in rows if row]
    while len(rows) > 1 and not any(rows[-1]):
        rows.pop()
    return rows


def _table(
    path: Path,
    matrix: Sequence[Sequence[float]],
    settings: dict[str, Any],
    scenario: str,
    unit: str,
) -> CellTable:
    facts = facts_of(settings, _NAMES)
    facts.setdefault("task_count", max(map(len, matrix), default=0))
    facts.update(scenario=scenario, unit=unit)
    return run_table(FORM, str(path), accuracies=matrix, facts=facts)


def _console_tables(path: Path, settings: dict[str, Any]) -> Iterator[CellTable]:
    """Yield the tables that a console prints after each task; the last one has all rows."""
    matrices: dict[str, list[list[float]]] = {}
    arguments: dict[str, Any] = {}
    scenario = None
    for line in read_file_text(path).splitlines():
        argument = _ARGUMENT.fullmatch(line)
        if line.strip() in _TITLES:
            scenario = _TITLES[line.strip()]
            matrices[scenario] = []
        elif scenario is not None and line.startswith("\t") and "%" in line:
            values = line.partition("Avg.")[0]
            matrices[scenario].append([float(value) for value in _PERCENT.findall(values)])
        elif argument:
            arguments[argument[1]] = argument[2].strip("[]'\"")
        else:
            scenario = None
    for scenario, matrix in matrices.items():
        learned = list(matrix)
        while len(learned) > 1 and not any(learned[-1]):
            learned.pop()
        if learned:
            yield _table(path, learned, settings or arguments, scenario, unit="%")
