"""The true distribution as a histogram, and each protocol's estimate of it as a curve."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from edgecil.estimation.analysis import DatasetAnalysis
from edgecil.estimation.distances import grid
from edgecil.estimation.distributions import Distribution
from edgecil.estimation.summary import choose_estimate, of_default_estimator, protocol_range
from edgecil.io.arrays import Floats
from edgecil.report.figures.canvas import (
    INK,
    TRUTH,
    bare,
    colour_of,
    drawing,
    marker_of,
    new_figure,
    shorten,
)
from edgecil.report.figures.report_figure import ReportFigure
from edgecil.report.slug import slug

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_POINTS = 400
_CLIPPED = 3.0  # curves are cut off at this multiple of the histogram's height
_DRAWN = ("random", "edge")  # protocols whose estimates are drawn


@dataclass(frozen=True, eq=False)
class Shape:
    """What is drawn of one method.

    Attributes:
        name: of the method.
        truth: (n,) accuracies of every order, or of a random sample; None if they are missing.
        guesses: by protocol, the distribution that it estimates; the typical one over draws.
        draws: by protocol, the estimates from single draws of its random part.
        ends: by protocol, its worst and best accuracy; means over draws where there are draws.
        measured: (n,) all accuracies that were measured, shown as ticks without a truth.
        estimate: a legend entry and the distribution that is filled in grey without a truth.
        sampled: whether a random sample stands for the truth.
    """

    name: str
    truth: Floats | None
    guesses: Mapping[str, Distribution]
    draws: Mapping[str, Sequence[Distribution]] = field(default_factory=dict)
    ends: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    measured: Floats | None = None
    estimate: tuple[str, Distribution] | None = None
    sampled: bool = False


def build_distribution(dataset: DatasetAnalysis, name: str) -> ReportFigure:
    """One method's distribution and the estimates of `random` and `edge`."""
    figure = draw_distribution(_shape(dataset, name))
    caption = f"Distribution of the accuracy of {name} over class orders."
    return ReportFigure(f"distribution-{slug(name)}", caption, figure)


def draw_distribution(shape: Shape) -> Figure:
    """Draw the distribution of one method."""
    with drawing():
        figure = new_figure(2.4, width=3.9)
        axes = figure.subplots()
        _draw_shape(axes, shape)
        handles, labels = axes.get_legend_handles_labels()
        figure.legend(
            handles,
            labels,
            loc="outside upper left",
            ncols=min(max(len(labels), 1), 3),
            fontsize=8,
            handlelength=1.6,
            columnspacing=1.2,
        )
    return figure


def _draw_shape(axes: Axes, shape: Shape) -> None:
    low, high = _limits(shape)
    edges = np.linspace(low, high, _POINTS + 1)
    points = (edges[:-1] + edges[1:]) / 2.0
    curves = {protocol: _density(guess, edges) for protocol, guess in shape.guesses.items()}
    heights = [float(curve.max()) for curve in curves.values()]
    if shape.estimate is not None:
        how, distribution = shape.estimate
        filled = _density(distribution, edges)
        axes.stairs(filled, edges, fill=True, color=TRUTH, label=how)
        heights.append(float(filled.max()))
    base = _draw_truth(axes, shape) or min(heights, default=1.0)
    top = max(1.3 * base, min(1.05 * max(heights, default=base), _CLIPPED * base))
    for protocol, others in shape.draws.items():
        for guess in others:
            axes.plot(points, _density(guess, edges), color=colour_of(protocol), lw=0.5, alpha=0.35)
    for protocol, curve in curves.items():
        axes.plot(points, curve, color=colour_of(protocol), lw=1.8)
    for index, (protocol, (worst, best)) in enumerate(shape.ends.items()):
        axes.plot(
            [worst, best],
            [-top * (0.09 + 0.08 * index)] * 2,
            color=colour_of(protocol),
            marker=marker_of(protocol),
            markersize=4,
            lw=1.2,
            label=shorten(protocol, 16),
        )
    axes.axhline(0.0, color=INK, lw=0.6)
    axes.set_ylim(-top * (0.06 + 0.08 * len(shape.ends)), top)
    axes.set_xlim(low, high)
    axes.set_title(shorten(shape.name), loc="left")
    axes.set_xlabel("accuracy of a class order, %", fontsize=8)
    axes.tick_params(labelsize=8)
    bare(axes)


