"""Values whose metric stands elsewhere: in a column of names, or in the name of the file."""

from __future__ import annotations

from collections.abc import Sequence

from edgecil.runs.cells.cell_table import Cell
from edgecil.runs.metrics import DEFAULT_METRIC
from edgecil.runs.reading.column_roles import unknown_numbers
from edgecil.runs.reading.frames import Frame, texts_of
from edgecil.runs.reading.path_names import PathName


def name_values(frame: Frame, paths: Sequence[PathName]) -> None:
    """Give every column of values the name of its metric.

    Args:
        frame: whose columns are renamed.
        paths: what the names of its files say.
    """
    metrics = {path.metric for path in paths}
    if len(metrics) == 1:
        frame.metric_hint = metrics.pop()
    names = frame.with_role("metric name")
    values = frame.with_role("value") or unknown_numbers(frame)
    if names and len(values) == 1:
        _split_by_name(frame, names[0], values[0])
        return
    for name in frame.with_role("value"):
        hint = frame.metric_hint or DEFAULT_METRIC
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
