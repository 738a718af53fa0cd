"""Tables of text cells: their header, rows of one width, and empty cells."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from edgecil.runs.cells.cell_table import Cell, CellTable
from edgecil.runs.cells.decimal_marks import decimal_commas_to_points
from edgecil.runs.cells.marked_numbers import parse_marked_number

_EMPTY = re.compile(r"[-–—−]*")
LEVELS = " / "
"""What joins the levels of a header."""


def text_table(
    form: str,
    source: str,
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    place: str = "",
    caption: str = "",
    facts: Mapping[str, Cell] | None = None,
    delimiter: str = "",
) -> CellTable:
    """Return a table of text cells: blanks around them removed, decimal commas as points."""
    plain = [[" ".join(cell.split()) for cell in row] for row in rows]
    cells = decimal_commas_to_points(plain, delimiter=delimiter)
    return CellTable(
        form,
        source,
        tuple(" ".join(name.split()) for name in header),
        tuple(tuple(None if _EMPTY.fullmatch(cell) else cell for cell in row) for row in cells),
        place,
        " ".join(caption.split()),
        facts or {},
    )


def join_header(levels: Sequence[Sequence[str]]) -> list[str]:
    """Return one name for each column of a header with several rows.

    >>> join_header([["Method", "CIFAR", "CIFAR"], ["", "Avg", "Last"]])
    ['Method', 'CIFAR / Avg', 'CIFAR / Last']
    """
    names = []
    for column in zip(*levels, strict=True):
        parts = dict.fromkeys(name.strip() for name in column if name.strip())
        names.append(LEVELS.join(parts))
    return names


def is_number_text(cell: str) -> bool:
    """Return whether a cell is a number, with marks or without."""
    return parse_marked_number(cell.replace(",", ".") if cell.count(",") == 1 else cell) is not None
