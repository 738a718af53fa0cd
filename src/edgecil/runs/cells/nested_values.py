"""Tables of nested values: lists and mappings of JSON, arrays, dictionaries in text.

- A list of mappings is a table with a row for each; inner mappings give columns `outer.inner`.
- A mapping is a table with one row; if its values are mappings of the same kind, their names become
  a column `key`, and so on inwards: `key 1`, `key 2`.
- Lists of numbers become long tables of their own, with the places in the list in columns of the
  role `index`, and with what stands beside them in their mapping. A permutation of 0, 1, … is one
  cell, such as "2 0 1".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from edgecil.errors import DataError
from edgecil.runs.cells.cell_table import Cell, CellTable
from edgecil.runs.cells.file_text import CELLS
from edgecil.runs.cells.named_matrices import named_matrix_table

_DEEPEST = 12
_PLACE = re.compile(r"[(\[]?\s*\d{1,9}(\s*[,\s]\s*\d{1,9})*\s*,?\s*[)\]]?")
_KEY = re.compile(r"key(?: \d{1,2})?")  # columns for the names of mappings
_LONGEST_CELL = 2000


def tables_of_values(value: Any, form: str, source: str, *, caption: str = "") -> list[CellTable]:
    """Return the tables in a nested value, which may have a caption."""
    tables = [replace(table, caption=caption) for table in _tables(value, form, source, "", {}, 0)]
    CELLS.check(source, sum(len(table.rows) * len(table.header) for table in tables))
    filled = [table for table in tables if table.rows and table.header]
    if not filled:
        raise DataError(f"{source} has no values; give a file with results.")
    return filled


def _tables(
    value: Any, form: str, source: str, place: str, facts: Mapping[str, Cell], depth: int
) -> Iterator[CellTable]:
    if depth > _DEEPEST:
        raise DataError(f"{source} has more than {_DEEPEST} levels of lists and objects.")
    if isinstance(value, Mapping):
        frame = _split_frame(value) or _column_frame(value)
        matrix = named_matrix_table(value, form, source, place, facts)
        if matrix is not None:
            yield matrix
        elif frame is not None:
            yield _rows_table(*frame, form, source, place, facts)
        elif _is_level(value):
            yield from _level_tables(value, form, source, place, facts, depth)
        elif value and all(_is_scalar_list(inner) for inner in value.values()):
            yield from _column_tables(value, form, source, place, facts)
        else:
            yield from _record_tables([value], form, source, place, facts, depth)
    elif _is_list(value) and value and all(isinstance(inner, Mapping) for inner in value):
        yield from _record_tables(value, form, source, place, facts, depth)
    elif _is_list(value) and len(value) > 1 and _has_header_row(value):
        header = [str(name) for name in value[0]]
        yield _rows_table(header, value[1:], form, source, place, facts)
    elif _is_list(value):
        yield _list_table(value, form, source, place, facts)
    elif isinstance(value, (str, int, float, bool)):
        yield _rows_table([place or "value"], [[value]], form, source, place, facts)


def _rows_table(
    header: Sequence[str],
    rows: Sequence[Sequence[Any]],
    form: str,
    source: str,
    place: str,
    facts: Mapping[str, Cell],
    roles: Mapping[str, str] | None = None,
) -> CellTable:
    cells = tuple(tuple(_cell(value) for value in row) for row in rows)
    return CellTable(form, source, tuple(header), cells, place, "", facts, roles or {})


def _split_frame(value: Mapping[str, Any]) -> tuple[list[str], list[Any]] | None:
    """Return header and rows of a DataFrame that pandas wrote with orient="split"."""
    columns, data = value.get("columns"), value.get("data")
    if not (isinstance(columns, list) and isinstance(data, list) and data):
        return None
    if not all(isinstance(row, list) and len(row) == len(columns) for row in data):
        return None
    return [str(name) for name in columns], data


def _column_frame(value: Mapping[str, Any]) -> tuple[list[str], list[Any]] | None:
    """Return header and rows of a DataFrame that pandas wrote with orient="columns"."""
    columns = list(value.values())
    if not columns or not all(isinstance(column, Mapping) and column for column in columns):
        return None
    numbers = list(columns[0])
    if not all(re.fullmatch(r"\d{1,9}", str(number)) for number in numbers):
        return None
    if any(_is_place(name) for name in value) or any(list(column) != numbers for column in columns):
        return None
    cells = [[column[number] for column in columns] for number in numbers]
    if any(isinstance(cell, (list, tuple, Mapping)) for row in cells for cell in row):
        return None
    header = ["key", *(str(name) for name in value)]
    return header, [[str(number), *row] for number, row in zip(numbers, cells, strict=True)]


def _is_level(value: Mapping[Any, Any]) -> bool:
    """Return whether the names of a mapping are values of one thing, such as methods or seeds."""
    if len(value) > 1 and all(_is_place(name) for name in value):
        return True
    inner = list(value.values())
    if not inner or not all(isinstance(child, Mapping) and child for child in inner):
        return False
    if len(inner) == 1:
        return True
    names = [frozenset(child) for child in inner]
    shared = frozenset.intersection(*names)
    return bool(shared) or all(_is_level(child) for child in inner)


def _level_tables(
    value: Mapping[Any, Any],
    form: str,
    source: str,
    place: str,
    facts: Mapping[str, Cell],
    depth: int,
) -> Iterator[CellTable]:
    """Yield a table whose rows begin with the names on the way to them."""
    rows: list[dict[str, Any]] = []
    _walk(value, (), rows, source, depth)
    deepest = max((len(row["path"]) for row in rows), default=0)
    names = ["key"] if deepest == 1 else [f"key {number}" for number in range(1, deepest + 1)]
    records = []
    for row in rows:
        path = [*row["path"], *[None] * (deepest - len(row["path"]))]
        records.append({**dict(zip(names, path, strict=True)), **row["record"]})
    yield from _record_tables(records, form, source, place, facts, depth)


def _walk(
    value: Any, path: tuple[str, ...], rows: list[dict[str, Any]], source: str, depth: int
) -> None:
    if depth > _DEEPEST:
        raise DataError(f"{source} has more than {_DEEPEST} levels of lists and objects.")
    CELLS.check(source, len(rows))
    if isinstance(value, Mapping) and _is_level(value):
        for name, inner in value.items():
            _walk(inner, (*path, str(name)), rows, source, depth + 1)
    else:
        record = value if isinstance(value, Mapping) else {"value": value}
        rows.append({"path": path, "record": record})


def _column_tables(
    value: Mapping[Any, Sequence[Any]],
    form: str,
    source: str,
    place: str,
    facts: Mapping[str, Cell],
) -> Iterator[CellTable]:
    """Yield the table of a mapping of columns; lists of different lengths are tables apart."""
    by_length: dict[int, list[str]] = {}
    for name, column in value.items():
        by_length.setdefault(len(column), []).append(name)
    for names in by_length.values():
        rows = list(zip(*(value[name] for name in names), strict=True))
        where = (
            place if len(by_length) == 1 else _join_place(place, ", ".join(map(str, names))[:80])
        )
        yield _rows_table([str(name) for name in names], rows, form, source, where, facts)


def _record_tables(
    records: Sequence[Mapping[Any, Any]],
    form: str,
    source: str,
    place: str,
    facts: Mapping[str, Cell],
    depth: int,
) -> Iterator[CellTable]:
    """Yield a table with a row for each mapping, and tables of the lists inside."""
    flat = [_flatten(record, source) for record in records]
    names = list(dict.fromkeys(name for scalars, _ in flat for name in scalars))
    CELLS.check(source, len(names) * len(flat))
    if names:
        rows = [[scalars.get(name) for name in names] for scalars, _ in flat]
        has_values = not all(_KEY.fullmatch(name) for name in names)
        if has_values or not any(lists for _, lists in flat):
            yield _rows_table(names, rows, form, source, place, facts)
    list_names = list(dict.fromkeys(name for _, lists in flat for name in lists))
    if len(records) == 1:
        scalars, lists = flat[0]
        inner_facts = {**facts, **{name: _cell(value) for name, value in scalars.items()}}
        for name in list_names:
            where = _join_place(place, name)
            yield from _tables(lists[name], form, source, where, inner_facts, depth + 1)
        return
    for name in list_names:
        yield _list_of_records(name, flat, names, form, source, _join_place(place, name), facts)


def _list_of_records(
    name: str,
    flat: Sequence[tuple[dict[str, Any], dict[str, Any]]],
    names: Sequence[str],
    form: str,
    source: str,
    place: str,
    facts: Mapping[str, Cell],
) -> CellTable:
    """Return the values of a list that many mappings have, with what stands beside it."""
    rows = []
    deepest = 1
    for scalars, lists in flat:
        for indices, value in _leaves(lists.get(name, []), source):
            deepest = max(deepest, len(indices))
            rows.append((scalars, indices, value))
        CELLS.check(source, len(rows) * (len(names) + deepest + 1))
    columns = _index_names(deepest)
    cells: list[list[Any]] = []
    for scalars, indices, value in rows:
        beside = [scalars.get(other) for other in names]
        missing = [None] * (deepest - len(indices))
        cells.append([*beside, *indices, *missing, value])
    roles = dict.fromkeys(columns, "index")
    return _rows_table([*names, *columns, name], cells, form, source, place, facts, roles)


def _list_table(
    value: Sequence[Any], form: str, source: str, place: str, facts: Mapping[str, Cell]
) -> CellTable:
    """Return the values in lists of lists, with their places."""
    rows = list(_leaves(value, source))
    deepest = max((len(indices) for indices, _ in rows), default=1)
    columns = _index_names(deepest)
    cells = [[*indices, *[None] * (deepest - len(indices)), leaf] for indices, leaf in rows]
    roles = dict.fromkeys(columns, "index")
    name = place.rpartition(".")[2] or "value"
    return _rows_table([*columns, name], cells, form, source, place, facts, roles)


def _leaves(value: Any, source: str) -> Iterator[tuple[tuple[int, ...], Any]]:
    """Yield the values in lists of lists and their places, counted from 0."""
    stack: list[tuple[tuple[int, ...], Any]] = [((), value)]
    count = 0
    while stack:
        place, current = stack.pop()
        if _is_list(current) and not _is_order(current):
            if len(place) >= _DEEPEST:
                raise DataError(f"{source} has more than {_DEEPEST} levels of lists and objects.")
            inner = [((*place, number), child) for number, child in enumerate(current)]
            stack.extend(reversed(inner))
        else:
            count += 1
            if count % 10_000 == 0:
                CELLS.check(source, count)
            yield place, current


def _index_names(count: int) -> list[str]:
    return ["index"] if count == 1 else [f"index {number}" for number in range(1, count + 1)]


def _flatten(record: Mapping[Any, Any], source: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the single values of a mapping and its inner mappings by name, and the rest."""
    scalars: dict[str, Any] = {}
    rest: dict[str, Any] = {}
    stack: list[tuple[str, Any, int]] = [
        (str(name), inner, 1) for name, inner in reversed(list(record.items()))
    ]
    while stack:
        name, value, depth = stack.pop()
        if depth > _DEEPEST:
            raise DataError(f"{source} has more than {_DEEPEST} levels of lists and objects.")
        if isinstance(value, Mapping) and not _is_level(value):
            inner = [(f"{name}.{key}", child, depth + 1) for key, child in value.items()]
            stack.extend(reversed(inner))
        elif isinstance(value, Mapping) or (_is_list(value) and not _is_text_list(value)):
            rest[name] = value
        else:
            scalars[name] = value
    return scalars, rest


