"""Tables in HTML pages, and in the HTML that Markdown files contain."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

from edgecil.errors import DataError
from edgecil.runs.cells.cell_table import CellTable
from edgecil.runs.cells.file_text import CELLS, decode, read_file_text, suffix_of
from edgecil.runs.cells.published_text import plain_cell
from edgecil.runs.cells.span_grid import SpanCell, grid_of, grid_table

FORM = "HTML table"
_TABLE = re.compile(r"<table[\s>]", re.IGNORECASE)
_HIDDEN = ("script", "style")


def recognises(path: Path, head: bytes) -> bool:
    """Return whether a file is an HTML page, or starts with a table."""
    if suffix_of(path) in (".html", ".htm", ".xhtml"):
        return True
    text = (decode(head) or "").lstrip().lower()
    is_markdown = suffix_of(path) in (".md", ".markdown", ".mdx", ".rmd")
    return not is_markdown and text.startswith(("<!doctype html", "<html", "<table"))


def read(path: Path) -> list[CellTable]:
    """Return the tables in a page."""
    tables = html_tables(read_file_text(path), str(path))
    if not tables:
        raise DataError(f"{path} has no table with rows.")
    if len(tables) == 1:
        return tables
    return [
        CellTable(
            table.form, table.source, table.header, table.rows, f"table {number}", table.caption
        )
        for number, table in enumerate(tables, start=1)
    ]


def html_tables(text: str, source: str, caption: str = "") -> list[CellTable]:
    """Return the tables in an HTML text that have a header and rows."""
    if not _TABLE.search(text):
        return []
    parser = _TableParser(source)
    parser.feed(text)
    parser.close()
    tables = []
    for title, rows in parser.tables:
        filled = [row for row in rows if row]
        if len(filled) < 2:
            continue
        header_rows = 1
        while header_rows < len(filled) - 1 and all(cell.is_header for cell in filled[header_rows]):
            header_rows += 1
        header_rows = max(header_rows, max(cell.rows for cell in filled[0]))
        if header_rows >= len(filled):
            continue
        grid = grid_of(filled, source)
        tables.append(
            grid_table(FORM, source, grid, header_rows=header_rows, caption=title or caption)
        )
    return tables


class _TableParser(HTMLParser):
    """Collects the rows of tables; a table inside a cell is part of the cell's text."""

    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=True)
        self.source = source
        self.tables: list[tuple[str, list[list[SpanCell]]]] = []
        self.depth = 0
        self.cells = 0
        self.hidden = 0
        self.heading = ""
        self.text: list[str] | None = None
        self.spans = (1, 1, False)
        self.is_caption = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Open a table, a row, a cell or a caption."""
        attributes = dict(attrs)
        if tag in _HIDDEN:
            self.hidden += 1
        elif tag == "table":
            self.depth += 1
            if self.depth == 1:
                self.tables.append((self.heading, []))
        elif tag == "tr" and self.depth == 1:
            self._end_cell()
            self.tables[-1][1].append([])
        elif tag in ("td", "th") and self.depth == 1:
            self._end_cell()
            if not self.tables[-1][1]:
                self.tables[-1][1].append([])
            self.text = []
            self.spans = (_span(attributes, "colspan"), _span(attributes, "rowspan"), tag == "th")
        elif tag in ("caption", "h1", "h2", "h3", "h4") and self.depth <= 1:
            self.text = []
            self.is_caption = True
        elif tag == "br" and self.text is not None:
            self.text.append(" ")
        elif tag in ("sub", "sup") and self.text is not None:
            self.text.append("_{" if tag == "sub" else "^{")

    def handle_endtag(self, tag: str) -> None:
        """Close what is open."""
        if tag in _HIDDEN:
            self.hidden = max(0, self.hidden - 1)
        elif tag == "table" and self.depth:
            if self.depth == 1:
                self._end_cell()
            self.depth -= 1
        elif tag in ("td", "th", "tr") and self.depth == 1:
            self._end_cell()
        elif tag in ("caption", "h1", "h2", "h3", "h4") and self.is_caption:
            title = plain_cell("".join(self.text or []))
            self.text = None
            self.is_caption = False
            if self.depth == 1:
                self.tables[-1] = (title, self.tables[-1][1])
            else:
                self.heading = title
        elif tag in ("sub", "sup") and self.text is not None:
            self.text.append("}")

    def handle_data(self, data: str) -> None:
        """Add text to the open cell."""
        if self.text is not None and not self.hidden:
            self.text.append(data)

    def _end_cell(self) -> None:
        if self.text is None or self.is_caption:
            return
        columns, rows, is_header = self.spans
        self.cells += 1
        CELLS.check(self.source, self.cells)
        cell = SpanCell(plain_cell("".join(self.text)), columns, rows, is_header)
        self.tables[-1][1][-1].append(cell)
        self.text = None


def _span(attributes: dict[str, str | None], name: str) -> int:
    """Return how many columns or rows a cell spans; browsers allow 1,000 columns."""
    text = attributes.get(name) or "1"
    is_whole = text.isascii() and text.isdigit() and len(text) < 6
    return max(1, min(int(text), 1000)) if is_whole else 1
