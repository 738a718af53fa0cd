"""Tables in LaTeX: `tabular`, its relatives, and `longtable`.

Cells over several columns or rows stand in each place they cover. The rows above the first rule
that follows a row are the header. Commands that the file defines are replaced in cells by their
definitions, twice at most.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from edgecil.errors import DataError
from edgecil.runs.cells.cell_table import CellTable
from edgecil.runs.cells.file_text import CELLS, decode, read_file_text, suffix_of
from edgecil.runs.cells.published_text import plain_cell
from edgecil.runs.cells.span_grid import SpanCell, grid_of, grid_table
from edgecil.runs.cells.text_cells import is_number_text

FORM = "LaTeX table"
_ENVIRONMENTS = ("tabular", "tabular*", "tabularx", "tabulary", "longtable", "longtabu", "tabu")
_BEGIN = re.compile(
    r"\\begin\{(" + "|".join(re.escape(name) for name in _ENVIRONMENTS) + r")\}", re.ASCII
)
_BOUNDARY = re.compile(r"\\(begin|end)\{([A-Za-z]{1,20}\*?)\}")
_COMMENT = re.compile(r"(?<!\\)%.*")
_RULE = re.compile(r"\\(?:toprule|midrule|bottomrule|hline|hhline|Xhline|thickhline|specialrule)\b")
_PARTIAL_RULE = re.compile(
    r"\\(?:cmidrule|cline|cdashline|addlinespace|rowcolor|noalign|arrayrulecolor|morecmidrules"
    r"|endhead|endfirsthead|endfoot|endlastfoot|hdashline|rowfont)\b"
)
_SPAN = re.compile(r"\s*\\(multicolumn|multirow)\s*(?:\[[^\]]{0,40}\])?\s*")
_CAPTION = re.compile(r"\\caption\*?\s*(?:\[[^\]]{0,2000}\])?\s*(?=\{)")
_DEFINITION = re.compile(
    r"\\(?:re|provide)?newcommand\*?\s*\{?\s*\\([A-Za-z]{1,40})\s*\}?\s*(?:\[(\d)\])?\s*(?=\{)"
)
_COMMAND = re.compile(r"\\([A-Za-z]{1,40})")
_TABLE_BEGIN = re.compile(r"\\begin\{(?:table\*?|wraptable|sidewaystable\*?|minipage)\}")
_TOKEN = re.compile(
    r"\\(?:begin|end)\{[A-Za-z]{1,20}\*?\}"
    r"|(?P<row_end>\\\\\*?(?:\[[^\]\n]{0,20}\])?|\\tabularnewline\b)"
    r"|\\.|[{}&]",
    re.DOTALL,
)
_MOST_TABLES = 1000
_LONGEST_DEFINITION = 500
_LONGEST_CELL = 20_000
_LONGEST_CAPTION = 2000
_SUFFIXES = (".tex", ".latex", ".ltx")
_OTHER_SUFFIXES = (".md", ".markdown", ".html", ".htm", ".csv", ".tsv", ".json", ".jsonl", ".py")


def recognises(path: Path, head: bytes) -> bool:
    """Return whether a file is LaTeX, or a text with a table in LaTeX."""
    if suffix_of(path) in _SUFFIXES:
        return True
    text = decode(head)
    is_other = suffix_of(path) in _OTHER_SUFFIXES
    return text is not None and not is_other and _BEGIN.search(text) is not None


def read(path: Path) -> list[CellTable]:
    """Return the tables in a file, in their order."""
    text = _COMMENT.sub("", read_file_text(path))
    CELLS.check(str(path), text.count("&"))
    definitions = _definitions(text)
    tables = []
    for number, environment in enumerate(_environments(text)):
        if number == _MOST_TABLES:
            raise DataError(f"{path} has more than {_MOST_TABLES:,} tables; split the file.")
        table = _table(environment, definitions, str(path))
        if table is not None:
            tables.append(table)
    if not tables:
        raise DataError(f"{path} has no table with rows; give a file with results.")
    if len(tables) == 1:
        return tables
    return [replace(table, place=f"table {number}") for number, table in enumerate(tables, start=1)]


@dataclass(frozen=True)
class _Environment:
    """The text of a table, and its caption."""

    body: str
    caption: str


@dataclass
class _Row:
    """The texts of cells, and whether a rule over the whole width follows."""

    cells: list[str]
    has_rule_below: bool = False


@dataclass(frozen=True)
class _Definition:
    """A command of the file: how many arguments it has, and what it stands for."""

    arguments: int
    text: str


@dataclass
class _LatexCell:
    """The text of a cell, how many columns it covers, and rows: upwards if negative."""

    text: str
    columns: int = 1
    rows: int = 1


def _environments(text: str) -> Iterator[_Environment]:
    """Yield the tables of a text; a table inside a cell is part of the cell."""
    place = 0
    while begin := _BEGIN.search(text, place):
        depth = 0
        end = len(text)
        place = len(text)
        for boundary in _BOUNDARY.finditer(text, begin.start()):
            if boundary[2] not in _ENVIRONMENTS:
                continue
            depth += 1 if boundary[1] == "begin" else -1
            if depth == 0:
                end, place = boundary.start(), boundary.end()
                break
        body = _without_arguments(text[begin.end() : end], begin[1])
        yield _Environment(body, _caption(text, begin.start(), place))


def _without_arguments(text: str, environment: str) -> str:
    """Return the body of a table without the width and the columns that stand before it."""
    count = 2 if environment in ("tabular*", "tabularx", "tabulary") else 1
    place = 0
    while True:
        while text[place : place + 1].isspace():
            place += 1
        if text[place : place + 1] == "[":
            place = text.find("]", place) + 1 or len(text)
        elif text[place : place + 1] == "{" and count:
            place = _end_of_group(text, place)
            count -= 1
        else:
            return text[place:]


def _end_of_group(text: str, start: int) -> int:
    """Return the place behind the brace that closes the group which begins at `start`."""
    depth = 0
    place = start
    while place < len(text):
        character = text[place]
        if character == "\\":
            place += 1
        elif character == "{":
            depth += 1
        elif character == "}":
            depth -= 1
            if depth == 0:
                return place + 1
        place += 1
    return len(text)


def _caption(text: str, begin: int, end: int) -> str:
    """Return the caption of the float around a table, before or behind it."""
    floats = list(_TABLE_BEGIN.finditer(text, max(0, begin - 20_000), begin))
    start = floats[-1].start() if floats else begin
    stop = text.find(r"\end{table", end)
    match = _CAPTION.search(text, start, begin)
    if match is None:
        match = _CAPTION.search(text, begin, stop if floats and stop >= 0 else end)
    if match is None:
        return ""
    group = text[match.end() : _end_of_group(text, match.end())]
    return plain_cell(group[1:-1][:_LONGEST_CELL])[:_LONGEST_CAPTION]


def _rows(body: str) -> list[_Row]:
    """Return the rows of a table: cells between `&`, rows between two backslashes."""
    rows = [_Row([])]
    depth = 0  # of braces, and of environments inside a cell
    start = 0
    for token in _TOKEN.finditer(body):
        text = token[0]
        if text == "{" or text.startswith(r"\begin"):
            depth += 1
        elif text == "}" or text.startswith(r"\end{"):
            depth = max(0, depth - 1)
        elif depth == 0 and text == "&":
            rows[-1].cells.append(body[start : token.start()])
            start = token.end()
        elif depth == 0 and token["row_end"]:
            rows[-1].cells.append(body[start : token.start()])
            rows.append(_Row([]))
            start = token.end()
    rows[-1].cells.append(body[start:])
    return _without_rules(rows)


def _without_rules(rows: Sequence[_Row]) -> list[_Row]:
    """Return the rows with content; rules at their beginning are marked at the row above."""
    kept: list[_Row] = []
    for row in rows:
        first, has_rule = _split_rules(row.cells[0])
        if has_rule and kept:
            kept[-1].has_rule_below = True
        cells = [first, *row.cells[1:]]
        if any(cell.strip() for cell in cells):
            kept.append(_Row(cells))
    return kept


def _split_rules(cell: str) -> tuple[str, bool]:
    """Return the first cell of a row without rules, and whether one covers the whole width."""
    has_rule = False
    text = cell.lstrip()
    while match := _RULE.match(text) or _PARTIAL_RULE.match(text):
        has_rule = has_rule or _RULE.match(text) is not None
        text = text[match.end() :].lstrip()
        while text[:1] in ("[", "(", "{") and text:
            if text[0] == "{":
                end = _end_of_group(text, 0)
            else:
                end = text.find("]" if text[0] == "[" else ")") + 1 or len(text)
            text = text[end:].lstrip()
    return text, has_rule


def _definitions(text: str) -> dict[str, _Definition]:
    """Return the commands that a file defines; long ones are no formats of numbers."""
    definitions = {}
    for match in _DEFINITION.finditer(text):
        end = _end_of_group(text, match.end())
        content = text[match.end() + 1 : end - 1]
        if len(content) <= _LONGEST_DEFINITION:
            definitions[match[1]] = _Definition(int(match[2] or 0), content)
    return definitions


def _expand(text: str, definitions: dict[str, _Definition]) -> str:
    """Return a cell with the file's own commands replaced by what they stand for."""
    parts = []
    place = 0
    for match in _COMMAND.finditer(text):
        definition = definitions.get(match[1])
        if definition is None or match.start() < place:
            continue
        parts.append(text[place : match.start()])
        place = match.end()
        content = definition.text
        for number in range(1, definition.arguments + 1):
            if text[place : place + 1] != "{":
                break
            end = _end_of_group(text, place)
            content = content.replace(f"#{number}", text[place + 1 : end - 1])
            place = end
        parts.append(content)
    return "".join([*parts, text[place:]])[:_LONGEST_CELL]


