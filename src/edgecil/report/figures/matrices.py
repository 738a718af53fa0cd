"""Accuracy on every task after every task, for the hard, median and easy sequence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from edgecil.estimation.analysis import DatasetAnalysis
from edgecil.io.arrays import Floats
from edgecil.report.figures.canvas import WIDTH, drawing, new_figure
from edgecil.report.figures.report_figure import ReportFigure
from edgecil.report.slug import slug

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_NUMBERED_TASKS = 6
_SHADES = 10


def build_matrices(dataset: DatasetAnalysis, name: str) -> ReportFigure | None:
    """A method's accuracy matrices; None if no run of the extreme protocol has one."""
    matrices = {
        label: matrix
        for label, matrix in dataset.accuracy_matrices.get(name, {}).items()
        if not np.isnan(matrix[-1]).any()
    }
    if not matrices:
        return None
    caption = (
        f"Accuracy of {name} in % on each task after each task, for the sequences of "
        f"{dataset.extreme_protocol}. The number in the title is the mean of the last row, A(O)."
    )
    return ReportFigure(f"matrices-{slug(name)}", caption, draw_matrices(matrices))


def draw_matrices(matrices: Mapping[str, Floats]) -> Figure:
    """Draw accuracy matrices A[t, s], shape (K, K), NaN above the diagonal, by label."""
    from matplotlib import colormaps

    with drawing():
        shades = colormaps["cividis"].resampled(_SHADES)
        figure = new_figure(2.3, width=min(WIDTH, 1.9 * len(matrices) + 0.3))
        panels = figure.subplots(1, len(matrices), squeeze=False)[0]
        for axes, (label, matrix) in zip(panels, matrices.items(), strict=True):
            tasks = len(matrix)
            cells = axes.pcolormesh(matrix, cmap=shades, vmin=0.0, vmax=100.0)
            axes.set_aspect("equal")
            axes.invert_yaxis()
            if tasks <= _NUMBERED_TASKS:
                for after, on in zip(*np.tril_indices(tasks), strict=True):
                    value = matrix[after, on]
                    axes.text(
                        on + 0.5,
                        after + 0.5,
                        f"{value:.0f}",
                        ha="center",
                        va="center",
                        fontsize=8,
                        color="white" if value < 55.0 else "black",
                    )
                middles = np.arange(tasks) + 0.5
                numbers = [str(task + 1) for task in range(tasks)]
                axes.set_xticks(middles, numbers)
                axes.set_yticks(middles, numbers)
            else:
                axes.set_xticks([])
                axes.set_yticks([])
            axes.set_title(f"{label}: {np.mean(matrix[-1]):.1f}", fontsize=9)
            axes.set_xlabel("on task", fontsize=8)
            axes.tick_params(labelsize=8, length=0)
            for spine in axes.spines.values():
                spine.set_visible(False)
        panels[0].set_ylabel("after task", fontsize=8)
        bar = figure.colorbar(cells, ax=list(panels), shrink=0.8, label="accuracy, %")
        bar.outline.set_visible(False)
        bar.ax.tick_params(labelsize=8)
    return figure
