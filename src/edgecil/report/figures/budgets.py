"""Distance from the truth against the number of runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from edgecil.estimation.analysis import DatasetAnalysis
from edgecil.estimation.budgets import BudgetPoint
from edgecil.report.figures.canvas import colour_of, drawing, marker_of, new_figure, shorten
from edgecil.report.figures.report_figure import ReportFigure
from edgecil.report.slug import slug

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def build_budgets(dataset: DatasetAnalysis, name: str) -> ReportFigure | None:
    """A method's distance from the truth against the number of runs; None without a truth."""
    curves = {p: points for p, points in dataset.methods[name].by_budget.items() if points}
    if not curves:
        return None
    caption = (
        f"{name}: distance W₁ of the Gaussian estimate from the truth against the number of runs; "
        "mean over draws, and the band that holds 90 % of them."
    )
    return ReportFigure(f"budgets-{slug(name)}", caption, draw_budgets(name, curves))


def draw_budgets(name: str, curves: Mapping[str, Sequence[BudgetPoint]]) -> Figure:
    """Draw mean W₁ with the band that holds 90 % of the draws, by protocol.

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
                label=shorten(protocol, 16),
            )
        axes.set_xscale("log")
        axes.set_xticks(sizes, [str(size) for size in sizes])
        axes.minorticks_off()
        axes.set_ylim(bottom=0.0)
        axes.set_title(shorten(name), loc="left")
        axes.set_xlabel("runs", fontsize=8)
        axes.set_ylabel("W₁, points", fontsize=8)
        axes.tick_params(labelsize=8)
        axes.legend(fontsize=8)
    return figure
