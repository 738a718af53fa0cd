"""Cells of tables that are in memory: DataFrames, lists of rows, and accuracies as numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any, TypeAlias

import numpy as np

from edgecil.errors import DataError, UsageError, short_name, wrong_value_error
from edgecil.runs.cells.cell_table import Cell, CellTable
from edgecil.runs.cells.marked_numbers import parse_marked_number
from edgecil.runs.reading.column_names import column_name

Numbers: TypeAlias = Sequence[float] | np.ndarray[Any, Any]

DATA_FRAME = "DataFrame"
"""The form of a table in memory."""

_CELLS = (str, Real, np.generic, type(None))  # types of a cell in a list of rows

TYPED_MEAN = "typed mean"
"""The form of a published mean that is given as a text."""

NAME = "edgecil name"
"""The attribute of a DataFrame that has a name, which stands for its method if it has none."""


def is_numbers(source: object) -> bool:
    """Return whether a source is a list, an array or a series of numbers."""
    if isinstance(source, (list, tuple)):
        return bool(source) and all(isinstance(value, Real) for value in source)
    is_series = hasattr(source, "to_numpy") and not hasattr(source, "columns")
    return isinstance(source, np.ndarray) or is_series


def is_data_frame(source: object) -> bool:
    """Return whether a source is a DataFrame of pandas, or of a library that converts to it."""
    is_table = hasattr(source, "iloc") or hasattr(source, "to_pandas")
    return hasattr(source, "columns") and is_table


def is_records(source: object) -> bool:
    """Return whether a source is a list of rows, each a dict of cells by the name of the column."""
    return (
        isinstance(source, (list, tuple))
        and bool(source)
        and all(isinstance(row, Mapping) and bool(row) for row in source)
        and all(isinstance(cell, _CELLS) for row in source for cell in row.values())
    )


def records_table(source: Sequence[Mapping[Any, Any]], name: str) -> CellTable:
    """Return the table of a list of rows."""
    header = tuple(dict.fromkeys(str(column) for row in source for column in row))
    rows = tuple(
        tuple(_plain(row.get(column)) for column in header)
        for row in ({str(key): cell for key, cell in row.items()} for row in source)
    )
    return CellTable(DATA_FRAME, name, header, rows)


def numbers_table(source: Any, name: str) -> CellTable:
    """Return accuracies as a table with one row for each run."""
    values = np.asarray(source)
    if values.ndim != 1 or values.dtype.kind not in "fiu" or not values.size:
        raise UsageError(
            "Accuracies must be a list or an array of numbers, one for each run. Got an array of "
            f"shape {values.shape} of {values.dtype}."
        )
    rows = tuple((_plain(value),) for value in values.astype(float).tolist())
    return CellTable(DATA_FRAME, name, ("accuracy",), rows)


def frame_table(source: Any, name: str) -> CellTable:
    """Return the cells of a DataFrame; levels of its index with a name are columns."""
    frame = source.to_pandas() if hasattr(source, "to_pandas") else source
    if not hasattr(frame, "iloc") or not hasattr(frame, "columns"):
        raise wrong_value_error("source", "a file of results or a DataFrame", source)
    if frame.columns.nlevels > 1:
        raise DataError(
            f"The DataFrame has columns of {frame.columns.nlevels} levels; give it one level, such "
            "as by pivot(..., values='accuracy')."
        )
    # Numbers in an index of another name, such as 'count', would look like a method's values.
    for place, level in reversed(list(enumerate(frame.index.names))):
        first = frame.index.get_level_values(place)[:1]
        is_text = level is not None and any(isinstance(cell, str) for cell in first)
        is_known = level is not None and column_name(str(level)).role not in ("", "metric")
        if (is_text or is_known) and level not in frame.columns:
            frame = frame.reset_index(level=place)
    header = tuple(short_name(str(column)) for column in frame.columns)
    if not any(header):
        raise DataError(f"{name} is empty; it requires a header line and one line for each run.")
    cells = [
        [_plain(cell) for cell in frame.iloc[:, place].tolist()] for place in range(len(header))
    ]
    rows = tuple(zip(*cells, strict=True))
    if not rows:
        raise DataError(f"{name} contains no runs; write a line for each below its header.")
    return CellTable(DATA_FRAME, name, header, rows)


def _plain(value: Any) -> Cell:
    """Return a value as a cell: text, a number, a truth value, or None."""
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return None if math.isnan(value) else value
    if isinstance(value, (np.integer, np.bool_)):
        return int(value)
    return None if str(value) in ("<NA>", "NaT", "nan") else str(value)


def table_in_memory(source: Any, name: str) -> CellTable:
    """Return the table of a DataFrame, of a list of rows, or of plain numbers."""
    if is_records(source):
        return records_table(source, name)
    return numbers_table(source, name) if is_numbers(source) else frame_table(source, name)


def named_tables(source: Mapping[Any, Any]) -> list[CellTable]:
    """Return the tables of a mapping, whose names stand for methods.

    A text such as "62.9 ± 0.8" is a published mean.
    """
    tables = []
    for name, content in source.items():
        if isinstance(content, str) and parse_marked_number(content) is not None:
            cells = (short_name(str(name)), content)
            tables.append(CellTable(TYPED_MEAN, str(name), ("method", "accuracy"), (cells,)))
            continue
        if not is_numbers(content) and not is_data_frame(content) and not is_records(content):
            raise wrong_value_error(
                "source",
                "accuracies, a DataFrame, or a published mean such as '62.9 ± 0.8' for each name "
                "of a dict",
                content,
            )
        tables.append(table_in_memory(content, short_name(str(name))))
    return tables
