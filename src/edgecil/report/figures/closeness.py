"""Distance of every protocol's estimate from the truth, for every method."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from edgecil.estimation.analysis import DatasetAnalysis
from edgecil.estimation.summary import of_default_estimator
from edgecil.report.figures.canvas import (
    WIDTH,
    colour_of,
    drawing,
    marker_of,
    new_figure,
    shorten,
)
from edgecil.report.figures.report_figure import ReportFigure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_MEASURES = {
    "JSD, nats": "jsd",
    "W₁, points": "wasserstein",
    "error of the worst order, points": "min_error",
    "error of the best order, points": "max_error",
}


def build_closeness(dataset: DatasetAnalysis) -> ReportFigure | None:
    """Mean distances from the truth by measure, protocol and method; None without a truth."""
    measures: dict[str, dict[str, dict[str, float]]] = {}
    for title, attribute in _MEASURES.items():
        for name, method in dataset.methods.items():
            for protocol in method.averages:
                average = of_default_estimator(method, method.averages, protocol)
                if average is not None:
                    distances = measures.setdefault(title, {}).setdefault(protocol, {})
                    distances[name] = getattr(average, attribute)
    if not measures:
        return None
    caption = (
        "Distance of each protocol's Gaussian estimate from the truth (with the unbiased standard "
        "deviation for random and latin), averaged over draws of its random part. Lower is better."
    )
    return ReportFigure("closeness", caption, draw_closeness(measures))


def draw_closeness(measures: Mapping[str, Mapping[str, Mapping[str, float]]]) -> Figure:
    """Draw distances as dots.

    Args:
        measures: by title of the measure, by protocol and by method, a distance >= 0.
    """
    methods = list(
        dict.fromkeys(
            method
            for protocols in measures.values()
            for distances in protocols.values()
            for method in distances
        )
    )
    with drawing():
        rows = -(-len(measures) // 2)
        figure = new_figure(rows * (0.85 + 0.3 * len(methods)) + 0.3, width=WIDTH)
        panels = figure.subplots(rows, 2, sharey=True, squeeze=False).ravel()
        for axes, (title, protocols) in zip(panels, measures.items(), strict=False):
            for index, (protocol, distances) in enumerate(protocols.items()):
                shift = 0.14 * (index - (len(protocols) - 1) / 2.0)
                axes.plot(
                    list(distances.values()),
                    [methods.index(method) + shift for method in distances],
                    marker_of(protocol),
                    color=colour_of(protocol),
                    markersize=5.5,
                    clip_on=False,
                    label=shorten(protocol, 16),
                )
            axes.set_title(title, loc="left", fontsize=9)
            axes.set_yticks(range(len(methods)), [shorten(name, 20) for name in methods])
            axes.set_ylim(len(methods) - 0.5, -0.5)
            axes.margins(x=0.08)
            axes.set_xlim(left=0.0)
            axes.tick_params(labelsize=8)
            axes.grid(axis="y", lw=0.4, alpha=0.5)
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper left", ncols=len(labels), fontsize=8)
    return figure
