"""Values whose metric stands elsewhere: in a column of names, or in the name of the file."""

from __future__ import annotations

from edgecil.runs.cells.cell_table import Cell
from edgecil.runs.reading.column_names import column_name
from edgecil.runs.reading.column_roles import unknown_numbers
from edgecil.runs.reading.frames import Frame, texts_of


def name_values(frame: Frame) -> None:
    """Give every column of values the name of its metric."""
    names = frame.with_role("metric name")
    values = frame.with_role("value") or unknown_numbers(frame)
    means = [name for name in frame.with_role("mean") if name in frame.spreads]
    if names and len(means) == 1 and column_name(means[0]).role == "mean":
        _split_means_by_name(frame, names[0], means[0])
        return
    if names and len(values) == 1:
        _split_by_name(frame, names[0], values[0])
        return
    for name in frame.with_role("value"):
        hint = frame.metric_hint or name
        cells = frame.columns.pop(name)
        del frame.roles[name]
        frame.add(hint, cells, "metric")


def _split_by_name(frame: Frame, name: str, value: str) -> None:
    """Replace a column of metric names and one of values by a column for each metric."""
    texts = texts_of(frame.columns.pop(name))
    cells = frame.columns.pop(value)
    frame.roles.pop(name, None)
    frame.roles.pop(value, None)
    for metric in dict.fromkeys(text for text in texts if text):
        own: list[Cell] = [
            cell if text == metric else None for cell, text in zip(cells, texts, strict=True)
        ]
        frame.add(metric, own, "metric")
        frame.is_split = True


def _split_means_by_name(frame: Frame, name: str, mean: str) -> None:
    """Replace columns of metric names, means and spreads by two columns for each metric."""
    spread, kind = frame.spreads.pop(mean)
    frame.metric_names.pop(mean, None)
    spreads = frame.columns.pop(spread)
    frame.roles.pop(spread, None)
    texts = texts_of(frame.columns[name])
    _split_by_name(frame, name, mean)
    for metric in dict.fromkeys(text for text in texts if text):
        own: list[Cell] = [
            cell if text == metric else None for cell, text in zip(spreads, texts, strict=True)
        ]
        frame.add(f"{metric} {kind}", own, kind)
        frame.roles[metric] = "mean"
        frame.spreads[metric] = f"{metric} {kind}", kind
        frame.metric_names[metric] = metric
