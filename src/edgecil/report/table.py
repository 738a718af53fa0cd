"""Tables: rows under columns, written as CSV, Markdown, LaTeX or text for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from rich.cells import cell_len

from edgecil.io.csv_files import CsvCell, format_csv
from edgecil.report.latex import (
    LATEX_BOLD,
    escape_latex,
    latex_row,
    latex_table,
    latex_tabular,
)

_ABSENT = "–"
_GAP = "  "  # between columns of text
_PRINTED = 40  # rows beyond which a table is a CSV file only
_LINE = 345.0  # points of a text line of LaTeX's article
_MARKDOWN_SPECIAL = "\\|<>[]`*"


@dataclass(frozen=True)
class Column:
    """A column of numbers with some decimals, or of text if `digits` is None."""

    title: str
    digits: int | None = None
    signed: bool = False

    @property
    def is_number(self) -> bool:
        """Whether the cells are numbers, which are aligned to the right."""
        return self.digits is not None

    def format(self, cell: CsvCell) -> str:
        """A cell as readers see it."""
        if cell is None:
            return _ABSENT
        if self.digits is None or isinstance(cell, str):
            return str(cell)
        least = 10.0**-self.digits
        if 0.0 < cell < least / 2.0 and not self.signed:
            return f"<{least:.{self.digits}f}"
        rounded = round(float(cell), self.digits) + 0.0  # no -0.00
        return f"{rounded:{'+' if self.signed else ''}.{self.digits}f}"


@dataclass(frozen=True)
class Table:
    """Rows under columns.

    Attributes:
        name: stem of its file names.
        title: a few words.
        caption: what the columns mean; may be empty.
        columns: n columns.
        rows: n cells each; None where a value does not exist.
        bold: row and column of the cells in bold, in formats that have bold letters.
        bold_note: what bold means, for the captions of these formats.
        paper: the same in fewer columns, for LaTeX; None for the table itself.
    """

    name: str
    title: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[CsvCell, ...], ...]
    bold: frozenset[tuple[int, int]] = frozenset()
    bold_note: str = ""
    paper: Table | None = None

    @property
    def noted_caption(self) -> str:
        """The caption with the note on bold cells, if there are any."""
        return f"{self.caption} {self.bold_note}".strip() if self.bold else self.caption

    @property
    def headers(self) -> tuple[str, ...]:
        """The titles of the columns."""
        return tuple(column.title for column in self.columns)

    def formatted(self) -> list[tuple[str, ...]]:
        """The rows as readers see them."""
        return [
            tuple(column.format(cell) for column, cell in zip(self.columns, row, strict=True))
            for row in self.rows
        ]


def make_table(
    columns: Iterable[Column | str],
    rows: Iterable[Sequence[CsvCell]],
    *,
    title: str = "",
    caption: str = "",
    name: str = "answer",
) -> Table:
    """A table from columns and rows; a plain title makes a column of text."""
    made = (Column(column) if isinstance(column, str) else column for column in columns)
    return Table(name, title, caption, tuple(made), tuple(map(tuple, rows)))


def filled_columns(
    rows: Sequence[Mapping[Column, CsvCell]],
) -> tuple[tuple[Column, ...], tuple[tuple[CsvCell, ...], ...]]:
    """Return the columns that have a value in some row, and the cells of all rows in them."""
    if not rows:
        return (), ()
    columns = tuple(column for column in rows[0] if any(row[column] is not None for row in rows))
    return columns, tuple(tuple(row[column] for column in columns) for row in rows)


def as_csv(table: Table) -> str:
    """The table as CSV: numbers with all digits, empty cells for missing values."""
    return format_csv([table.headers, *table.rows])


def as_markdown(table: Table) -> str:
    """The table as a Markdown pipe table below its title and caption."""
    rules = ["---:" if column.is_number else "---" for column in table.columns]
    header = [escape_markdown(title) for title in table.headers]
    rows = _marked(table, escape_markdown, "**{}**")
    body = "\n".join(f"| {' | '.join(line)} |" for line in (header, rules, *rows))
    caption = f"{escape_markdown(table.noted_caption)}\n\n" if table.noted_caption else ""
    return f"**{escape_markdown(table.title)}**\n\n{caption}{body}\n"


def latex_lines(table: Table) -> list[str]:
    """The header and the rows of a table in LaTeX."""
    table = table.paper or table
    headers = [escape_latex(title) for title in table.headers]
    rows = _marked(table, escape_latex, LATEX_BOLD)
    return [latex_row(row) for row in (headers, *rows)]


def as_latex(table: Table) -> str:
    """The table as LaTeX with booktabs rules, scaled down if it is wider than the text."""
    table = replace(table.paper, name=table.name) if table.paper is not None else table
    kinds = "".join("r" if column.is_number else "l" for column in table.columns)
    header, *lines = latex_lines(table)
    tabular = latex_tabular(kinds, [header], lines)
    # LaTeX sets a column in ten points about five points a letter, and twelve to the next.
    texts = zip(table.headers, *table.formatted(), strict=True)
    if sum(5.0 * max(map(len, column)) + 12.0 for column in texts) > _LINE:
        tabular = [r"\resizebox{\linewidth}{!}{%", *tabular[:-1], tabular[-1] + "}"]
    caption = escape_latex(f"{table.title}. {table.noted_caption}".strip())
    packages = r"% \usepackage{amssymb,booktabs,graphicx}"
    return latex_table(tabular, caption, table.name, packages)


def _marked(table: Table, escape: Callable[[str], str], bold: str) -> list[list[str]]:
    """The escaped cells of every row, with those in bold marked."""
    return [
        [
            bold.format(escape(text)) if (row, column) in table.bold else escape(text)
            for column, text in enumerate(cells)
        ]
        for row, cells in enumerate(table.formatted())
    ]


def as_text(table: Table, width: int = 100) -> str:
    """The table for a terminal: long texts wrap; columns that do not fit are a second table."""
    rows = table.formatted()
    widths = []
    for place, title in enumerate(table.headers):
        widths.append(_widest([title, *(row[place] for row in rows)]))
    if sum(widths) + len(_GAP) * (len(widths) - 1) > width:
        most = max(width // 2, 10)
        for place, column in enumerate(table.columns):
            widest = _widest([*column.title.split(), *(row[place] for row in rows)])
            widths[place] = widest if column.is_number else min(widest, most)
        if not table.columns[-1].is_number:
            widths[-1] = max(widths[-1], width - sum(widths[:-1]) - len(_GAP) * (len(widths) - 1))
    blocks = [_text_block(table, rows, widths, places) for places in _fit(table, widths, width)]
    caption = textwrap.wrap(table.caption, width)
    parts = [table.title, *blocks, "\n".join(caption)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _widest(texts: list[str]) -> int:
    return max(map(cell_len, texts))


def _fit(table: Table, widths: list[int], width: int) -> list[list[int]]:
    """The places of the columns in each block of text."""
    first = next((i for i, column in enumerate(table.columns) if column.is_number), 1)
    leading = list(range(first))
    blocks = [list(leading)]
    for place in range(first, len(table.columns)):
        block = [*blocks[-1], place]
        if sum(widths[i] + len(_GAP) for i in block) - len(_GAP) > width and blocks[-1] != leading:
            blocks.append([*leading, place])
        else:
            blocks[-1] = block
    return blocks


def _text_block(
    table: Table, rows: list[tuple[str, ...]], widths: list[int], places: list[int]
) -> str:
    """Some columns of a table as lines, with a rule below the titles."""
    lines = []
    for place_of_row, cells in enumerate((table.headers, *rows)):
        wrapped = [textwrap.wrap(cells[place], widths[place]) or [""] for place in places]
        height = max(map(len, wrapped))
        is_header = place_of_row == 0
        for level in range(height):
            parts = []
            for place, texts in zip(places, wrapped, strict=True):
                index = level - (height - len(texts)) if is_header else level
                text = texts[index] if 0 <= index < len(texts) else ""
                blank = " " * (widths[place] - cell_len(text))
                parts.append(blank + text if table.columns[place].is_number else text + blank)
            lines.append(_GAP.join(parts).rstrip())
        if is_header:
            lines.append("─" * (sum(widths[place] + len(_GAP) for place in places) - len(_GAP)))
    return "\n".join(lines)


def files_of(table: Table) -> dict[str, Callable[[Table], str]]:
    """How a table is written to files, by suffix; a long one to a CSV file only."""
    formats: dict[str, Callable[[Table], str]] = {".csv": as_csv}
    if len(table.rows) <= _PRINTED:
        formats |= {".md": as_markdown, ".tex": as_latex}
    return formats


def escape_markdown(text: str) -> str:
    r"""Plain text as Markdown shows it.

    >>> print(escape_markdown("a|b <c>"))
    a\|b \<c\>
    """
    one_line = " ".join(text.splitlines())
    return "".join(f"\\{letter}" if letter in _MARKDOWN_SPECIAL else letter for letter in one_line)
