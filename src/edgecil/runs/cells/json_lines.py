"""JSON Lines: one record in each line."""

from __future__ import annotations

import json
from pathlib import Path

from edgecil.errors import DataError
from edgecil.io.files import parse_json
from edgecil.runs.cells.cell_table import CellTable
from edgecil.runs.cells.file_text import CELLS, decode, read_file_text, suffix_of
from edgecil.runs.cells.nested_values import tables_of_values

FORM = "JSON Lines"


def recognises(path: Path, head: bytes) -> bool:
    """Return whether each of the first lines is an object or a list of its own."""
    text = decode(head)
    if text is None:
        return False
    lines = [line for line in text.splitlines() if line.strip()][:2]
    if suffix_of(path) in (".jsonl", ".ndjson"):
        return True
    return len(lines) == 2 and all(map(_is_record, lines))


def read(path: Path) -> list[CellTable]:
    """Return the table of the records; a last line that was cut short is left out."""
    lines = [line for line in read_file_text(path).splitlines() if line.strip()]
    CELLS.check(str(path), len(lines))
    records = []
    for number, line in enumerate(lines, start=1):
        try:
            records.append(parse_json(line, f"Line {number} of {path}"))
        except DataError:
            if number < len(lines) or number == 1:
                raise
    return tables_of_values(records, FORM, str(path))


def _is_record(line: str) -> bool:
    if not line.lstrip().startswith("{"):
        return False
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False
