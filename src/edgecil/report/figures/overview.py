"""All methods on one accuracy axis: every order a dot, the mean, the worst and the best order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from edgecil.estimation.analysis import DatasetAnalysis
from edgecil.estimation.distances import grid
from edgecil.estimation.order_table import list_orders
from edgecil.estimation.summary import MethodSummary, summaries
from edgecil.io.arrays import Floats
from edgecil.report.class_names import describe
from edgecil.report.figures.canvas import (
    INK,
    TRUTH,
    WIDTH,
    bare,
    colour_of,
    drawing,
    marker_of,
    new_figure,
    shorten,
)
from edgecil.report.figures.report_figure import ReportFigure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SCALE = 1.75  # it fills the width of a page, and is still legible on a phone
_ROW = 0.78  # inches per method
_DENSITY = 0.46  # height of the densities, in rows
_SWARM = 0.38  # depth of the dots below the base line, in rows
_COLUMNS = 110  # dots that fit beside each other on the axis
_POINTS = 300
_DOT_CLASSES = 200  # letters of class names in a tooltip


@dataclass(frozen=True, eq=False)
class OverviewRow:
    """What is drawn for one method.

    Attributes:
        summary: mean, intervals, worst and best.
        accuracies: (n,) of every order, per cent.
        protocols: n names: the protocol that chose the order, "" for orders of the truth alone.
        truth: (m,) accuracies whose density is drawn; None if it is not known.
        tooltips: n texts.
    """

    summary: MethodSummary
    accuracies: Floats
    protocols: tuple[str, ...]
    truth: Floats | None
    tooltips: tuple[str, ...]


def build_overview(dataset: DatasetAnalysis) -> ReportFigure:
    """The first figure of a report."""
    rows = [_row(dataset, summary) for summary in summaries(dataset)]
    tooltips = {}
    for place, row in enumerate(rows):
        for layer, protocol in enumerate(_layers(row)):
            texts = [t for t, p in zip(row.tooltips, row.protocols, strict=True) if p == protocol]
            tooltips[_group(place, layer)] = texts
    figure = draw_overview(rows, dataset.metric)
    return ReportFigure("overview", _caption(rows), figure, _SCALE, tooltips)


def draw_overview(rows: Sequence[OverviewRow], metric: str = "accuracy") -> Figure:
    """Draw one row per method on a shared axis, in the given order from top to bottom."""
    with drawing():
        figure = new_figure(0.7 + _ROW * len(rows), width=WIDTH)
        axes = figure.subplots()
        values = np.concatenate([row.accuracies for row in rows])
        width = max(float(np.ptp(values)), 1.0) / _COLUMNS
        for place, row in enumerate(rows):
            _draw_row(axes, row, place, width)
        axes.set_ylim(len(rows) - 0.5, -0.62)
        axes.margins(x=0.06)
        axes.set_xlabel(f"{'accuracy' if metric == 'accuracy' else metric} of a class order, %")
        axes.grid(axis="x", lw=0.4, alpha=0.5)
        axes.set_axisbelow(True)
        bare(axes)
        for place, row in enumerate(rows):
            axes.annotate(
                shorten(row.summary.name),
                (0.0, place - _DENSITY),
                xycoords=("axes fraction", "data"),
                va="top",
                fontsize=10,
                fontweight="bold",
            )
        handles, labels = axes.get_legend_handles_labels()
        entries = dict(sorted(zip(labels, handles, strict=True), key=lambda entry: entry[0]))
        figure.legend(
            list(entries.values()),
            list(entries),
            loc="outside upper left",
            ncols=min(len(entries), 4),
            fontsize=7.5,
            handletextpad=0.3,
            columnspacing=1.2,
        )
    return figure


def _row(dataset: DatasetAnalysis, summary: MethodSummary) -> OverviewRow:
    name, label = summary.name, "" if dataset.predictor is None else dataset.predictor.label
    truth = dataset.methods[name].truth
    is_truth = () if truth is None else truth.protocols
    accuracies, protocols, tooltips = [], [], []
    for order in list_orders(dataset):
        if name not in order.accuracies:
            continue
        accuracies.append(order.accuracies[name])
        protocols.append(next((p for p, _ in order.choices if p not in is_truth), ""))
        classes = describe(dataset.table, order.sequence)
        repeats = order.repeats[name]
        parts = [
            f"{name}: {order.accuracies[name]:.2f}",
            f"mean of {repeats} repeats" if repeats > 1 else "",
            "" if order.z is None else f"{label} {order.z:+.2f} std from its mean",
            f"chosen by {order.chosen_by}",
            classes if len(classes) <= _DOT_CLASSES else classes[:_DOT_CLASSES] + "…",
        ]
        tooltips.append("\n".join(part for part in parts if part))
    return OverviewRow(
        summary,
        np.array(accuracies),
        tuple(protocols),
        None if truth is None else truth.accuracies,
        tuple(tooltips),
    )


def _layers(row: OverviewRow) -> list[str]:
    """The protocols of a row's dots; orders of the truth alone come first, below the others."""
    return sorted(dict.fromkeys(row.protocols), key=lambda protocol: protocol != "")


