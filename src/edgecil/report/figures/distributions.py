"""The truth as a histogram, what three runs make of it as curves, and the ends that they found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from edgecil.estimation.distances import grid
from edgecil.estimation.distributions import Distribution
from edgecil.io.arrays import Floats
from edgecil.report.figures.canvas import (
    INK,
    TRUTH,
    bare,
    colour_of,
    drawing,
    marker_of,
    new_figure,
)

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_POINTS = 400
_CLIPPED = 3.0  # what is this many times higher than the lowest goes out of sight


@dataclass(frozen=True, eq=False)
class Shape:
    """What is drawn of one method.

    Attributes:
        name: the method's.
        truth: (n,) accuracies of every order, or of a sample; None if they are not known.
        guesses: by protocol, the distribution that its runs suggest.
        draws: by protocol, what single draws of its random part suggest.
        ends: by protocol, the least and greatest accuracy found; a mean over draws where it draws.
        known: (n,) all accuracies that were measured, shown as ticks where the truth is not known.
        estimate: what stands for the truth where it is not known: how it was made, and it.
        sampled: whether a sample stands for the truth.
    """

    name: str
    truth: Floats | None
    guesses: Mapping[str, Distribution]
    draws: Mapping[str, Sequence[Distribution]] = field(default_factory=dict)
    ends: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    known: Floats | None = None
    estimate: tuple[str, Distribution] | None = None
    sampled: bool = False


def draw_distributions(shapes: Sequence[Shape], columns: int = 1) -> Figure:
    """One panel per method, each with an axis of its own, and one legend."""
    rows = -(-len(shapes) // columns)
    with drawing():
        figure = new_figure(0.5 + 1.9 * rows, width=3.9 * columns)
        panels = figure.subplots(rows, columns, squeeze=False).ravel()
        for axes, shape in zip(panels, shapes, strict=False):
            _draw_shape(axes, shape)
        for axes in panels[len(shapes) :]:
            axes.set_axis_off()
        entries: dict[str, Artist] = {}
        for axes in panels:
            handles, labels = axes.get_legend_handles_labels()
            entries |= dict(zip(labels, handles, strict=True))
        figure.legend(
            list(entries.values()),
            list(entries),
            loc="outside upper left",
            ncols=min(len(entries), 3 * columns),
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
            label=protocol,
        )
    axes.axhline(0.0, color=INK, lw=0.6)
    axes.set_ylim(-top * (0.06 + 0.08 * len(shape.ends)), top)
    axes.set_xlim(low, high)
    axes.set_title(shape.name, loc="left")
    axes.set_xlabel("accuracy of an order, per cent", fontsize=8)
    axes.tick_params(labelsize=8)
    bare(axes)


def _draw_truth(axes: Axes, shape: Shape) -> float | None:
    """The histogram with its ends marked; its height."""
    if shape.truth is None:
        if shape.known is not None:
            heights = np.zeros(len(shape.known))
            axes.plot(shape.known, heights, "|", color=INK, markersize=9, label="runs")
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
    """Where the axis begins and ends: all accuracies, and most of every curve."""
    found = [value for ends in shape.ends.values() for value in ends]
    for values in (shape.truth, shape.known):
        found += [] if values is None else list(values)
    guesses = list(shape.guesses.values())
    guesses += [] if shape.estimate is None else [shape.estimate[1]]
    for guess in guesses:
        found += list(guess.interval(0.98))
    margin = 0.08 * (max(found) - min(found)) or 1.0
    return max(min(found) - margin, -2.0), min(max(found) + margin, 102.0)


def _density(distribution: Distribution, edges: Floats) -> Floats:
    """The mean density between neighbouring edges, so that an atom is a spike."""
    return np.asarray(np.diff(distribution.cdf(edges)) / np.diff(edges))