def _draw_truth(axes: Axes, shape: Shape) -> float | None:
    """Draw the histogram with its ends marked, and return its height."""
    if shape.truth is None:
        if shape.measured is not None:
            heights = np.zeros(len(shape.measured))
            axes.plot(shape.measured, heights, "|", color=INK, markersize=9, label="runs")
        return None
    edges = grid(shape.truth) if np.ptp(shape.truth) > 0.0 else shape.truth[0] + [-0.25, 0.25]
    counts, _ = np.histogram(shape.truth, edges)
    heights = counts / counts.sum() / np.diff(edges)
    orders = f"{'sample' if shape.sampled else 'truth'}: {len(shape.truth)} orders"
    axes.stairs(heights, edges, fill=True, color=TRUTH, label=orders)
    top = float(heights.max())
    for end in (shape.truth.min(), shape.truth.max()):
        axes.plot([end, end], [0.0, top * 0.55], color=INK, lw=1.0)
        axes.annotate(
            f"{end:.1f}",
            (float(end), top * 0.55),
            xytext=(0, 2),
            textcoords="offset points",
            ha="center",
            fontsize=8,
        )
    return top


def _limits(shape: Shape) -> tuple[float, float]:
    """The limits of the axis: all accuracies and most of every curve are inside."""
    inside = [value for ends in shape.ends.values() for value in ends]
    for values in (shape.truth, shape.measured):
        inside += [] if values is None else list(values)
    guesses = list(shape.guesses.values())
    guesses += [] if shape.estimate is None else [shape.estimate[1]]
    for guess in guesses:
        inside += list(guess.interval(0.98))
    margin = 0.08 * (max(inside) - min(inside)) or 1.0
    return max(min(inside) - margin, -2.0), min(max(inside) + margin, 102.0)


def _density(distribution: Distribution, edges: Floats) -> Floats:
    """The mean density between neighbouring edges; a point mass becomes a spike."""
    return np.asarray(np.diff(distribution.cdf(edges)) / np.diff(edges))


def _shape(dataset: DatasetAnalysis, name: str) -> Shape:
    method = dataset.methods[name]
    ranges = {protocol: protocol_range(method, protocol) for protocol in dataset.protocols}
    ends = {protocol: ends for protocol, ends in ranges.items() if ends is not None}
    guesses, draws = {}, {}
    for protocol in _DRAWN:
        result = of_default_estimator(method, method.estimates, protocol)
        if result is not None and result.estimate is not None:
            guesses[protocol] = result.estimate.distribution
        redraws = of_default_estimator(method, method.redraws, protocol)
        if redraws is not None:
            guesses[protocol], draws[protocol] = redraws.typical, redraws.examples
    if method.truth is not None:
        sampled = method.truth.kind == "sample"
        return Shape(name, method.truth.accuracies, guesses, draws, ends, sampled=sampled)
    measured = np.array(list(dataset.table.orders(name).by_sequence().values()))
    chosen = choose_estimate(dataset, name)
    estimate = None
    if chosen is not None:
        label = f"estimate ({chosen.estimator}, {shorten(chosen.protocol, 16)})"
        estimate = (label, chosen.estimate.distribution)
    return Shape(name, None, guesses, draws, ends, measured, estimate)


def explain_distribution(dataset: DatasetAnalysis) -> str:
    """What colours and lines mean in the distributions of all methods."""
    kinds = {method.truth.kind for method in dataset.methods.values() if method.truth is not None}
    if not kinds:
        return (
            "Grey: estimated distribution over all orders. Curves: Gaussian estimates from the "
            "runs of random and of edge. Ticks: measured accuracies. Horizontal bars: worst and "
            "best accuracy of each protocol's runs."
        )
    orders = "a random sample of orders" if kinds == {"sample"} else "all orders"
    return (
        f"Grey: distribution over {orders}, with its worst and best accuracy. Thick curves: "
        "Gaussian estimates of random and of edge, averaged over draws of their random part; thin "
        "curves: single draws. Horizontal bars: worst and best accuracy of each protocol's runs, "
        "averaged over draws."
    )
