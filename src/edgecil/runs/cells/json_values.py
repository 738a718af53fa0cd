"""JSON files: records, columns, DataFrames, and mappings of mappings."""

from __future__ import annotations

import re
from pathlib import Path

from edgecil.io.files import parse_json
from edgecil.runs.cells import json_lines
from edgecil.runs.cells.cell_table import CellTable
from edgecil.runs.cells.file_text import decode, read_file_text, suffix_of
from edgecil.runs.cells.nested_values import tables_of_values

FORM = "JSON"
_START = re.compile(r'\s*(\{\s*(["}]|$)|\[\s*([\[{"\d\-\]]|$))')


def recognises(path: Path, head: bytes) -> bool:
    """Return whether a file is JSON: one object or one list."""
    text = decode(head)
    if text is None or _START.match(text) is None or json_lines.recognises(path, head):
        return False
    return suffix_of(path) not in (".md", ".csv", ".tsv", ".tex") or text.lstrip()[0] == "{"


def read(path: Path) -> list[CellTable]:
    """Return the tables of what a JSON file holds."""
    return tables_of_values(parse_json(read_file_text(path), str(path)), FORM, str(path))
