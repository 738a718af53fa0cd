"""CSV and its relatives: tabs, semicolons, blanks, comments, several header rows."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from edgecil.errors import DataError
from edgecil.io.csv_files import parse_rows, unescape
from edgecil.runs.cells.cell_table import Cell, CellTable
from edgecil.runs.cells.file_text import CELLS, decode, read_file_text, suffix_of
from edgecil.runs.cells.literal_cells import unpack_literal_cells
from edgecil.runs.cells.text_cells import is_number_text, join_header, text_table

_SUFFIXES = (".csv", ".tsv", ".tab")
_OTHER_FORMS = (".md", ".markdown", ".tex", ".json", ".jsonl", ".html", ".htm", ".py", ".yaml")
_NAMES = {"\t": "TSV", ";": "CSV with semicolons", ",": "CSV", " ": "text in columns"}
_SETTING = re.compile(r"([A-Za-z_][\w .-]{0,40}?)\s*[:=]\s*(\S.{0,200})")
_LINES_OF_HEAD = 40


def recognises(path: Path, head: bytes) -> bool:
    """Return whether a file is delimited text: by its suffix, or because all lines agree."""
    text = decode(head)
    if text is None or suffix_of(path) in _OTHER_FORMS:
        return False
    if suffix_of(path) in _SUFFIXES:
        return True
    lines = text.splitlines()[:_LINES_OF_HEAD]
    if len(text.encode()) >= len(head) - 3 and len(lines) < _LINES_OF_HEAD:
        content = lines
    else:
        content = lines[:-1]
    rows = [line for line in content if line.strip() and not line.startswith("#")]
    delimiters = _consistent_delimiters(rows) if len(rows) > 1 else []
    return bool(delimiters) and _has_numbers(rows, delimiters[0])


def read(path: Path) -> list[CellTable]:
    """Return the table in a file of delimited text."""
    lines = _split_comments(read_file_text(path))
    if not lines.rows:
        raise DataError(f"{path} is empty; it requires a header line and one line for each run.")
    delimiter = _delimiter(lines.rows, suffix_of(path))
    rows = _parse(lines.rows, delimiter, path)
    rows, titles = _without_titles(rows)
    header, rows = split_header(rows, lines.comments, delimiter)
    _check_widths(path, header, rows)
    header, rows = _without_empty_columns(header, rows)
    table = text_table(
        _NAMES[delimiter],
        str(path),
        header,
        [row for row in rows if row != header],
        caption=" ".join([*titles, *(text for text in lines.comments if "," not in text)]),
        facts=_facts(lines.comments),
        delimiter=delimiter,
    )
    if not table.rows:
        raise DataError(f"{path} contains no runs; write a line for each below its header.")
    return unpack_literal_cells(table)


@dataclass(frozen=True)
class _Lines:
    """The lines of a file that hold cells, and the text of those that begin with `#`."""

    rows: list[str]
    comments: list[str]


def _split_comments(text: str) -> _Lines:
    rows: list[str] = []
    comments: list[str] = []
    for line in io.StringIO(text, newline=""):
        if line.startswith("#"):
            comments.append(line.lstrip("#").strip())
        elif line.startswith("sep=") and not rows:
            continue  # a spreadsheet's note of the delimiter
        else:
            rows.append(line)
    return _Lines(rows if any(line.strip() for line in rows) else [], comments)


def _split(line: str, delimiter: str) -> list[str]:
    if delimiter == " ":
        return line.split()
    try:
        return next(csv.reader([line], delimiter=delimiter, skipinitialspace=True), [])
    except csv.Error:
        return []


def _consistent_delimiters(lines: Sequence[str]) -> list[str]:
    """Return the delimiters that cut all lines into as many cells, more than one."""
    delimiters = []
    for delimiter in ("\t", ";", ","):
        widths = {len(_split(line.rstrip("\r\n"), delimiter)) for line in lines}
        if len(widths) == 1 and widths.pop() > 1:
            delimiters.append(delimiter)
    widths = {len(line.split()) for line in lines}
    numbers = [is_number_text(cell) for line in lines[1:] for cell in line.split()]
    if not delimiters and len(widths) == 1 and numbers and sum(numbers) * 2 > len(numbers):
        delimiters.append(" ")
    return delimiters


def _has_numbers(lines: Sequence[str], delimiter: str) -> bool:
    """Return whether a third of the cells below the header are numbers; sentences have few."""
    rows = [_split(line.rstrip("\r\n"), delimiter) for line in lines[1:]]
    cells = [cell.strip() for row in rows for cell in row if cell.strip()]
    return sum(map(is_number_text, cells)) * 3 >= len(cells) > 0


def _delimiter(lines: Sequence[str], suffix: str) -> str:
    """Return the delimiter: one that cuts all lines alike, else one that cuts the first line."""
    filled = [line for line in lines if line.strip()]
    consistent = _consistent_delimiters(filled)
    if consistent:
        return consistent[0]
    counts = {mark: len(_split(filled[0], mark)) for mark in ("\t", ";", ",")}
    if suffix in (".tsv", ".tab") and counts["\t"] > 1:
        return "\t"
    widest = max(counts, key=lambda mark: counts[mark])
    if counts[widest] > 1:
        return widest
    # The first line may be a title.
    later = Counter(mark for line in filled[1:20] for mark in counts if mark in line)
    return later.most_common(1)[0][0] if later else ","


def _parse(lines: Sequence[str], delimiter: str, path: Path) -> list[list[str]]:
    rows = []
    cells = 0
    parsed = (
        (line.split() for line in lines if line.strip())
        if delimiter == " "
        else parse_rows("".join(lines), str(path), delimiter)
    )
    for row in parsed:
        cells += len(row)
        CELLS.check(str(path), cells)
        if any(cell.strip() for cell in row):
            rows.append([unescape(cell.strip()) for cell in row])
    return rows


def _without_titles(rows: list[list[str]]) -> tuple[list[list[str]], list[str]]:
    """Return the rows from the header on, and the titles above it: lines of a single cell."""
    width = Counter(len(row) for row in rows).most_common(1)[0][0]
    titles = []
    while width > 1 and len(rows) > 2 and sum(map(bool, rows[0])) == 1 and len(rows[0]) != width:
        titles.append(next(filter(None, rows[0])))
        rows = rows[1:]
    return rows, titles


def split_header(
    rows: list[list[str]], comments: Sequence[str], delimiter: str
) -> tuple[list[str], list[list[str]]]:
    """Return the names of the columns and the rows below them."""
    first = rows[0]
    if _is_data(rows):
        for comment in reversed(comments):
            names = [name.strip() for name in _split(comment, delimiter)]
            if len(names) == len(first) and not any(map(is_number_text, names)):
                return names, rows
        return [""] * len(first), rows
    named = [name for name in first if name]
    has_levels = len(set(named)) < len(named) or len(named) < len(first) - 1
    levels = [first]
    while has_levels and len(rows) > len(levels) + 1 and _is_level(rows[len(levels)], len(first)):
        levels.append(rows[len(levels)])
    if len(levels) == 1:
        return first, rows[1:]
    names = [name for name in levels[-1] if name]
    is_index = len(levels) > 2 and len(names) < len(first) and levels[-1][0] != ""
    if not is_index:
        return join_header(levels), rows[len(levels) :]
    # pandas writes the names of its index in a row of their own.
    header = join_header(levels[:-1])
    for place, name in enumerate(levels[-1]):
        header[place] = name or header[place]
    return header, rows[len(levels) :]


def _is_data(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the first row has values, not names: numbers that are no plain counts."""
    first = [cell for cell in rows[0] if cell]
    if not first or not all(is_number_text(cell) for cell in first):
        return False
    are_whole = all(re.fullmatch(r"\d+", cell) for cell in first)
    is_repeated = len(set(first)) < len(first)
    cells_below = [cell for row in rows[1:] for cell in row if cell]
    all_whole = all(re.fullmatch(r"\d+", cell) for cell in cells_below)
    return not are_whole or is_repeated or all_whole


def _is_level(row: Sequence[str], width: int) -> bool:
    return len(row) == width and not any(is_number_text(cell) for cell in row)


def _check_widths(path: Path, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    for number, row in enumerate(rows, start=2):
        if len(row) != len(header):
            raise DataError(
                f"Row {number} of {path} has {len(row)} cells, not {len(header)}; write one for "
                "each column."
            )


def _without_empty_columns(
    header: list[str], rows: list[list[str]]
) -> tuple[list[str], list[list[str]]]:
    """Leave out columns without a name and without cells, which trailing delimiters make."""

    def has_cells(place: int) -> bool:
        return any(row[place] for row in rows)

    kept = [place for place, name in enumerate(header) if name or has_cells(place)]
    return [header[place] for place in kept], [[row[place] for place in kept] for row in rows]


def _facts(comments: Sequence[str]) -> dict[str, Cell]:
    """Return the settings in comments, such as `seed: 1993`."""
    matches = [_SETTING.fullmatch(comment) for comment in comments]
    return {match[1].strip(): match[2].strip() for match in matches if match}
