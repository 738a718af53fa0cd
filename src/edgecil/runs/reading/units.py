"""Units: shares in per cent, whether a file has them as fractions or per cent."""

from __future__ import annotations

import numpy as np

from edgecil.io.arrays import Floats
from edgecil.runs.cells.marked_numbers import parse_marked_name
from edgecil.runs.metrics import find_metric
from edgecil.runs.reading.finished_runs import RunRows
from edgecil.runs.reading.frames import Frame, number_in, text_of
from edgecil.runs.reading.metric_choice import metric_of_column, offered_metrics


def in_per_cent(rows: RunRows, metric: str, methods: list[str], values: Floats) -> Floats:
    """Return values in per cent; accuracies and forgetting of a method have the same unit.

    Numbers without a unit are judged by the metric: only shares, and differences of shares, are
    fractions or per cent.
    """
    low, high = find_metric(metric).bounds
    if not np.isfinite(high):
        return values
    frame = rows.frame
    column = offered_metrics(frame)[metric]
    stated = _stated_unit(rows, column)
    if stated == "%":
        return values
    scaled = values.copy()
    if stated == "fraction":
        return 100.0 * scaled
    names = np.array(methods)
    if low < 0.0:
        return _points_in_per_cent(rows, metric, column, scaled)
    fractions: dict[str, Floats] = {}
    for method in dict.fromkeys(methods):
        rows_of_method = np.flatnonzero((names == method) & ~np.isnan(values))
        if are_fractions(values[rows_of_method]):
            fractions[method] = values[rows_of_method]
            scaled[rows_of_method] *= 100.0
    if len(fractions) == len(set(methods)) > 1:
        every = np.concatenate(list(fractions.values()))
        frame.notes.append(note_fractions(f"{metric} in {frame.origin}", every))
        return scaled
    for method, values_of_method in fractions.items():
        what = f"{metric} of {method!r} in {frame.origin}"
        frame.notes.append(note_fractions(what, values_of_method))
    return scaled


def _points_in_per_cent(rows: RunRows, metric: str, column: str, values: Floats) -> Floats:
    """Return differences of shares in points; accuracies beside them have the same unit."""
    frame = rows.frame
    beside = _shares_beside(frame, column, rows)
    present = values[~np.isnan(values)]
    judged = beside if beside.size else np.abs(present)
    if not present.size or not (beside.size or judged.max() <= 1.0):
        return values
    if are_fractions(judged):
        frame.notes.append(note_fractions(f"{metric} in {frame.origin}", present))
        return 100.0 * values
    return values


def _shares_beside(frame: Frame, column: str, rows: RunRows) -> Floats:
    """Return the values of all columns of shares beside one of differences."""
    values = []
    for name in frame.with_role("metric", "mean", "curve"):
        is_share = name != column and find_metric(metric_of_column(name)).bounds[0] == 0.0
        if is_share:
            numbers = [number_in(frame.columns[name][row]) for row in rows.rows]
            values += [number.value for number in numbers if number is not None]
    return np.array(values, dtype=np.float64)


def _stated_unit(rows: RunRows, column: str) -> str:
    """Return `%` or `fraction` if the header, all cells or the form state it."""
    frame = rows.frame
    units = {str(table.facts.get("unit", "")) for table in frame.tables}
    if len(units) == 1 and units & {"%", "fraction"}:
        return units.pop()
    if parse_marked_name(column).is_percent:
        return "%"
    cells = [text_of(cell) for cell in rows.values if isinstance(cell, str)]
    return "%" if cells and all("%" in cell for cell in cells if cell) else ""


def are_fractions(values: Floats) -> bool:
    """Return whether values are shares of 1 rather than per cent."""
    is_inside = (values >= 0.0) & (values <= 1.0)
    return bool(values.size and is_inside.all() and ((values > 0.0) & (values < 1.0)).any())


def note_fractions(what: str, values: Floats) -> str:
    """Return a sentence on values that are multiplied by 100."""
    return (
        f"The {what} lies between {values.min():g} and {values.max():g}; it is read as a fraction, "
        "times 100."
    )
