"""The folder of a run of MLflow: `meta.yaml`, and a file for each metric, parameter and tag.

A metric's file has a line "time value step" for each value, a parameter's file its value. Any file
of the folder gives the tables of its run, and their source is the folder.
"""

from __future__ import annotations

from pathlib import Path

from edgecil.errors import DataError
from edgecil.io.numbers import is_number
from edgecil.runs.cells.cell_table import Cell, CellTable
from edgecil.runs.cells.file_text import CELLS, read_file_text
from edgecil.runs.cells.step_tables import step_tables

FORM = "MLflow run"
_METADATA = "meta.yaml"
_METRICS, _PARAMETERS, _TAGS = "metrics", "params", "tags"
_RUN_NAME = "mlflow.runName"
_DEEPEST = 6  # names of metrics may have slashes, which are folders
_LONGEST_VALUE = 2000
_MOST_FILES = 10_000


def recognises(path: Path, head: bytes) -> bool:
    """Return whether a file belongs to the folder of a run."""
    return bool(head) and _folder_of_run(path) is not None


def read(path: Path) -> list[CellTable]:
    """Return a table for the metrics that were logged at the same steps."""
    folder = _folder_of_run(path)
    if folder is None:
        raise DataError(f"{path} belongs to no run of MLflow; give the run's folder.")
    facts: dict[str, Cell] = {
        file.relative_to(folder / _PARAMETERS).as_posix(): _first_line(file)
        for file in _files(folder / _PARAMETERS)
    }
    name = folder / _TAGS / _RUN_NAME
    if name.is_file():
        facts.setdefault("run", _first_line(name))
    values: dict[str, dict[int, float]] = {}
    for file in _files(folder / _METRICS):
        values[file.relative_to(folder / _METRICS).as_posix()] = _values(file)
    filled = {name: by_step for name, by_step in values.items() if by_step}
    if not filled:
        raise DataError(f"{folder} has no metrics; its run ended before it logged a number.")
    return step_tables(filled, FORM, str(folder), facts)


def _folder_of_run(path: Path) -> Path | None:
    """Return the folder of the run that a file is part of."""
    if path.name == _METADATA:
        return path.parent if (path.parent / _METRICS).is_dir() else None
    for folder in list(path.parents)[1:_DEEPEST]:
        part = path.relative_to(folder).parts[0]
        if part in (_METRICS, _PARAMETERS, _TAGS) and (folder / _METADATA).is_file():
            return folder if (folder / _METRICS).is_dir() else None
    return None


def _files(folder: Path) -> list[Path]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    if len(files) > _MOST_FILES:
        raise DataError(f"{folder} has more than {_MOST_FILES:,} files; give a smaller run.")
    return files


def _first_line(path: Path) -> str:
    return read_file_text(path).partition("\n")[0].strip()[:_LONGEST_VALUE]


def _values(path: Path) -> dict[int, float]:
    """Return the values of a metric by step; the last one that was logged at a step counts."""
    values: dict[int, float] = {}
    lines = read_file_text(path).splitlines()
    CELLS.check(str(path), len(lines))
    for line in lines:
        parts = line.split()
        is_value = len(parts) >= 2 and is_number(parts[1])
        has_step = len(parts) > 2 and parts[2].isascii() and parts[2].isdigit()
        if not is_value:
            raise DataError(f"{path} has a line that is no value of a metric: {line[:80]!r}.")
        step = int(parts[2][:18]) if has_step else len(values)
        values[step] = float(parts[1])
    return values
