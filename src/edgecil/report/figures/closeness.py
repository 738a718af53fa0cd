"""Distance of every protocol's estimate from the truth, for every method."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from edgecil.estimation.analysis import DatasetAnalysis
from edgecil.estimation.summary import of_default_estimator
from edgecil.report.figures.panels import Box, draw_panels
from edgecil.report.figures.report_figure import NARROW, WIDE, WIDE_ONLY, ReportFigure
from edgecil.report.metrics import metric_words
from edgecil.report.scene.layout import Entry, fit
from edgecil.report.scene.marks import Dots, Line, Mark, Scene, Text
from edgecil.report.scene.scale import Scale, x_axis
from edgecil.report.scene.theme import protocol_style

_MEASURES = {
    "W₁, points": "wasserstein",
    "JSD, nats": "jsd",
}

# By title of the measure, by protocol and by method, a distance >= 0.
Measures = Mapping[str, Mapping[str, Mapping[str, float]]]


def build_closeness(dataset: DatasetAnalysis, *, name: str) -> ReportFigure | None:
    """Mean distances from the truth by measure, protocol and method; None without a truth."""
    measures: dict[str, dict[str, dict[str, float]]] = {}
    lowest, highest = metric_words(dataset.metric).ends
    ends = {
        f"error of the {lowest} order, points": "min_error",
        f"error of the {highest} order, points": "max_error",
    }
    for title, attribute in {**_MEASURES, **ends}.items():
        for method, analysis in dataset.methods.items():
            for protocol in analysis.averages:
                average = of_default_estimator(analysis, analysis.averages, protocol)
                if average is not None:
                    distances = measures.setdefault(title, {}).setdefault(protocol, {})
                    distances[method] = getattr(average, attribute)
    if not measures:
        return None
    caption = (
        "Distance of each protocol's estimate from the truth, averaged over draws of its random "
        "part. Lower is better."
    )
    wide, narrow = draw_closeness(measures), draw_closeness(measures, width=NARROW)
    return ReportFigure(name, caption, wide, narrow, WIDE_ONLY)


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
