"""A predictor against accuracy, one dot per order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from edgecil.estimation.analysis import DatasetAnalysis
from edgecil.io.arrays import Floats
from edgecil.report.figures.canvas import (
    FAINT,
    INK,
    TRUTH,
    colour_of,
    drawing,
    marker_of,
    new_figure,
    shorten,
)
from edgecil.report.figures.report_figure import ReportFigure
from edgecil.report.slug import slug

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def build_prediction(dataset: DatasetAnalysis, name: str) -> ReportFigure | None:
    """A method's accuracies against the predictor; None without a predictor."""
    method, predictor = dataset.methods[name], dataset.predictor
    if predictor is None or method.predictor is None:
        return None
    accuracies = dataset.table.orders(name).by_sequence()
    pairs = [(predictor.value(sequence), value) for sequence, value in accuracies.items()]
    points = np.array([(z, value) for z, value in pairs if z is not None]).reshape(-1, 2)
    if not len(points):
        return None
    marked = {}
    protocol = dataset.extreme_protocol
    if protocol is not None:
        orders = dataset.table.orders(name, protocol)
        for label, sequence, accuracy in zip(
            orders.labels, orders.sequences, orders.accuracies, strict=True
        ):
            z = predictor.value(sequence)
            if label in ("hard", "median", "easy") and z is not None:
                marked[protocol, label] = (z, float(accuracy))
    r = method.correlations[method.predictor].pearson
    figure = draw_prediction(
        name,
        points[:, 0],
        points[:, 1],
        marked,
        predictor=predictor.label,
        correlation="r is not defined" if r is None else f"r = {r:+.2f}",
    )
    named = f" Named dots are the sequences of {protocol}." if marked else ""
    caption = (
        f"{predictor.label} against the accuracy of {name}, one dot per order that was run, with a "
        f"least-squares line.{named}"
    )
    return ReportFigure(f"prediction-{slug(name)}", caption, figure)


def draw_prediction(
    name: str,
    z: Floats,
    accuracies: Floats,
    marked: Mapping[tuple[str, str], tuple[float, float]],
    *,
    predictor: str,
    correlation: str,
) -> Figure:
    """Draw every order as a dot.

    Args:
        name: of the method.
        z: (n,) the predictor in standard deviations from its mean over all orders.
        accuracies: (n,) per cent.
        marked: by protocol and label, z and accuracy of the orders to name.
        predictor: its label.
        correlation: the coefficient as text, for the title.
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
        axes.set_title(f"{shorten(name)}: {correlation}", loc="left", fontsize=9)
        axes.set_xlabel(f"{shorten(predictor)}, standard deviations from its mean", fontsize=8)
        axes.set_ylabel("accuracy, %", fontsize=8)
        axes.tick_params(labelsize=8)
    return figure
