"""Accuracy after each task, one line per method, with its spread over orders."""

from __future__ import annotations

from collections.abc import Mapping

from edgecil.estimation.analysis import DatasetAnalysis
from edgecil.estimation.details import TaskCurve
from edgecil.report.figures.report_figure import NARROW, WIDE, ReportFigure
from edgecil.report.scene.layout import Entry, fit, label_width, legend
from edgecil.report.scene.marks import Line, Mark, Scene, Text
from edgecil.report.scene.scale import Scale, y_axis
from edgecil.report.scene.theme import category

_MOST_BANDS = 6
_LABEL = 15.0  # least distance between the names at the ends of lines
_BAND = ("0.05", "0.95")


def build_curves(dataset: DatasetAnalysis) -> ReportFigure | None:
    """Accuracy along the sequence; None if no method has results after each task.

    Each method's curve is that of the protocol with the most orders.
    """
    chosen = {}
    for method in dataset.methods:
        by_protocol = dataset.curves.get(method)
        if by_protocol:
            protocol = max(by_protocol, key=lambda name: by_protocol[name].orders)
            chosen[method] = (protocol, by_protocol[protocol])
    if not chosen or any(len(curve.mean) < 2 for _, curve in chosen.values()):
        return None
    protocols = " and ".join(dict.fromkeys(protocol for protocol, _ in chosen.values()))
    counts = sorted({curve.orders for _, curve in chosen.values()})
    orders = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    band = "; the bands hold 90 % of the orders" if len(chosen) <= _MOST_BANDS else ""
    caption = (
        "Accuracy on all classes seen so far, after each task: the mean over the "
        f"{orders} orders of {protocols}{band}."
    )
    curves = {method: curve for method, (_, curve) in chosen.items()}
    return ReportFigure("curves", caption, draw_curves(curves), draw_curves(curves, width=NARROW))


def draw_curves(curves: Mapping[str, TaskCurve], *, width: float = WIDE) -> Scene:
    """Draw curves with their names at the right end, or in a legend on a narrow drawing."""
    is_narrow = width < 600.0
    marks: list[Mark] = []
    top, right = 22.0, width - 8.0
    if is_narrow:
        entries = [
            Entry(name, category(place)[0], "line", category(place)[1])
            for place, name in enumerate(curves)
        ]
        marks, below = legend(entries, 0.0, 2.0, width, 11.5)
        top = below + 22.0
    else:
        right = width - label_width(curves, 12.5, most=180.0) - 70.0
    bottom = top + (230.0 if is_narrow else 340.0)
    tasks = len(next(iter(curves.values())).mean)
    with_bands = len(curves) <= _MOST_BANDS
    values = [float(v) for curve in curves.values() for v in curve.mean]
    if with_bands:
        values += [float(v) for c in curves.values() for key in _BAND for v in c.quantiles[key]]
    up = Scale.around(values, bottom, top, margin=0.03, limits=(0.0, 100.0))
    across = Scale(1.0, float(tasks), 40.0, right - 4.0)
    marks += y_axis(up, 34.0, right, title="accuracy on the classes seen, %", size=12.0)
    every = -(-tasks // (6 if is_narrow else 20))
    for task in range(1, tasks + 1, every):
        text = Text(across(task), bottom + 18.0, str(task), 12.0, "middle", colour="faint")
        marks.append(text)
    middle = (34.0 + right) / 2.0
    marks.append(Text(middle, bottom + 37.0, "tasks learned", 12.0, "middle"))
    lines: list[Mark] = []
    ends = []
    for place, (name, curve) in enumerate(curves.items()):
        colour, dash = category(place)
        x = [across(task + 1) for task in range(tasks)]
        if with_bands:
            low, high = (
                [(a, up(float(v))) for a, v in zip(x, curve.quantiles[key], strict=True)]
                for key in _BAND
            )
            marks.append(Line((*low, *high[::-1]), "", fill=colour, opacity=0.13))
        points = tuple((a, up(float(v))) for a, v in zip(x, curve.mean, strict=True))
        lines.append(Line(points, colour, 2.4, dash=dash, tip=name))
        ends.append((points[-1][1], name, colour, float(curve.mean[-1])))
    marks += lines
    if not is_narrow:
        marks += _names(ends, right + 8.0, width, top, bottom)
    return Scene(width, bottom + 46.0, tuple(marks))


def _names(
    ends: list[tuple[float, str, str, float]], x: float, width: float, top: float, bottom: float
) -> list[Mark]:
    """Names beside the ends of the lines, moved apart where they would overlap."""
    ordered = sorted(ends)
    levels = [y for y, *_ in ordered]
    for place in range(1, len(levels)):
        levels[place] = max(levels[place], levels[place - 1] + _LABEL)
    excess = levels[-1] - (bottom + 8.0)
    if excess > 0.0:
        levels[-1] -= excess
        for place in range(len(levels) - 2, -1, -1):
            levels[place] = min(levels[place], levels[place + 1] - _LABEL)
    marks: list[Mark] = []
    for level, (y, name, colour, value) in zip(levels, ordered, strict=True):
        marks.append(Line(((x - 7.0, y), (x + 2.0, level)), colour, 1.0))
        marks.append(Text(x + 6.0, level + 4.0, f"{value:.1f}", 12.0, bold=True))
        marks.append(Text(x + 42.0, level + 4.0, fit(name, width - x - 42.0, 12.5), 12.5))
    return marks
