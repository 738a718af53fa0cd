"""JSON files: records, columns, DataFrames, and mappings of mappings."""

from __future__ import annotations

import json
import re
from pathlib import Path

from edgecil.io.files import parse_json
from edgecil.runs.cells import json_lines
from edgecil.runs.cells.cell_table import CellTable
from edgecil.runs.cells.file_text import HEAD, decode, read_file_text, suffix_of
from edgecil.runs.cells.nested_values import tables_of_values

FORM = "JSON"
_START = re.compile(r'\s*(\{\s*(["}]|$)|\[\s*([\[{"\-\]]|\d+(\.\d+)?\s*[,\]eE]|$))')


def recognises(path: Path, head: bytes) -> bool:
    """Return whether a file is JSON: one object or one list."""
    text = decode(head)
    if text is None or _START.match(text) is None or json_lines.recognises(path, head):
        return False
    if suffix_of(path) == ".json":
        return True
    if suffix_of(path) == ".ipynb":  # a program with its output
        return False
    # Other texts begin with a bracket, too: the time of a log, a printed list.
    return len(head) == HEAD or _is_json(text)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def read(path: Path) -> list[CellTable]:
    """Return the tables of what a JSON file holds."""
    return tables_of_values(parse_json(read_file_text(path), str(path)), FORM, str(path))
