"""A predictor against accuracy: whether what is called hard is hard."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from edgecil.io.arrays import Floats
from edgecil.report.figures.canvas import (
    FAINT,
    INK,
    TRUTH,
    colour_of,
    drawing,
    marker_of,
    new_figure,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_prediction(
    name: str,
    z: Floats,
    accuracies: Floats,
    marked: Mapping[tuple[str, str], tuple[float, float]],
    *,
    predictor: str,
    told: str,
) -> Figure:
    """Draw every order as a dot.

    Args:
        name: of the method.
        z: (n,) the predictor in standard deviations from its mean over all orders.
        accuracies: (n,) per cent.
        marked: by protocol and label, the orders to be named: z and accuracy.
        predictor: what it is called.
        told: what is to be said of the correlation.
    """
    with drawing():
        figure = new_figure(2.5, width=3.9)
        axes = figure.subplots()
        axes.plot(z, accuracies, ".", color=TRUTH, markersize=5, markeredgecolor=FAINT, mew=0.3)
        if np.ptp(z) > 0.0:
            slope, height = np.polyfit(z, accuracies, 1)
            ends = np.array([z.min(), z.max()])
            axes.plot(ends, slope * ends + height, color=FAINT, lw=1.0, ls="--")
        for (protocol, label), (at, accuracy) in marked.items():
            axes.plot(
                at, accuracy, marker_of(protocol), color=colour_of(protocol), markersize=6, zorder=3
            )
            axes.annotate(
                label,
                (at, accuracy),
                xytext=(0, 5),
                textcoords="offset points",
                ha="center",
                fontsize=8,
                color=INK,
            )
        axes.margins(0.1)
        axes.set_title(f"{name}: {told}", loc="left", fontsize=9)
        axes.set_xlabel(f"{predictor}, standard deviations from its mean", fontsize=8)
        axes.set_ylabel("accuracy, per cent", fontsize=8)
        axes.tick_params(labelsize=8)
    return figure
