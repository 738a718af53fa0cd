"""Columns of means and spreads for each method: `er_mean`, `er_std`, `icarl_mean`, `icarl_std`."""

from __future__ import annotations

from edgecil.runs.cells.cell_table import Cell
from edgecil.runs.metric_names import metric_name
from edgecil.runs.metrics import DEFAULT_METRIC
from edgecil.runs.reading.frames import Frame


def melt_methods_with_spreads(frame: Frame) -> None:
    """Make rows of the methods in columns of means, which are not named after metrics."""
    methods = {
        mean: frame.metric_names[mean]
        for mean in frame.with_role("mean")
        if mean in frame.spreads and metric_name(frame.metric_names[mean]) is None
    }
    if len(methods) < 2 or frame.with_role("method") or len(methods) < len(frame.spreads):
        return
    count = len(frame)
    means = [cell for mean in methods for cell in frame.columns[mean]]
    spreads = [cell for mean in methods for cell in frame.columns[frame.spreads[mean][0]]]
    names: list[Cell] = [name for name in methods.values() for _ in range(count)]
    kind = frame.spreads[next(iter(methods))][1]
    for mean in methods:
        for column in (mean, frame.spreads[mean][0]):
            del frame.columns[column]
            del frame.roles[column]
    for name, cells in frame.columns.items():
        frame.columns[name] = cells * len(methods)
    frame.table_of_row = frame.table_of_row * len(methods)
    frame.row_numbers = frame.row_numbers * len(methods)
    frame.spreads.clear()
    frame.metric_names.clear()
    metric = frame.metric_hint or DEFAULT_METRIC
    frame.add("method", names, "method")
    frame.add(metric, means, "mean")
    frame.add(f"{metric} {kind}", spreads, kind)
    frame.spreads[metric] = f"{metric} {kind}", kind
    frame.metric_names[metric] = metric
