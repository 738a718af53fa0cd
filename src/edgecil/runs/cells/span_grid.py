"""Tables whose cells span rows and columns, as in HTML and LaTeX, made rectangular."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from edgecil.runs.cells.cell_table import CellTable
from edgecil.runs.cells.file_text import CELLS
from edgecil.runs.cells.text_cells import is_number_text, join_header, text_table

SECTION = "section"
"""The column for titles that stand between the rows of a table."""


@dataclass(frozen=True)
class SpanCell:
    """A cell that covers so many columns and rows."""

    text: str
    columns: int = 1
    rows: int = 1
    is_header: bool = False


def grid_of(rows: Sequence[Sequence[SpanCell]], source: str) -> list[list[str]]:
    """Return the text of every place of a table; a cell's text stands in all places it covers."""
    width = _width(rows, source)
    CELLS.check(source, width * len(rows))
    grid: list[list[str | None]] = [[None] * width for _ in rows]
    for number, row in enumerate(rows):
        place = 0
        for cell in row:
            while place < width and grid[number][place] is not None:
                place += 1
            for covered in grid[number : number + max(1, cell.rows)]:
                covered[place : place + cell.columns] = [cell.text] * min(
                    cell.columns, width - place
                )
            place += cell.columns
    return [[text or "" for text in row] for row in grid]


def _width(rows: Sequence[Sequence[SpanCell]], source: str) -> int:
    """Return the number of columns: of the widest row, with the cells that reach into it."""
    width = 0
    open_cells: list[tuple[int, int]] = []  # columns and remaining rows of cells from above
    for row in rows:
        row_width = sum(cell.columns for cell in row)
        width = max(width, row_width + sum(columns for columns, _ in open_cells))
        CELLS.check(source, width)
        open_cells = [(columns, left - 1) for columns, left in open_cells if left > 1]
        open_cells += [(cell.columns, cell.rows - 1) for cell in row if cell.rows > 1]
    return width


def grid_table(
    form: str,
    source: str,
    rows: Sequence[Sequence[str]],
    *,
    header_rows: int,
    place: str = "",
    caption: str = "",
) -> CellTable:
    """Return the table of a grid; titles between rows become the column `section`."""
    levels = list(rows[:header_rows])
    if len(levels) > 1 and len(set(levels[0])) == 1 and levels[0][0]:
        caption = f"{caption} {levels[0][0]}"  # a title over all columns
        levels = levels[1:]
    header = join_header(levels) if levels else [""] * len(rows[0])
    section = ""
    has_sections = False
    body = []
    for row in rows[header_rows:]:
        if _is_title(row):
            section = row[0]
            has_sections = True
        elif any(cell.strip() for cell in row):
            body.append([section, *row])
    if has_sections:
        header = [SECTION, *header]
    else:
        body = [row[1:] for row in body]
    return text_table(form, source, header, body, place=place, caption=caption)


def _is_title(row: Sequence[str]) -> bool:
    """Return whether a row is one cell over all columns."""
    return (
        len(row) > 1 and len(set(row)) == 1 and bool(row[0].strip()) and not is_number_text(row[0])
    )
