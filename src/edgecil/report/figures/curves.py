"""A metric after each task, one line per method, with its spread over orders."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from edgecil.estimation.analysis import DatasetAnalysis
from edgecil.estimation.details import TaskCurve
from edgecil.report.figures.report_figure import NARROW, WIDE, ReportFigure
from edgecil.report.metrics import MetricWords
from edgecil.report.scene.layout import Entry, fit, label_width, legend
from edgecil.report.scene.marks import Line, Mark, Scene, Text
from edgecil.report.scene.scale import Scale, y_axis
from edgecil.report.scene.theme import category

_MOST_BANDS = 6
_LABEL = 15.0  # least distance between the names at the ends of lines
_BAND = ("0.05", "0.95")


def build_curves(
    dataset: DatasetAnalysis, words: MetricWords, *, name: str = "curves"
) -> ReportFigure | None:
    """A metric along the sequence; None if no method has it after at least two tasks.

    Each method's curve is that of the orders on which its answer is based.

    Args:
        dataset: the analysis.
        words: of its metric.
        name: stem of its file names.
    """
    chosen = {}
    for method in dataset.methods:
        by_protocol = dataset.curves.get(method)
        if by_protocol:
            answer = " + ".join(dataset.methods[method].answer.protocols)
            most = max(by_protocol, key=lambda key: by_protocol[key].order_count)
            protocol = answer if answer in by_protocol else most
            chosen[method] = (protocol, by_protocol[protocol], protocol == answer)
    if not chosen or any(np.isfinite(curve.mean).sum() < 2 for _, curve, _ in chosen.values()):
        return None
    protocols = " and ".join(dict.fromkeys(protocol for protocol, _, _ in chosen.values()))
    counts = sorted({curve.order_count for _, curve, _ in chosen.values()})
    orders = f"{counts[0]:,}" if len(counts) == 1 else f"{counts[0]:,} to {counts[-1]:,}"
    same = all(is_answer for _, _, is_answer in chosen.values())
    basis = "behind the answer above" if same else "which are not behind the answer above"
    band = " The bands hold 90 % of these orders." if len(chosen) <= _MOST_BANDS else ""
    caption = (
        f"{words.step[0].upper()}{words.step[1:]}, after each task: mean over the {orders} "
        f"order{'' if counts == [1] else 's'} {basis} ({protocols}).{band} {words.line}"
    ).strip()
    curves = {method: curve for method, (_, curve, _) in chosen.items()}
    wide, narrow = (draw_curves(curves, words, width=width) for width in (WIDE, NARROW))
    return ReportFigure(name, caption, wide, narrow)


def draw_curves(
    curves: Mapping[str, TaskCurve], words: MetricWords, *, width: float = WIDE
) -> Scene:
    """Draw curves with names and values at the right end, or in a legend on a narrow drawing.

    The value is that of the metric: the mean of the curve for Ā, otherwise its end.
    """
    is_narrow = width < 600.0
    marks: list[Mark] = []
    values = {name: _value(curve, words) for name, curve in curves.items()}
    top, right = 22.0, width - 8.0
    if is_narrow:
        entries = [
            Entry(f"{name} {values[name]:.1f}".replace("-", "−"), colour, "line", dash)
            for name, (colour, dash) in zip(curves, map(category, range(99)), strict=False)
        ]
        marks, below = legend(entries, 0.0, 2.0, width, 11.5)
        top = below + 22.0
    else:
        right = width - label_width(curves, 12.5, most=180.0) - 70.0
    bottom = top + (230.0 if is_narrow else 340.0)
    tasks = _tasks(curves)
    with_bands = len(curves) <= _MOST_BANDS
    heights = [float(v) for curve in curves.values() for v in curve.mean if np.isfinite(v)]
    if with_bands:
        bands = [c.quantiles[key] for c in curves.values() for key in _BAND]
        heights += [float(v) for band in bands for v in band if np.isfinite(v)]
    up = Scale.around(heights, bottom, top, margin=0.03, limits=(0.0, 100.0))
    across = Scale(float(tasks[0]), float(tasks[-1]), 40.0, right - 4.0)
    title = f"{words.step}, {words.unit}" if not is_narrow else f"{words.title}, {words.unit}"
    marks += y_axis(up, 34.0, right, title=title, size=12.0)
    every = -(-len(tasks) // (6 if is_narrow else 20))
    for task in tasks[::every]:
        text = Text(across(task), bottom + 18.0, str(task), 12.0, "middle", colour="faint")
        marks.append(text)
    middle = (34.0 + right) / 2.0
    marks.append(Text(middle, bottom + 37.0, "tasks learned", 12.0, "middle"))
    lines: list[Mark] = []
    ends = []
    x = [across(task) for task in tasks]
    for place, (name, curve) in enumerate(curves.items()):
        colour, dash = category(place)
        if with_bands:
            low, high = (
                [
                    (a, up(float(curve.quantiles[key][task - 1])))
                    for a, task in zip(x, tasks, strict=True)
                ]
                for key in _BAND
            )
            marks.append(Line((*low, *high[::-1]), "", fill=colour, opacity=0.13))
        points = tuple(
            (a, up(float(curve.mean[task - 1]))) for a, task in zip(x, tasks, strict=True)
        )
        lines.append(Line(points, colour, 2.4, dash=dash, tip=name))
        ends.append((points[-1][1], name, colour, values[name]))
    marks += lines
    if not is_narrow:
        marks += _names(ends, right + 8.0, width, top, bottom)
    return Scene(width, bottom + 46.0, tuple(marks))


def _tasks(curves: Mapping[str, TaskCurve]) -> list[int]:
    """The tasks after which all curves have a value, from 1 on."""
    means = np.array([curve.mean for curve in curves.values()])
    return [int(place) + 1 for place in np.flatnonzero(np.isfinite(means).all(axis=0))]


def _value(curve: TaskCurve, words: MetricWords) -> float:
    return float(curve.mean.mean() if words.name == "average" else curve.mean[-1])


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
        number = f"{value:.1f}".replace("-", "−")
        marks.append(Line(((x - 7.0, y), (x + 2.0, level)), colour, 1.0))
        marks.append(Text(x + 6.0, level + 4.0, number, 12.0, bold=True))
        marks.append(Text(x + 42.0, level + 4.0, fit(name, width - x - 42.0, 12.5), 12.5))
    return marks
