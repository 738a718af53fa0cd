"""Tables printed as text: in frames of `+---+` and `|`, by lines of dashes, in aligned columns.

Method        Avg acc      Forgetting
--------------------------------------
ER (500)      80.5±1.5     12.3±0.4
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from edgecil.errors import DataError
from edgecil.runs.cells.cell_table import Cell, CellTable
from edgecil.runs.cells.file_text import CELLS, decode, read_file_text, suffix_of
from edgecil.runs.cells.text_cells import is_number_text, text_table

FORM = "printed table"
_SUFFIXES = ("", ".txt", ".log", ".out", ".rst")
_FRAME = re.compile(r"[|│┃║]")
_RULE_CHARACTERS = frozenset(" \t+|│┃║├┤┼┬┴┌┐└┘╔╗╚╝╠╣╬╦╩─━═:=_-")
_DASHES = re.compile(r"[-─━═=_]{3,}")
_GAP = re.compile(r"\s{2,}|\t")
_NUMBER = r"[+-]?\d[\d.,]*(?:[eE][+-]?\d+)?%?"
_SPREAD = re.compile(rf"({_NUMBER})\s*(±|\+/-)\s*({_NUMBER})")
_SPREAD_WORDS = re.compile(r"±|\bmean\b|\bstd\b|\bstandard\b|\bseeds\b|\bruns\b", re.IGNORECASE)
_SETTING = re.compile(
    r"\s*((?:number of |num[ _]?|n[ _]?)?(?:seeds?|runs?|trials?|datasets?|benchmark|model|epochs?|"
    r"tasks?|buffer|memory|backbone)(?:[ _]size)?)\s*:\s+(\S.{0,200}?)\s*",
    re.IGNORECASE,
)
_VALUE_IN_NAME = re.compile(r":\s|\d\.\d|\d%")
_LONGEST_LINE = 2000
_MOST_TITLES = 3  # lines above the header of a table
_MOST_LINES = 100_000


def recognises(path: Path, head: bytes) -> bool:
    """Return whether most lines of a text belong to printed tables."""
    text = decode(head)
    if text is None or suffix_of(path) not in _SUFFIXES:
        return False
    lines = [line for line in text.splitlines() if line.strip()]
    in_tables = sum(len(block) for _, block in _blocks(lines) if _cells_of(block) is not None)
    return len(lines) > 1 and in_tables * 2 > len(lines)


def read(path: Path) -> list[CellTable]:
    """Return the tables in a text, in their order."""
    tables = printed_tables(read_file_text(path), str(path))
    if not tables:
        raise DataError(f"{path} has no table with rows; give a file with results.")
    return tables


def printed_tables(text: str, source: str) -> list[CellTable]:
    """Return the tables in a text.

    The caption of a table is the line above it, and the line below it that speaks of its spreads;
    lines such as "Seeds: 0, 1, 2" outside tables are facts of all.
    """
    lines = text.splitlines()
    if len(lines) > _MOST_LINES:
        return []
    tables: list[CellTable] = []
    facts: dict[str, Cell] = {}
    for caption, block in _blocks(lines):
        cells = _cells_of(block)
        if cells is not None:
            CELLS.check(source, len(cells) * len(cells[0]))
            tables.append(text_table(FORM, source, cells[0], cells[1:], caption=caption))
            continue
        if tables and len(block) == 1 and _SPREAD_WORDS.search(block[0]):
            below = block[0].strip()
            tables[-1] = replace(tables[-1], caption=f"{tables[-1].caption} {below}".strip())
        facts |= {name.strip(): value.strip() for name, value in _settings(block)}
    tables = [replace(table, facts=facts) for table in tables]
    if len(tables) < 2:
        return tables
    return [replace(table, place=f"table {number}") for number, table in enumerate(tables, start=1)]


def _blocks(lines: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield lines that follow one another without a blank one, and the line before them."""
    block: list[str] = []
    caption = before = ""
    for line in [*lines, ""]:
        if line.strip() and len(line) <= _LONGEST_LINE:
            if not block:
                caption = before
            block.append(line)
        elif block:
            yield caption, block
            before = block[-1].strip() if len(block) == 1 else ""
            block = []


