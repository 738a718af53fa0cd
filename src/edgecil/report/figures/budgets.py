"""Distance from the truth against the number of runs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from edgecil.estimation.analysis import DatasetAnalysis
from edgecil.estimation.budgets import BudgetPoint
from edgecil.report.figures.panels import Box, draw_panels
from edgecil.report.figures.report_figure import NARROW, WIDE, WIDE_ONLY, ReportFigure
from edgecil.report.scene.layout import Entry
from edgecil.report.scene.marks import Line, Mark, Scene, Text
from edgecil.report.scene.scale import Scale, y_axis
from edgecil.report.scene.theme import protocol_style

Curves = Mapping[str, Sequence[BudgetPoint]]


def build_budgets(dataset: DatasetAnalysis, *, name: str) -> ReportFigure | None:
    """Each method's distance from the truth against the number of runs; None without a truth."""
    methods = {}
    for method, analysis in dataset.methods.items():
        curves = {protocol: points for protocol, points in analysis.by_budget.items() if points}
        if curves:
            methods[method] = curves
    if not methods:
        return None
    caption = (
        "Distance W₁ of the Gaussian estimate from the truth against the number of runs: mean over "
        "draws, and the band that holds 90 % of them. Orders are drawn at random; protocols with "
        "a hard and an easy order always have these two."
    )
    if "latin" in dataset.table.protocols:
        caption += " The protocol latin chooses its orders together, so it has no curve."
    wide, narrow = draw_budgets(methods), draw_budgets(methods, width=NARROW)
    return ReportFigure(name, caption, wide, narrow, WIDE_ONLY)


def draw_budgets(methods: Mapping[str, Curves], *, width: float = WIDE) -> Scene:
    """Draw one panel per method: mean W₁ with the band that holds 90 % of the draws, by protocol.

    Args:
        methods: by method and protocol, points in ascending number of runs.
        width: of the drawing.
    """
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
