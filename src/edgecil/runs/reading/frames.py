"""Frames: tables with the same columns, one below the other, as lists of cells by column."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from edgecil.errors import DataError, short_name
from edgecil.runs.cells.cell_table import Cell, CellTable
from edgecil.runs.cells.marked_numbers import MarkedNumber, parse_marked_number
from edgecil.runs.reading.path_names import metric_of_file
from edgecil.runs.reading.questions import ReadingQuestion

_TEXT_FORMS = ("CSV", "TSV", "CSV with semicolons", "text in columns")
_DATA_FORMS = ("JSON", "JSON Lines", "NumPy array", "DataFrame")
_ABSENT = ("", "nan", "none", "null", "n/a", "na", "-", "–", "—", "/")


@dataclass
class Frame:
    """Tables with the same columns.

    Attributes:
        columns: the cells by the name of the column.
        roles: what columns are; those that are not known yet have no entry.
        tables: the tables, without rows.
        table_of_row: for each row the number of its table.
        row_numbers: for each row its number in the file.
        notes: what was chosen, in sentences.
        undecided: what may also be otherwise, in sentences.
        parts: what the reading line says of the frame, such as `last of 10 tasks`.
        question: what must be known before its runs are read; None if nothing.
        is_log: whether a toolbox wrote it, so that two runs with the same settings are one that
            was started again.
        metric_hint: what the names of the files call their values; empty if they do not.
        metric_names: what the metrics in columns of means are called, where that is not the name
            of the column.
        spreads: by column of means the column of its spreads and their kind, `std` or `stderr`.
        has_task_axis: whether the name of the file says that its values are by task.
        is_split: whether each row has the value of one metric, so that an empty one is of another.
    """

    columns: dict[str, list[Cell]]
    roles: dict[str, str]
    tables: list[CellTable]
    table_of_row: list[int]
    row_numbers: list[int]
    notes: list[str] = field(default_factory=list)
    undecided: list[str] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)
    question: ReadingQuestion | None = None
    is_log: bool = False
    metric_hint: str = ""
    metric_names: dict[str, str] = field(default_factory=dict)
    spreads: dict[str, tuple[str, str]] = field(default_factory=dict)
    has_task_axis: bool = False
    is_split: bool = False

    def __len__(self) -> int:
        return len(self.table_of_row)

    @property
    def origin(self) -> str:
        """The files, in a few words."""
        sources = list(dict.fromkeys(table.source for table in self.tables))
        if len(sources) == 1:
            place = self.tables[0].place if len(self.tables) == 1 else ""
            return f"{sources[0]} ({place})" if place else sources[0]
        return f"{sources[0]} and {len(sources) - 1} more"

    def place_of(self, row: int) -> str:
        """Return where a row stands, for a sentence: `Row 3 of a.csv`."""
        return f"Row {self.row_numbers[row]} of {self.tables[self.table_of_row[row]].source}"

    def with_role(self, *roles: str) -> list[str]:
        """Return the columns that have one of some roles."""
        return [name for name in self.columns if self.roles.get(name) in roles]

    def of_role(self, role: str) -> list[Cell] | None:
        """Return the cells of the first column with a role; None if there is none."""
        names = self.with_role(role)
        return self.columns[names[0]] if names else None

    def add(self, name: str, cells: list[Cell], role: str) -> None:
        """Add a column; one that has its name keeps another name."""
        while name in self.columns:
            name += "'"
        self.columns[name] = cells
        self.roles[name] = role

    def take(self, rows: Sequence[int]) -> None:
        """Keep some rows."""
        if len(rows) == len(self):
            return
        for name, cells in self.columns.items():
            self.columns[name] = [cells[row] for row in rows]
        self.table_of_row = [self.table_of_row[row] for row in rows]
        self.row_numbers = [self.row_numbers[row] for row in rows]


def frames_of(tables: Sequence[CellTable]) -> list[Frame]:
    """Return tables as frames; those with the same header and roles are one.

    Files that name different metrics are apart, since their values are.
    """
    groups: dict[tuple[object, ...], list[CellTable]] = {}
    for table in tables:
        if not table.rows:
            continue
        metric = "" if table.form == "DataFrame" else metric_of_file(table.source)
        key = (table.form, table.header, tuple(sorted(table.roles.items())), metric)
        groups.setdefault(key, []).append(table)
    return [_frame(group) for group in groups.values()]


def _frame(tables: Sequence[CellTable]) -> Frame:
    first = tables[0]
    header = _column_names(first)
    columns: dict[str, list[Cell]] = {name: [] for name in header}
    fact_names = list(dict.fromkeys(name for table in tables for name in table.facts))
    facts: dict[str, list[Cell]] = {name: [] for name in fact_names if name not in columns}
    table_of_row: list[int] = []
    row_numbers: list[int] = []
    for number, table in enumerate(tables):
        count = len(table.rows)
        for name, own_cells in zip(header, zip(*table.rows, strict=True), strict=True):
            columns[name].extend(own_cells)
        for name, cells in facts.items():
            cells.extend([table.facts.get(name)] * count)
        table_of_row.extend([number] * count)
        start = 0 if table.form == "DataFrame" else 2 if table.form in _TEXT_FORMS else 1
        row_numbers.extend(range(start, start + count))
    roles = {name: role for name, role in first.roles.items() if name in columns}
    frame = Frame({**columns, **facts}, roles, list(tables), table_of_row, row_numbers)
    frame.is_log = "step" in roles.values() and first.form not in (*_TEXT_FORMS, *_DATA_FORMS)
    return frame


def _column_names(table: CellTable) -> list[str]:
    """Return a name for every column; columns of one name get numbers in published tables."""
    names = [short_name(name) for name in table.header]
    repeated = [name for name, count in Counter(names).items() if name and count > 1]
    if repeated and (table.form in _TEXT_FORMS or table.form == "DataFrame"):
        raise DataError(f"{table.source} has more than one column named {repeated[0]!r}; keep one.")
    counts: Counter[str] = Counter()
    unique = []
    for place, name in enumerate(names):
        counts[name] += 1
        text = name or f"column {place + 1}"
        unique.append(f"{text} ({counts[name]})" if name and counts[name] > 1 else text)
    return unique


def is_absent(cell: Cell) -> bool:
    """Return whether a cell has no value."""
    if cell is None:
        return True
    if isinstance(cell, float):
        return math.isnan(cell)
    if not isinstance(cell, str):
        return False
    text = cell.strip().lower()
    return text in _ABSENT or not text.strip("-–—")


def number_in(cell: Cell) -> MarkedNumber | None:
    """Return the number in a cell; None if it is something else, or nothing."""
    if isinstance(cell, bool) or cell is None:
        return None
    if isinstance(cell, (int, float)):
        return MarkedNumber(float(cell)) if math.isfinite(cell) else None
    text = cell.strip()
    if not text:
        return None
    if text[0] in "+-.0123456789" and text.isascii() and "_" not in text:
        try:
            value = float(text)
        except ValueError:
            pass
        else:
            return MarkedNumber(value) if math.isfinite(value) else None
    return parse_marked_number(text)


def numbers_in(cells: Iterable[Cell]) -> dict[Cell, MarkedNumber | None]:
    """Return the number of every different cell."""
    return {cell: number_in(cell) for cell in dict.fromkeys(cells)}


def is_numeric(cells: Iterable[Cell]) -> bool:
    """Return whether all cells with a value are numbers, and at least one is."""
    has_number = False
    for cell in dict.fromkeys(cells):
        if is_absent(cell):
            continue
        if number_in(cell) is None:
            return False
        has_number = True
    return has_number


def text_of(cell: Cell) -> str:
    """Return a cell as a name: whole numbers without a decimal point.

    >>> text_of(3.0), text_of("3.0"), text_of("ER-ACE "), text_of(None)
    ('3', '3', 'ER-ACE', '')
    """
    if cell is None:
        return ""
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 2**53:
        return str(int(cell))
    text = " ".join(str(cell).split())
    if text.endswith(".0") and text[:-2].lstrip("-").isdigit():
        return text[:-2]
    return "" if text.lower() == "nan" else text


def texts_of(cells: Sequence[Cell]) -> list[str]:
    """Return cells as names; equal cells are looked at once."""
    texts = {cell: text_of(cell) for cell in dict.fromkeys(cells)}
    return [texts[cell] for cell in cells]


def groups_of(frame: Frame, names: Sequence[str]) -> list[int]:
    """Return for each row the number of its group: rows with equal cells in some columns."""
    columns = [texts_of(frame.columns[name]) for name in names]
    numbers: dict[tuple[str, ...], int] = {}
    if not columns:
        return [0] * len(frame)
    return [numbers.setdefault(key, len(numbers)) for key in zip(*columns, strict=True)]


def is_constant(cells: Sequence[Cell]) -> bool:
    """Return whether all cells are equal."""
    return len(set(texts_of(cells))) < 2


def depends_on(frame: Frame, name: str, key_columns: Sequence[str]) -> bool:
    """Return whether a column has one value for each combination of values of others."""
    groups = groups_of(frame, key_columns)
    text_of_group: dict[int, str] = {}
    for group, text in zip(groups, texts_of(frame.columns[name]), strict=True):
        if text_of_group.setdefault(group, text) != text:
            return False
    return True