def _group(place: int, layer: int) -> str:
    """The id of a layer of dots in the SVG."""
    return f"dots-{place}-{layer}"


def _draw_row(axes: Axes, row: OverviewRow, place: int, width: float) -> None:
    """Draw a method; `width` is that of a dot in points of accuracy."""
    summary = row.summary
    _draw_density(axes, row, place)
    depth = place + 0.08 + _SWARM * _swarm(row.accuracies, width)
    names = np.array(row.protocols)
    for layer, protocol in enumerate(_layers(row)):
        chosen = names == protocol
        axes.plot(
            row.accuracies[chosen],
            depth[chosen],
            "o" if protocol == "" else marker_of(protocol),
            markersize=2.0 if protocol == "" else 3.6,
            color=INK if protocol == "" else colour_of(protocol),
            alpha=0.55 if protocol == "" else 0.95,
            markeredgewidth=0.0,
            label="order" if protocol == "" else f"order of {shorten(protocol, 16)}",
            gid=_group(place, layer),
            zorder=3,
        )
    if summary.central is not None:
        axes.plot(summary.central, [place, place], color=INK, lw=1.2, label="90 % of the orders")
    if summary.mean_interval is not None:
        axes.plot(
            summary.mean_interval,
            [place, place],
            color=INK,
            lw=3.0,
            label="90 % interval of the mean",
        )
    axes.plot(summary.mean, place, "D", color=INK, markersize=4.5, label="mean")
    axes.annotate(
        f"{summary.mean:.1f}",
        (summary.mean, place),
        xytext=(0, 4),
        textcoords="offset points",
        ha="center",
        fontsize=8.5,
        fontweight="bold",
    )
    for value, side, shift in ((summary.worst, "right", -5), (summary.best, "left", 5)):
        axes.plot([value, value], [place - 0.1, place + 0.44], color=INK, lw=1.0)
        axes.annotate(
            f"{value:.1f}",
            (value, place + 0.26),
            xytext=(shift, 0),
            textcoords="offset points",
            ha=side,
            va="center",
            fontsize=8.5,
        )


def _draw_density(axes: Axes, row: OverviewRow, place: int) -> None:
    """The truth's histogram, or the density of the estimate, above the row's base line."""
    if row.truth is not None:
        if np.ptp(row.truth) == 0.0:
            return
        edges = grid(row.truth)
        heights = np.histogram(row.truth, edges)[0] / np.diff(edges)
        label = "density of all orders" if row.summary.basis == "enumerated" else "random sample"
    elif row.summary.chosen is not None:
        distribution = row.summary.chosen.estimate.distribution
        low, high = distribution.interval(0.99)
        if high <= low:
            return
        edges = np.linspace(max(low, 0.0), min(high, 100.0), _POINTS)
        heights = np.diff(distribution.cdf(edges)) / np.diff(edges)
        label = "estimated density"
    else:
        return
    tops = place - _DENSITY * heights / max(float(heights.max()), 1e-12)
    axes.stairs(tops, edges, baseline=place, fill=True, color=TRUTH, label=label, lw=0)


def _swarm(values: Floats, width: float) -> Floats:
    """Depths in [0, 1] that keep dots apart: those within one width are stacked."""
    bins = np.floor(values / width).astype(int)
    ranks = np.zeros(len(values))
    for bin_ in np.unique(bins):
        members = np.flatnonzero(bins == bin_)
        ranks[members] = np.arange(len(members))
    return np.asarray(ranks / max(float(ranks.max()), 8.0))


def _caption(rows: Sequence[OverviewRow]) -> str:
    behind = {
        "enumerated": "grey, the distribution over all orders",
        "sample": "grey, the distribution over a random sample of orders",
        "estimate": "grey, the estimated distribution over all orders",
    }
    shown = dict.fromkeys(row.summary.basis for row in rows)
    greys = [behind[basis] for basis in shown if basis in behind]
    methods = "each row is a method, highest mean first; " if len(rows) > 1 else ""
    return (
        f"Accuracy over class orders: {methods}each dot is an order; vertical lines mark the worst "
        f"and the best order that was run, the diamond marks the mean{'; ' if greys else ''}"
        f"{'; '.join(greys)}."
    )
