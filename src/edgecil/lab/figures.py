"""Figures of an audit: distance from the truth by protocol, and against the number of runs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from edgecil.lab._audit import BudgetPoint, DatasetAudit
from edgecil.report.drawing import (
    NARROW,
    WIDE,
    Box,
    Dots,
    Entry,
    Line,
    Mark,
    Scale,
    Scene,
    Text,
    draw_panels,
    fit,
    x_axis,
    y_axis,
)
from edgecil.report.figure import ReportFigure
from edgecil.report.theme import protocol_style
from edgecil.sequences.protocols import find_protocol

Curves = Mapping[str, Sequence[BudgetPoint]]
_MEASURES = {
    "W₁, points": "wasserstein",
    "JSD, nats": "jsd",
    "range missed, points": "missed_range",
}

# By title of the measure, by protocol and by method, a distance >= 0.
Measures = Mapping[str, Mapping[str, Mapping[str, float]]]


def build_budgets(audit: DatasetAudit, *, name: str) -> ReportFigure | None:
    """Each method's distance from the truth against the number of runs; None without a truth."""
    methods = {}
    for method, own in audit.methods.items():
        curves = {protocol: points for protocol, points in own.by_budget.items() if points}
        if curves:
            methods[method] = curves
    if not methods:
        return None
    caption = (
        "Distance W₁ of the Gaussian estimate from the truth against the number of runs: mean over "
        "draws, and the band that holds 90 % of them. Orders are drawn at random; protocols with "
        "a hard and an easy order always have these two."
    )
    if joint := [name for name in audit.protocols if find_protocol(name).joint]:
        caption += f" The orders of {' and '.join(joint)} are chosen together and have no curve."
    wide, narrow = draw_budgets(methods), draw_budgets(methods, width=NARROW)
    return ReportFigure(name, caption, wide, narrow)


def draw_budgets(methods: Mapping[str, Curves], *, width: float = WIDE) -> Scene:
    """Draw one panel per method: mean W₁ with the band that holds 90 % of the draws."""
    points = [point for curves in methods.values() for one in curves.values() for point in one]
    top = max(point.wasserstein_band[1] for point in points)
    sizes = sorted({point.budget for point in points})
    protocols = dict.fromkeys(protocol for curves in methods.values() for protocol in curves)
    entries = [Entry(name, protocol_style(name)[0], "line") for name in protocols]

    def draw(method: str, box: Box) -> list[Mark]:
        ends = [math.log(size) for size in (sizes[0], sizes[-1])]
        across = Scale.around(ends, box.left, box.right, margin=0.03)
        up = Scale(0.0, top, box.bottom, box.top)
        marks = y_axis(up, box.left, box.right, most=4, size=11.0)
        for size in sizes:
            if size in (3, 5, 10, 20, 30) or len(sizes) < 6:
                text = Text(across(math.log(size)), box.bottom + 15.0, str(size), 11.0, "middle")
                marks.append(text)
        for protocol, curve in methods[method].items():
            colour, _ = protocol_style(protocol)
            x = [across(math.log(point.budget)) for point in curve]
            low = [(a, up(point.wasserstein_band[0])) for a, point in zip(x, curve, strict=True)]
            high = [(a, up(point.wasserstein_band[1])) for a, point in zip(x, curve, strict=True)]
            mean = [(a, up(point.wasserstein)) for a, point in zip(x, curve, strict=True)]
            if len(curve) > 1:
                marks.append(Line((*low, *high[::-1]), "", fill=colour, opacity=0.14))
                marks.append(Line(tuple(mean), colour, 2.0))
        return marks

    return draw_panels(
        list(methods), draw, width=width, entries=entries, x_title="runs", y_title="W₁, points"
    )


def build_closeness(audit: DatasetAudit, *, name: str) -> ReportFigure | None:
    """Mean distances from the truth by measure, protocol and method; None without a truth."""
    measures: dict[str, dict[str, dict[str, float]]] = {}
    for title, attribute in _MEASURES.items():
        for method, own in audit.methods.items():
            for protocol, by_estimator in own.averages.items():
                distances = measures.setdefault(title, {}).setdefault(protocol, {})
                distances[method] = getattr(by_estimator["smoothed"], attribute)
    if not measures:
        return None
    caption = (
        "Distance of each protocol's estimate from the truth, averaged over draws of its random "
        "part. Lower is better."
    )
    wide, narrow = draw_closeness(measures), draw_closeness(measures, width=NARROW)
    return ReportFigure(name, caption, wide, narrow)


def draw_closeness(measures: Measures, *, width: float = WIDE) -> Scene:
    """Draw distances as dots, one panel per measure."""
    protocols = next(iter(measures.values()))
    methods = list(dict.fromkeys(name for by_method in protocols.values() for name in by_method))
    entries = [Entry(name, *protocol_style(name)) for name in protocols]

    def draw(measure: str, box: Box) -> list[Mark]:
        distances = measures[measure]
        top = max(value for by_method in distances.values() for value in by_method.values())
        room = 70.0
        across = Scale(0.0, (top or 1.0) * 1.05, box.left + room, box.right - 6.0)
        marks = x_axis(across, box.top, box.bottom, most=4, size=11.0)
        step = (box.bottom - box.top) / len(methods)
        for place, method in enumerate(methods):
            y = box.top + (place + 0.5) * step
            marks.append(Line(((box.left + room, y), (box.right, y)), "line"))
            text = fit(method, room + 32.0, 12.0)
            marks.append(Text(box.left - 40.0, y + 4.0, text, 12.0))
        for index, (protocol, by_method) in enumerate(distances.items()):
            colour, shape = protocol_style(protocol)
            shift = 5.0 * (index - (len(distances) - 1) / 2.0) if step > 24.0 else 0.0
            x = across.map(np.array(list(by_method.values())))
            rows = np.array([methods.index(method) for method in by_method])
            levels = box.top + (rows + 0.5) * step + shift
            marks.append(Dots(x, levels, 4.0, colour, shape, 0.9))
        return marks

    height = max(70.0, 30.0 * len(methods) if len(methods) <= 8 else 22.0 * len(methods))
    return draw_panels(
        list(measures),
        draw,
        width=width,
        entries=entries,
        height=height,
        least=350.0 if width < 600.0 else 400.0,
        indent=0.0,
    )