def _span_cell(cell: str, definitions: dict[str, _Definition]) -> _LatexCell:
    """Return the text of a cell and the columns and rows that it covers."""
    text = cell[:_LONGEST_CELL]
    for _ in range(2):
        text = _expand(text, definitions) if definitions and "\\" in text else text
    result = _LatexCell("")
    while match := _SPAN.match(text):
        arguments, text = _span_arguments(text[match.end() :])
        count = arguments[0] if arguments else "1"
        number = int(count) if re.fullmatch(r"-?\d{1,3}", count, re.ASCII) else 1
        if match[1] == "multicolumn":
            result.columns = max(1, number)
        else:
            result.rows = number or 1
        text = (arguments[-1] if len(arguments) == 3 else "") + text
    result.text = plain_cell(text)
    return result


def _span_arguments(text: str) -> tuple[list[str], str]:
    """Return the three arguments of a span, and the text behind them; `*` is a width."""
    arguments: list[str] = []
    while len(arguments) < 3:
        text = text.lstrip()
        if text[:1] == "[":
            text = text[text.find("]") + 1 :]
        elif text[:1] == "*":
            arguments.append("*")
            text = text[1:]
        elif text[:1] == "{":
            end = _end_of_group(text, 0)
            arguments.append(text[1 : end - 1].strip())
            text = text[end:]
        else:
            break
    return arguments, text


