"""Sheets of Excel files (`.xlsx`): their cells as text, a table for each sheet.

Such a file is an archive of XML. Only values are read: results of formulas as they were stored, no
macros and no links to other files. A table begins with its header; tables that stand side by side
have an empty column between them.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.etree import ElementTree

from edgecil.errors import DataError
from edgecil.io import limits
from edgecil.io.files import readable
from edgecil.runs.cells.cell_table import CellTable
from edgecil.runs.cells.delimited_text import split_header
from edgecil.runs.cells.file_text import CELLS
from edgecil.runs.cells.text_cells import text_table

FORM = "Excel sheet"
_ARCHIVE = b"PK\x03\x04"
_BOOK = "xl/workbook.xml"
_LINKS = "xl/_rels/workbook.xml.rels"
_TEXTS = "xl/sharedStrings.xml"
_REFERENCE = re.compile(r"([A-Z]{1,3})\d{1,7}")
_MOST_COLUMNS = 16_384
_FORBIDDEN = re.compile(rb"<!(DOCTYPE|ENTITY)", re.IGNORECASE)
_ID = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"


def recognises(path: Path, head: bytes) -> bool:
    """Return whether a file is a workbook."""
    return head.startswith(_ARCHIVE) and path.suffix.lower() in (".xlsx", ".xlsm")


def read(path: Path) -> list[CellTable]:
    """Return the tables of the sheets that have one."""
    tables = []
    with readable(path, "an Excel file"), zipfile.ZipFile(path) as archive:
        limits.TEXT.check(str(path), sum(info.file_size for info in archive.infolist()))
        texts = [_text(item) for item in _root(archive, _TEXTS, path, is_required=False)]
        sheets = list(_sheets(archive, path))
        for name, part in sheets:
            blocks = _blocks(_rows(_root(archive, part, path), texts, path))
            for number, rows in enumerate(blocks, start=1):
                header, below = split_header(rows, [], "\t")
                numbered = f"table {number}" if len(blocks) > 1 else ""
                place = ", ".join(filter(None, (name if len(sheets) > 1 else "", numbered)))
                tables.append(text_table(FORM, str(path), header, below, place=place))
    if not tables:
        raise DataError(f"{path} has no sheet with a header and rows; give a file with results.")
    return tables


def _root(
    archive: zipfile.ZipFile, part: str, path: Path, *, is_required: bool = True
) -> ElementTree.Element:
    """Return the XML of a part; one that defines entities is refused."""
    if part not in archive.namelist():
        if is_required:
            raise DataError(f"{path} lacks its part {part}; save it again.")
        return ElementTree.Element("empty")
    content = archive.read(part)
    if _FORBIDDEN.search(content):
        raise DataError(f"{path} defines entities, which no workbook does; save it as CSV.")
    try:
        return ElementTree.fromstring(content)
    except ElementTree.ParseError as error:
        raise DataError(f"{path} has XML that cannot be read in {part}; save it again.") from error


def _sheets(archive: zipfile.ZipFile, path: Path) -> Iterator[tuple[str, str]]:
    """Yield name and part of each sheet, in the order of the workbook."""
    targets = {link.get("Id"): link.get("Target", "") for link in _root(archive, _LINKS, path)}
    for sheet in _root(archive, _BOOK, path).iter():
        if _tag(sheet) == "sheet" and sheet.get(_ID) in targets:
            target = targets[sheet.get(_ID)].lstrip("/")
            yield sheet.get("name", ""), target if target.startswith("xl/") else f"xl/{target}"


def _rows(sheet: ElementTree.Element, texts: Sequence[str], path: Path) -> list[list[str]]:
    """Return the rows with cells, all of one width."""
    rows: list[dict[int, str]] = []
    for row in sheet.iter():
        if _tag(row) != "row":
            continue
        cells: dict[int, str] = {}
        for place, cell in enumerate(row):
            reference = _REFERENCE.fullmatch(cell.get("r", ""))
            column = _column(reference[1]) if reference else place
            value = _value(cell, texts)
            if value and column < _MOST_COLUMNS:
                cells[column] = value
        if cells:
            rows.append(cells)
    width = max((max(cells) + 1 for cells in rows), default=0)
    CELLS.check(str(path), width * len(rows))
    return [[cells.get(column, "") for column in range(width)] for cells in rows]


def _blocks(rows: Sequence[Sequence[str]]) -> list[list[list[str]]]:
    """Return the tables that stand side by side in a sheet, with an empty column between them."""
    blocks: list[list[list[str]]] = []
    start = 0
    width = len(rows[0]) if rows else 0
    for column in range(width + 1):
        if column < width and any(row[column] for row in rows):
            continue
        cells = [list(row[start:column]) for row in rows if any(row[start:column])]
        if len(cells) > 1:
            blocks.append(cells)
        start = column + 1
    return blocks


def _value(cell: ElementTree.Element, texts: Sequence[str]) -> str:
    if cell.get("t") == "inlineStr":
        return _text(cell)
    value = next((child.text or "" for child in cell if _tag(child) == "v"), "")
    if cell.get("t") == "s":
        is_number = value.isascii() and value.isdigit() and int(value) < len(texts)
        return texts[int(value)] if is_number else ""
    return value


def _text(item: ElementTree.Element) -> str:
    """Return the text of an element whose parts may have formats of their own."""
    return "".join(part.text or "" for part in item.iter() if _tag(part) == "t")


def _tag(element: ElementTree.Element) -> str:
    """Return the name of an element without its namespace."""
    return element.tag.rpartition("}")[2]


def _column(letters: str) -> int:
    """Return the number of a column: A is 0, AA is 26."""
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number - 1
