"""How far from the truth the protocols are, side by side: the further left, the better."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from edgecil.report.figures.canvas import WIDTH, colour_of, drawing, marker_of, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_closeness(measures: Mapping[str, Mapping[str, Mapping[str, float]]]) -> Figure:
    """Draw distances as dots.

    Args:
        measures: by title of the measure, by protocol and by method, a distance >= 0.
    """
    methods = list(
        dict.fromkeys(
            method
            for protocols in measures.values()
            for found in protocols.values()
            for method in found
        )
    )
    with drawing():
        rows = -(-len(measures) // 2)
        figure = new_figure(rows * (0.85 + 0.3 * len(methods)) + 0.3, width=WIDTH)
        panels = figure.subplots(rows, 2, sharey=True, squeeze=False).ravel()
        for axes, (title, protocols) in zip(panels, measures.items(), strict=False):
            for index, (protocol, found) in enumerate(protocols.items()):
                shift = 0.14 * (index - (len(protocols) - 1) / 2.0)
                axes.plot(
                    list(found.values()),
                    [methods.index(method) + shift for method in found],
                    marker_of(protocol),
                    color=colour_of(protocol),
                    markersize=5.5,
                    clip_on=False,
                    label=protocol,
                )
            axes.set_title(title, loc="left", fontsize=9)
            axes.set_yticks(range(len(methods)), methods)
            axes.set_ylim(len(methods) - 0.5, -0.5)
            axes.margins(x=0.08)
            axes.set_xlim(left=0.0)
            axes.tick_params(labelsize=8)
            axes.grid(axis="y", lw=0.4, alpha=0.5)
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper left", ncols=len(labels), fontsize=8)
    return figure
