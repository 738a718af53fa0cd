"""Class names from a user's file: one per line, the first CSV column, or JSON."""

from __future__ import annotations

from pathlib import Path

from edgecil.classes.lists import ClassList, class_list
from edgecil.errors import UsageError
from edgecil.io.csv_files import check_header, read_rows
from edgecil.io.files import read_json, read_text


def read_classes(path: str | Path, *, count: int | None = None) -> ClassList:
    """Read a class list in label order from a .txt, .csv or .json file, whose stem is its name.

    Any other number of names than `count`, if given, is an error.

    - .txt: one name per line (a trailing newline is fine, a blank line inside is an error);
    - .csv: a column headed `name` (or `label`, `class`), else the only column;
    - .json: a list of names, or an object from label index to name.
    """
    path = Path(path)
    reader = {".txt": _read_lines, ".csv": _read_csv, ".json": _read_json}.get(path.suffix.lower())
    if reader is None:
        raise UsageError(f"Class names are read from .txt, .csv or .json files. Got {path}.")
    classes = class_list(path.stem, reader(path))
    return classes if count is None else classes.require(count)


def _read_lines(path: Path) -> list[str]:
    text = read_text(path)
    return [line.strip() for line in text.rstrip("\n").split("\n")] if text.strip() else []


def _read_csv(path: Path) -> list[str]:
    rows = read_rows(path)
    if not rows:
        return []
    header = [cell.strip().lower() for cell in rows[0]]
    check_header(header, str(path))
    headed = [header.index(word) for word in ("name", "label", "class") if word in header]
    if headed:
        column, rows = headed[0], rows[1:]
    elif len(rows[0]) == 1:
        column = 0
    else:
        raise UsageError(
            f"{path} has {len(rows[0])} columns and none is headed 'name'; "
            "add a header line that says which column holds the class names."
        )
    if any(len(row) <= column for row in rows):
        raise UsageError(f"{path} has rows with no class name in column {column + 1}.")
    return [row[column].strip() for row in rows]


def _read_json(path: Path) -> list[str]:
    data = read_json(path)
    if isinstance(data, dict):
        if sorted(data) != sorted(str(index) for index in range(len(data))):
            raise UsageError(
                f"{path} contains an object whose keys are not the labels 0 to {len(data) - 1}; "
                "give a list of names in label order instead."
            )
        data = [data[str(index)] for index in range(len(data))]
    if not isinstance(data, list):
        raise UsageError(f"{path} must contain a list of class names. Got {type(data).__name__}.")
    return data
