"""Distance from the truth as the number of runs grows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from edgecil.estimation.budgets import BudgetPoint
from edgecil.report.figures.canvas import colour_of, drawing, marker_of, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_samples(name: str, curves: Mapping[str, Sequence[BudgetPoint]]) -> Figure:
    """Draw mean W₁ with the band that holds nine draws of ten, by protocol.

    Args:
        name: of the method.
        curves: by protocol, points in ascending number of runs.
    """
    with drawing():
        figure = new_figure(2.4, width=3.9)
        axes = figure.subplots()
        for protocol, points in curves.items():
            sizes = [point.budget for point in points]
            low, high = zip(*(point.wasserstein_band for point in points), strict=True)
            colour = colour_of(protocol)
            axes.fill_between(sizes, low, high, color=colour, alpha=0.15, lw=0)
            axes.plot(
                sizes,
                [point.wasserstein for point in points],
                marker=marker_of(protocol),
                markersize=4,
                color=colour,
                lw=1.4,
                label=protocol,
            )
        axes.set_xscale("log")
        axes.set_xticks(sizes, [str(size) for size in sizes])
        axes.minorticks_off()
        axes.set_ylim(bottom=0.0)
        axes.set_title(name, loc="left")
        axes.set_xlabel("runs", fontsize=8)
        axes.set_ylabel("W₁, points", fontsize=8)
        axes.tick_params(labelsize=8)
        axes.legend(fontsize=8)
    return figure
