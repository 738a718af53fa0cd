"""A metric of each class by the task in which it comes, as a heat map."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from edgecil.estimation.analysis import DatasetAnalysis
from edgecil.io.arrays import Floats
from edgecil.report.class_names import class_name
from edgecil.report.figures.report_figure import NARROW, WIDE_ONLY, ReportFigure
from edgecil.report.metrics import metric_words
from edgecil.report.scene.layout import fit, label_width, text_width
from edgecil.report.scene.marks import Cells, Mark, Scene, Text
from edgecil.report.scene.scale import tick_text
from edgecil.report.scene.theme import is_dark_shade, shade_of, shades
from edgecil.report.slug import slug

_HALF = 620.0  # pixels of a heat map on a desk
_MOST_NAMED = 60  # classes; beyond, names appear on hover only
_MOST_NUMBERED = 20


def build_class_positions(
    dataset: DatasetAnalysis, method: str, *, suffix: str = ""
) -> ReportFigure | None:
    """A method's heat map; None if no result has counts per class.

    Args:
        dataset: the analysis.
        method: the method.
        suffix: of its file names.
    """
    positions = dataset.class_positions.get(method)
    if positions is None or np.isnan(positions.mean).all():
        return None
    words = metric_words(dataset.metric)
    names = [class_name(dataset.table, class_) for class_ in range(len(positions.mean))]
    costs = np.nan_to_num(positions.cost_of_first)
    order = [int(place) for place in np.argsort(-costs, kind="stable")]
    limits = _limits(np.concatenate([own.mean for own in dataset.class_positions.values()]))
    if not words.higher_is_better:
        limits = limits[::-1]
    caption = (
        f"{words.classes}, by the task in which it comes: {method}, mean over orders. The classes "
        "that are worst off in the first task are on top."
    )
    values = positions.mean[order]
    labels = [names[place] for place in order]
    wide, narrow = (
        draw_class_positions(method, labels, values, width=width, unit=words.unit, limits=limits)
        for width in (_HALF, NARROW)
    )
    return ReportFigure(f"classes-{slug(method)}{suffix}", caption, wide, narrow, WIDE_ONLY)


def draw_class_positions(
    method: str,
    labels: Sequence[str],
    values: Floats,
    *,
    width: float = _HALF,
    unit: str = "%",
    limits: tuple[float, float] | None = None,
) -> Scene:
    """Draw a row for each class and a column for each task.

    Args:
        method: its name, for the page's script.
        labels: of the classes.
        values: (N, K); NaN where a class has no value for a task.
        width: of the drawing.
        unit: of the values.
        limits: the worst and the best value of the colour scale; by default those of the values.
    """
    classes, tasks = values.shape
    is_named = classes <= _MOST_NAMED
    size = 12.0 if classes <= 30 else 10.5
    height = 26.0 if classes <= 20 else 15.0 if is_named else max(3.0, 620.0 / classes)
    room = label_width(labels, size, most=150.0 if width > 500.0 else 96.0) + 10.0
    left = room if is_named else 26.0
    top = 40.0
    cell = (width - left - 2.0) / tasks
    marks: list[Mark] = [Text(left, 12.0, "the class comes in task", 11.5, colour="faint")]
    every = -(-tasks // max(int((width - left) // 26.0), 1))
    for task in range(0, tasks, every):
        text = Text(left + (task + 0.5) * cell, 31.0, str(task + 1), 12.0, "middle")
        marks.append(text)
    data = {
        "method": method,
        "unit": unit,
        "names": "\n".join(labels),
        "values": ";".join(
            ",".join("" if np.isnan(value) else f"{value:.1f}" for value in row) for row in values
        ),
    }
    low, high = limits or _limits(values)
    marks.append(Cells(left, top, cell, height, values, low, high, data))
    if is_named:
        for row, label in enumerate(labels):
            y = top + (row + 0.5) * height + 0.35 * size
            marks.append(Text(left - 8.0, y, fit(label, room - 8.0, size), size, "end"))
    if classes <= _MOST_NUMBERED and cell >= 26.0:
        marks += _number_cells(values, left, top, cell, height, low, high)
    bottom = top + classes * height
    return Scene(width, bottom + 40.0, (*marks, *_colour_bar(left, bottom + 12.0, low, high, unit)))


def _number_cells(
    values: Floats, left: float, top: float, cell: float, height: float, low: float, high: float
) -> list[Mark]:
    marks: list[Mark] = []
    for row, column in zip(*np.nonzero(~np.isnan(values)), strict=True):
        value = float(values[row, column])
        colour = "on-dark" if is_dark_shade(shade_of(value, low, high)) else "on-light"
        x, y = left + (column + 0.5) * cell, top + (row + 0.5) * height + 4.0
        text = f"{value:.0f}".replace("-", "−")
        marks.append(Text(x, y, text, 11.5, "middle", colour=colour))
    return marks


def _colour_bar(left: float, y: float, low: float, high: float, unit: str) -> list[Mark]:
    steps = len(shades())
    bar = np.linspace(low, high, steps)[None, :]
    start, end = (tick_text(round(value)) for value in (low, high))
    room = text_width(start, 11.0) + 8.0
    return [
        Text(left, y + 9.5, start, 11.0, colour="faint"),
        Cells(left + room, y, 5.0, 10.0, bar, low, high),
        Text(left + room + 6.0 + 5.0 * steps, y + 9.5, f"{end} {unit}", 11.0, colour="faint"),
    ]


def _limits(values: Floats) -> tuple[float, float]:
    """Round ends of the colour scale, the lower one first."""
    low = 10.0 * np.floor(np.nanmin(values) / 10.0)
    high = 10.0 * np.ceil(np.nanmax(values) / 10.0)
    return float(low), float(max(high, low + 10.0))
