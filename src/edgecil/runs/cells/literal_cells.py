"""Cells of text tables that hold lists or dictionaries, as pandas writes them into CSV files.

`[90.5, 60.25]`, `[90.5 60.25]` of NumPy, and `{'task 1': 90.5}` become values of their own.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from edgecil.errors import DataError
from edgecil.runs.cells.cell_table import Cell, CellTable
from edgecil.runs.cells.nested_values import tables_of_values
from edgecil.runs.cells.run_log import parse_literal

_START = ("[", "{", "(")
_NUMBERS = re.compile(r"\[[\d\s.eE+\-]{1,100000}\]")


def unpack_literal_cells(table: CellTable) -> list[CellTable]:
    """Return a table whose columns of lists and dictionaries are unpacked; itself without any."""
    columns = [place for place in range(len(table.header)) if _has_literals(table, place)]
    values = {place: _values(table, place) for place in columns}
    unpacked = {place: column for place, column in values.items() if column is not None}
    if not unpacked:
        return [table]
    records = []
    for number, row in enumerate(table.rows):
        record: dict[str, Any] = {}
        for place, name in enumerate(table.header):
            record[name] = unpacked[place][number] if place in unpacked else row[place]
        records.append(record)
    tables = tables_of_values(records, table.form, table.source, caption=table.caption)
    return [replace(inner, facts=table.facts) for inner in tables]


def _has_literals(table: CellTable, place: int) -> bool:
    """Return whether all cells of a column begin as a list or a dictionary."""
    cells = [row[place] for row in table.rows if row[place] is not None]
    return bool(cells) and all(isinstance(cell, str) and cell.startswith(_START) for cell in cells)


def _values(table: CellTable, place: int) -> list[Any] | None:
    """Return the values of a column; None if a cell is no list or dictionary."""
    try:
        return [_value(row[place], table.source) for row in table.rows]
    except DataError:
        return None


def _value(cell: Cell, source: str) -> Any:
    text = str(cell or "")
    if not text:
        return None
    if _NUMBERS.fullmatch(text) and "," not in text:
        return [float(number) for number in text.strip("[]").split()]
    value = parse_literal(text, source)
    if not isinstance(value, (list, tuple, dict)):
        raise DataError(f"{source} has a cell that is no list: {text[:80]}.")
    return value