def _table(
    environment: _Environment, definitions: dict[str, _Definition], source: str
) -> CellTable | None:
    """Return the table of an environment; None without rows below its header."""
    rows = _rows(environment.body)
    if len(rows) < 2:
        return None
    cells = [[_span_cell(cell, definitions) for cell in row.cells] for row in rows]
    spans = [[SpanCell(cell.text, cell.columns) for cell in row] for row in cells]
    grid = grid_of(spans, source)
    _fill_rows(grid, cells)
    header_rows = _header_rows(grid, [row.has_rule_below for row in rows])
    return grid_table(FORM, source, grid, header_rows=header_rows, caption=environment.caption)


def _fill_rows(grid: list[list[str]], rows: Sequence[Sequence[_LatexCell]]) -> None:
    """Write the text of cells over several rows into the empty places that they cover."""
    for number, row in enumerate(rows):
        column = 0
        for cell in row:
            direction = 1 if cell.rows > 0 else -1
            for distance in range(1, min(abs(cell.rows), len(grid))):
                covered = number + direction * distance
                if not 0 <= covered < len(grid) or grid[covered][column].strip():
                    break
                width = len(grid[covered])
                for place in range(column, min(column + cell.columns, width)):
                    grid[covered][place] = cell.text
            column += cell.columns


def _header_rows(grid: Sequence[Sequence[str]], rules: Sequence[bool]) -> int:
    """Return how many rows are the header: up to a rule, and single rows of names between rules."""
    count = next((number for number, rule in enumerate(rules, start=1) if rule), 1)
    if count >= len(grid) or any(is_number_text(cell) for cell in grid[count - 1][1:] if count > 1):
        count = 1
    while count < len(grid) - 1 and rules[count] and _is_names(grid[count]):
        count += 1
    return count


def _is_names(row: Sequence[str]) -> bool:
    """Return whether a row has different names, and no numbers."""
    names = [cell for cell in row if cell.strip()]
    return len(set(names)) > 1 and not any(is_number_text(cell) for cell in names)
