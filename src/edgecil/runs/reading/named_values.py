"""Values whose metric stands elsewhere: in a column of names, or in the name of the file."""

from __future__ import annotations

from collections.abc import Sequence

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


def name_wide_values(frame: Frame) -> None:
    """Name the metrics of wide columns by a column of metric names: `accuracy first phase`."""
    names = frame.with_role("metric name")
    values = [*frame.with_role("metric"), *unknown_numbers(frame)]
    if not names or not values:
        return
    texts = texts_of(frame.columns.pop(names[0]))
    del frame.roles[names[0]]
    for value in values:
        cells = frame.columns.pop(value)
        frame.roles.pop(value, None)
        beside = f" {value}" if len(values) > 1 else ""
        _add_metrics(frame, texts, cells, beside)


def _add_metrics(
    frame: Frame, texts: Sequence[str], cells: Sequence[Cell], ending: str = ""
) -> None:
    """Add a column for each metric that texts name."""
    for metric in dict.fromkeys(text for text in texts if text):
        values: list[Cell] = [
            cell if text == metric else None for cell, text in zip(cells, texts, strict=True)
        ]
        frame.add(f"{metric}{ending}", values, "metric")
        frame.is_split = True


def _split_by_name(frame: Frame, name: str, value: str) -> None:
    """Replace a column of metric names and one of values by a column for each metric."""
    texts = texts_of(frame.columns.pop(name))
    cells = frame.columns.pop(value)
    frame.roles.pop(name, None)
    frame.roles.pop(value, None)
    _add_metrics(frame, texts, cells)


def _split_means_by_name(frame: Frame, name: str, mean: str) -> None:
    """Replace columns of metric names, means and spreads by two columns for each metric."""
    spread, kind = frame.spreads.pop(mean)
    frame.metric_names.pop(mean, None)
    spreads = frame.columns.pop(spread)
    frame.roles.pop(spread, None)
    texts = texts_of(frame.columns[name])
    _split_by_name(frame, name, mean)
    for metric in dict.fromkeys(text for text in texts if text):
        spreads_of_metric: list[Cell] = [
            cell if text == metric else None for cell, text in zip(spreads, texts, strict=True)
        ]
        frame.add(f"{metric} {kind}", spreads_of_metric, kind)
        frame.roles[metric] = "mean"
        frame.spreads[metric] = f"{metric} {kind}", kind
        frame.metric_names[metric] = metric
