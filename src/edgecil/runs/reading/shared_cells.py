"""Cells that stand for several rows of a table that people write for readers.

A cell that is empty below a name continues it. Notes beside numbers, "86.5 ± 0.7 (the 10th task)",
are of all numbers of their row.
"""

from __future__ import annotations

from itertools import takewhile

from edgecil.runs.cells.cell_table import Cell
from edgecil.runs.reading.frames import Frame, is_absent, is_numeric, number_in, text_of

WRITTEN_FORMS = ("Markdown table", "HTML table", "LaTeX table", "Excel sheet")
"""Forms of tables in which people leave cells empty that repeat the one above."""

NOTE = "note"


def fill_down(frame: Frame) -> None:
    """Repeat names in the leading columns of a table in the empty cells below them."""
    if not all(table.form in WRITTEN_FORMS for table in frame.tables):
        return
    leading = list(takewhile(lambda name: not _has_numbers(frame, name), frame.columns))
    for place, name in enumerate(leading[:-1]):
        cells = frame.columns[name]
        if is_absent(cells[0]) or not any(map(is_absent, cells)):
            continue
        inner = leading[place + 1 :]
        for row in range(1, len(frame)):
            is_same_table = frame.table_of_row[row] == frame.table_of_row[row - 1]
            has_inner = any(not is_absent(frame.columns[other][row]) for other in inner)
            if is_same_table and has_inner and text_of(cells[row]) == "":
                cells[row] = cells[row - 1]


def _has_numbers(frame: Frame, name: str) -> bool:
    cells = [cell for cell in frame.columns[name] if not is_absent(cell)]
    return bool(cells) and is_numeric(cells)


def add_notes(frame: Frame) -> None:
    """Tell rows apart by the notes beside their numbers, where nothing else does."""
    if not all(table.form in WRITTEN_FORMS for table in frame.tables):
        return
    texts = [name for name in frame.columns if not _has_any_number(frame, name)]
    rows_by_name: dict[tuple[str, ...], list[int]] = {}
    for row in range(len(frame)):
        key = tuple(text_of(frame.columns[name][row]) for name in texts)
        rows_by_name.setdefault(key, []).append(row)
    notes = [_note(frame, row) for row in range(len(frame))]

    def tells_apart(rows: list[int]) -> bool:
        return len(rows) > 1 and len({notes[row] for row in rows}) == len(rows)

    if any(map(tells_apart, rows_by_name.values())):
        cells: list[Cell] = [*notes]
        frame.add(NOTE, cells, "scenario")


def _has_any_number(frame: Frame, name: str) -> bool:
    """Return whether a column has a number with a spread or a note, or a fraction."""
    numbers = [number_in(cell) for cell in frame.columns[name]]
    marked = [number for number in numbers if number is not None]
    return any(number.note or number.spread is not None for number in marked) or any(
        number.value != int(number.value) for number in marked
    )


def _note(frame: Frame, row: int) -> str:
    """Return the notes beside the numbers of a row."""
    numbers = [number_in(cells[row]) for cells in frame.columns.values()]
    notes = [number.note for number in numbers if number is not None and number.note]
    return ", ".join(dict.fromkeys(notes))