def _settings(block: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield names and values of the lines of a block that are settings."""
    for line in block:
        match = _SETTING.fullmatch(line)
        if match:
            yield match[1], match[2]


def _cells_of(block: Sequence[str]) -> list[list[str]] | None:
    """Return header and rows of a block of lines; None if it is no table."""
    rules = [number for number, line in enumerate(block) if _is_rule(line)]
    for read_rows in (_framed_rows, _ruled_rows, _aligned_rows):
        rows = read_rows(block, rules)
        if rows is not None and len(rows) > 1 and _has_numbers(rows):
            return rows
    return None


def _is_rule(line: str) -> bool:
    return _RULE_CHARACTERS.issuperset(line) and _DASHES.search(line) is not None


def _has_numbers(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the header has names, and the rows below it numbers in most places."""
    # Settings, one in each line: "epochs: 3", "epochs   : 3".
    is_setting = rows[0][0].endswith(":") or any(cell.startswith(":") for cell in rows[0])
    if any(map(_VALUE_IN_NAME.search, rows[0])):
        return False
    if len(rows[0]) < 2 or is_setting or sum(map(is_number_text, rows[0])) * 2 >= len(rows[0]):
        return False
    cells = [cell for row in rows[1:] for cell in row[1:] if cell.strip()]
    return bool(cells) and sum(map(is_number_text, cells)) * 2 > len(cells)


def _framed_rows(block: Sequence[str], rules: Sequence[int]) -> list[list[str]] | None:
    """Return the cells between vertical lines."""
    rows = []
    groups: list[list[list[str]]] = []
    for number, line in enumerate(block):
        if number in rules or not _FRAME.search(line):
            groups.append([])
            continue
        rows.append([cell.strip() for cell in _FRAME.split(line.strip().strip("|│┃║"))])
        if groups:
            groups[-1].append(rows[-1])
    widths = {len(row) for row in rows}
    if len(rows) < 2 or len(widths) != 1 or widths == {1}:
        return None
    _spread_labels([group for group in groups if group and group[0] is not rows[0]])
    return rows


def _spread_labels(groups: Sequence[list[list[str]]]) -> None:
    """Write the label of a group, printed in one of its rows, into all of them.

    Groups are divided by rules; a column has labels if it has one cell in every group.
    """
    if not groups or max(map(len, groups)) < 2:
        return
    for place in range(len(groups[0][0])):
        labels = [[row[place] for row in group if row[place]] for group in groups]
        if any(len(names) != 1 or is_number_text(names[0]) for names in labels):
            continue
        for group, (label,) in zip(groups, labels, strict=True):
            for row in group:
                row[place] = label


def _ruled_rows(block: Sequence[str], rules: Sequence[int]) -> list[list[str]] | None:
    """Return the cells over and under the dashes of a rule that has a gap between columns."""
    for number in rules:
        spans = [match.span() for match in _DASHES.finditer(block[number])]
        if number == 0 or len(spans) < 2:
            continue
        starts = [start for start, _ in spans]
        ends = [*starts[1:], _LONGEST_LINE]
        lines = [block[number - 1], *(line for line in block[number + 1 :])]
        return [
            [line[start:end].strip() for start, end in zip(starts, ends, strict=True)]
            for line in lines
            if not _is_rule(line)
        ]
    return None


def _aligned_rows(block: Sequence[str], rules: Sequence[int]) -> list[list[str]] | None:
    """Return the cells of a header whose names have gaps, and of the rows below it.

    Cells of rows are divided by gaps, too, or rows end in as many numbers as the header has names
    for. Rows with one cell more than the header begin with their number, as pandas prints them.
    """
    lines = [line for number, line in enumerate(block) if number not in rules]
    for start, line in enumerate(lines[:-1][:_MOST_TITLES]):
        header = [name for name in _GAP.split(line.strip()) if name]
        texts = [_SPREAD.sub(r"\1±\3", row.strip()) for row in lines[start + 1 :]]
        if len(header) < 2:
            continue
        by_gaps = [[cell for cell in _GAP.split(text) if cell] for text in texts]
        widths = {len(row) for row in by_gaps}
        if widths == {len(header)}:
            return [header, *by_gaps]
        if widths == {len(header) + 1}:
            return [["", *header], *by_gaps]
        by_numbers = [_name_and_numbers(text, len(header) - 1) for text in texts]
        rows = [row for row in by_numbers if row is not None]
        if len(rows) == len(texts):
            return [header, *rows]
    return None


def _name_and_numbers(text: str, count: int) -> list[str] | None:
    """Return the name at the beginning of a row and the numbers at its end."""
    words = text.split()
    name = " ".join(words[:-count])
    numbers = words[-count:]
    is_row = name != "" and len(numbers) == count and all(map(is_number_text, numbers))
    return [name, *numbers] if is_row else None