def _is_text_list(value: Sequence[Any]) -> bool:
    """Return whether a list is one cell: a class order, texts, or nothing."""
    return len(value) == 0 or _is_order(value) or all(isinstance(inner, str) for inner in value)


def _is_order(value: Sequence[Any]) -> bool:
    """Return whether a list is a permutation of 0, 1, 2, …, which is not in order."""
    return (
        len(value) > 2
        and all(type(inner) is int for inner in value)
        and sorted(value) == list(range(len(value)))
        and list(value) != sorted(value)
    )


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, tuple))


def _is_scalar_list(value: Any) -> bool:
    is_flat = _is_list(value) and len(value) > 0
    return is_flat and not any(isinstance(inner, (list, tuple, Mapping)) for inner in value)


def _has_header_row(value: Sequence[Any]) -> bool:
    """Return whether the first list has names and all others have as many values."""
    if not all(_is_list(row) and len(row) == len(value[0]) for row in value):
        return False
    has_numbers = any(isinstance(cell, (int, float)) for row in value[1:] for cell in row)
    return has_numbers and all(isinstance(name, str) and name for name in value[0])


def _is_place(name: Any) -> bool:
    """Return whether a name counts or lists numbers: `0`, `(0, 2, 1)`."""
    return _PLACE.fullmatch(str(name)) is not None


def _cell(value: Any) -> Cell:
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, str):
        return value[:_LONGEST_CELL] if value.strip() else None
    if _is_list(value):
        return " ".join(map(str, value))[:_LONGEST_CELL]
    return str(value)[:_LONGEST_CELL]


def _join_place(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name
