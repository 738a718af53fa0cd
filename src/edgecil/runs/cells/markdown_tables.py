"""Tables in Markdown files, with the headings and sentences above them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from edgecil.errors import DataError
from edgecil.runs.cells.cell_table import CellTable
from edgecil.runs.cells.file_text import CELLS, decode, read_file_text, suffix_of
from edgecil.runs.cells.html_tables import html_tables
from edgecil.runs.cells.published_text import plain_cell
from edgecil.runs.cells.text_cells import is_number_text, join_header, text_table

if TYPE_CHECKING:
    from markdown_it.token import Token

FORM = "Markdown table"
_RULE = re.compile(r"^[ \t]*\|?[ \t]*:?-+:?[ \t]*(\|[ \t]*:?-+:?[ \t]*)+\|?[ \t]*$", re.MULTILINE)
_RULE_FIRST = re.compile(rf"(?:\A|\n[ \t]*\r?\n){_RULE.pattern.lstrip('^')}", re.MULTILINE)
_LONGEST_CAPTION = 600


def recognises(path: Path, head: bytes) -> bool:
    """Return whether a file is Markdown, or a text with a table in Markdown."""
    if suffix_of(path) in (".md", ".markdown", ".mdx", ".rmd"):
        return True
    if suffix_of(path) in (".csv", ".tsv", ".tex", ".html", ".htm", ".json", ".jsonl"):
        return False
    text = decode(head)
    if text is None or _RULE_FIRST.search(text):  # the frame of a printed table
        return False
    return _RULE.search(text) is not None


def read(path: Path) -> list[CellTable]:
    """Return the tables in a file, in their order."""
    from markdown_it import MarkdownIt

    text = read_file_text(path)
    CELLS.check(str(path), text.count("|"))
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    tables = _tables(tokens, str(path))
    if not tables:
        raise DataError(f"{path} has no table with rows; give a file with results.")
    if len(tables) == 1:
        return tables
    return [
        CellTable(
            table.form, table.source, table.header, table.rows, f"table {number}", table.caption
        )
        for number, table in enumerate(tables, start=1)
    ]


def _tables(tokens: Sequence[Token], source: str) -> list[CellTable]:
    tables: list[CellTable] = []
    headings: dict[int, str] = {}
    sentence = ""
    rows: list[list[str]] = []
    heading_level = 0
    is_in_cell = False
    for token in tokens:
        if token.type == "heading_open":
            heading_level = int(token.tag[1])
        elif token.type == "heading_close":
            heading_level = 0
            sentence = ""
        elif token.type == "table_open":
            rows = []
        elif token.type == "tr_open":
            rows.append([])
        elif token.type in ("th_open", "td_open", "th_close", "td_close"):
            is_in_cell = token.type.endswith("_open")
        elif token.type == "inline" and is_in_cell:
            rows[-1].append(_text(token))
        elif token.type == "inline" and heading_level:
            headings = {level: text for level, text in headings.items() if level < heading_level}
            headings[heading_level] = _text(token)
        elif token.type == "inline":
            sentence = _text(token)
        elif token.type == "html_block":
            tables.extend(html_tables(token.content, source, _caption(headings, sentence)))
        elif token.type == "table_close" and len(rows) > 1:
            caption = _caption(headings, sentence)
            header, results = _split_header(rows)
            tables.append(text_table(FORM, source, header, results, caption=caption))
            sentence = ""
    return tables


def _split_header(rows: list[list[str]]) -> tuple[list[str], list[list[str]]]:
    """Return the names of the columns and the rows below them.

    Markdown has no cells over several columns: a name above several has empty cells on its right,
    and a row of names below it.

    >>> _split_header([["", "A", ""], ["method", "x", "y"], ["ours", "1", "2"]])
    (['method', 'A / x', 'A / y'], [['ours', '1', '2']])
    """
    first, second = rows[:2]
    has_spans = "" in first[2:]
    if not has_spans or len(rows) < 3 or not all(second[1:]) or any(map(is_number_text, second)):
        return first, rows[1:]
    spanning = first[:2]
    for name in first[2:]:
        spanning.append(name or spanning[-1])
    return join_header([spanning, second]), rows[2:]


def _text(token: Token) -> str:
    """Return the text of a line: without emphasis, links and images."""
    parts = []
    for child in token.children or []:
        if child.type in ("softbreak", "hardbreak"):
            parts.append(" ")
        elif child.type in ("text", "code_inline", "html_inline", "image"):
            parts.append(child.content)
    return plain_cell("".join(parts))


def _caption(headings: dict[int, str], sentence: str) -> str:
    """Return the headings above a table, from the widest on, and the sentence before it."""
    parts = [*(headings[level] for level in sorted(headings)), sentence[:_LONGEST_CAPTION]]
    return ". ".join(part.rstrip(".:") for part in parts if part)
