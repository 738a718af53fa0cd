"""Decimal commas, written as points where a table shows that its commas are decimal."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_BEFORE = r"(?:^|(?<=[\s(±+\-−~*]))"
_AFTER = r"(?=$|[\s)%±*†‡])"
_COMMA = re.compile(rf"{_BEFORE}[+\-−]?(\d+),(\d+)(?:[eE][+-]?\d+)?{_AFTER}")
_POINT = re.compile(rf"{_BEFORE}[+\-−]?\d*\.\d+(?:[eE][+-]?\d+)?{_AFTER}")
_BOTH = re.compile(rf"{_BEFORE}[+\-−]?\d{{1,3}}(?:\.\d{{3}})+,\d+{_AFTER}")  # 1.234,5


def decimal_commas_to_points(
    rows: Sequence[Sequence[str]], *, delimiter: str = ""
) -> list[list[str]]:
    """Return cells with points in place of decimal commas, if the commas are decimal.

    They are if no cell has a decimal point and some comma cannot stand between thousands, as in
    `80,5`, or if columns are separated by semicolons, as spreadsheets do where commas are decimal.

    >>> decimal_commas_to_points([["er", "80,5 ± 1,5"]]), decimal_commas_to_points([["5,898"]])
    ([['er', '80.5 ± 1.5']], [['5,898']])
    """
    cells = [cell for row in rows for cell in row]
    if not _are_decimal(cells, delimiter):
        return [list(row) for row in rows]
    return [[_with_point(cell) for cell in row] for row in rows]


def _are_decimal(cells: Iterable[str], delimiter: str) -> bool:
    has_comma = False
    for cell in cells:
        if _BOTH.search(cell):
            return True
        if _POINT.search(cell):
            return False
        for match in _COMMA.finditer(cell):
            is_thousand = len(match[2]) == 3 and len(match[1]) <= 3 and match[1] != "0"
            has_comma = has_comma or not is_thousand or delimiter == ";"
    return has_comma


def _with_point(cell: str) -> str:
    if _BOTH.search(cell):
        cell = _BOTH.sub(lambda match: match[0].replace(".", ""), cell)
    return _COMMA.sub(lambda match: match[0].replace(",", "."), cell)
