"""All methods on one accuracy axis: every order a dot, mean and intervals, worst and best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from edgecil.estimation.analysis import DatasetAnalysis
from edgecil.estimation.distributions import SAME, Distribution, grid
from edgecil.estimation.order_table import OrderRow
from edgecil.estimation.summary import MethodSummary
from edgecil.io.arrays import Floats
from edgecil.report.figures.report_figure import NARROW, WIDE, ReportFigure
from edgecil.report.metrics import MetricWords
from edgecil.report.scene.layout import (
    Entry,
    fit,
    label_width,
    legend,
    marker,
    text_width,
    whisker,
)
from edgecil.report.scene.marks import Dots, Line, Mark, Scene, Text
from edgecil.report.scene.scale import Scale, x_axis
from edgecil.report.scene.theme import OTHER_ORDERS, protocol_style
from edgecil.sequences.given import NAME as GIVEN
from edgecil.sequences.sequence import ClassSequence

_MOST_DOTS = 1200  # of one row; beyond, a dot stands for several orders
_DENSITY_POINTS = 160
_OTHER_OPACITY = 0.55  # of the dots of orders that no protocol chose
_LEAST_SHAPE = 8  # orders from which an estimated distribution is drawn
_GAP = 3.0  # between the base line and the dots


@dataclass(frozen=True, eq=False)
class OverviewRow:
    """What is drawn for one method.

    Attributes:
        summary: mean, intervals, worst and best.
        accuracies: (n,) of every order, per cent.
        protocols: n names: the protocol that chose the order, "" for orders of the truth alone.
        orders: n places of the orders in the page's table.
        shared: by protocol, others of which no order is drawn, because it chose them too.
        truth: (m,) accuracies whose density is drawn; None if it is not known.
        per_dot: how many orders a dot stands for.
    """

    summary: MethodSummary
    accuracies: Floats
    protocols: tuple[str, ...]
    orders: tuple[int, ...]
    truth: Floats | None
    per_dot: int = 1
    shared: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def build_overview(
    dataset: DatasetAnalysis,
    ranked: Sequence[MethodSummary],
    orders: Sequence[OrderRow],
    places: Mapping[ClassSequence, int],
    *,
    name: str = "overview",
    words: MetricWords,
) -> ReportFigure:
    """The first figure of a report.

    Args:
        dataset: the analysis.
        ranked: its methods from top to bottom.
        orders: its orders.
        places: of the orders in the page's table.
        name: stem of its file names.
        words: of the metric on the axis.
    """
    rows = [_row(dataset, summary, orders, places) for summary in ranked]
    wide, narrow = draw_overview(rows, words), draw_overview(rows, words, width=NARROW)
    return ReportFigure(name, _caption(rows, words), wide, narrow)


def draw_overview(rows: Sequence[OverviewRow], words: MetricWords, *, width: float = WIDE) -> Scene:
    """Draw one row per method on a shared axis, in the given order from top to bottom."""
    return (_draw_narrow if width < 600.0 else _draw_wide)(rows, words, width)


def _row(
    dataset: DatasetAnalysis,
    summary: MethodSummary,
    orders: Sequence[OrderRow],
    places: Mapping[ClassSequence, int],
) -> OverviewRow:
    name = summary.name
    truth = dataset.methods[name].truth
    is_truth = () if truth is None or truth.kind == "sample" else truth.protocols
    own = sorted(
        (order for order in orders if name in order.accuracies),
        key=lambda order: order.accuracies[name],
    )
    per_dot = -(-len(own) // _MOST_DOTS)
    if per_dot > 1:
        own = [*own[:1], *own[1:-1:per_dot], *own[-1:]]
    protocols = [next((p for p, _ in order.choices if p not in is_truth), "") for order in own]
    return OverviewRow(
        summary,
        np.array([order.accuracies[name] for order in own]),
        tuple(protocols),
        tuple(places[order.sequence] for order in own),
        None if truth is None else truth.accuracies,
        per_dot,
        _shared(own, is_truth),
    )


def _shared(orders: Sequence[OrderRow], is_truth: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """By protocol, the protocols all of whose orders it chose before them."""
    chosen = [[p for p, _ in order.choices if p not in is_truth] for order in orders]
    drawn = {protocols[0] for protocols in chosen if protocols}
    hidden: dict[str, dict[str, None]] = {}
    for protocols in chosen:
        for other in protocols[1:]:
            if other not in drawn:
                hidden.setdefault(protocols[0], {})[other] = None
    return {protocol: tuple(others) for protocol, others in hidden.items()}


def _draw_wide(rows: Sequence[OverviewRow], words: MetricWords, width: float) -> Scene:
    """Names on the left, the shared axis in the middle, columns of numbers on the right."""
    height = max(24.0, min(72.0, 240.0 / len(rows)))
    size = 13.0 if height > 40.0 else 12.0
    names = label_width((row.summary.name for row in rows), 1.16 * size, most=190.0)
    columns = {"mean": 118.0, _range_title(rows): 116.0, **dict.fromkeys(words.ends, 52.0)}
    left, right = names + 22.0, width - sum(columns.values()) - 12.0
    marks, top = legend(_entries(rows), 0.0, 2.0, width)
    top += 18.0
    scale = _scale(rows, left + 8.0, right - 8.0)
    bottom = top + height * len(rows)
    marks += x_axis(
        scale, top, bottom, title=f"{words.title} of a class order, {words.unit}".rstrip(", ")
    )
    ends = np.cumsum([right + 12.0, *columns.values()])[1:].tolist()
    for title, end in zip(columns, ends, strict=True):
        marks.append(Text(end, top - 8.0, title, 11.5, "end", colour="faint"))
    for place, row in enumerate(rows):
        upper = top + place * height
        if place:
            marks.append(Line(((0.0, upper), (width, upper)), "line"))
        base = upper + 0.5 * height
        marks.append(
            Text(0.0, base + 4.0, fit(row.summary.name, names, size, bold=True), size, bold=True)
        )
        marks += _draw_row(row, scale, base, 0.44 * height, 0.42 * height)
        summary = row.summary
        mean, between = _numbers(summary)
        is_stacked = height >= 44.0 and between != ""
        shift = 80.0 if between and not is_stacked else 0.0
        y = base - 1.0 if is_stacked else base + 4.0
        marks.append(Text(ends[0] - shift, y, mean, size + 1.0, "end", bold=True))
        if between:
            y = base + 14.0 if is_stacked else base + 4.0
            marks.append(Text(ends[0], y, between, 11.0, "end", colour="faint"))
        for text, end in zip(_more_numbers(summary), ends[1:], strict=True):
            marks.append(Text(end, base + 4.0, text, 12.0, "end"))
    return Scene(width, bottom + 44.0, tuple(marks))


def _draw_narrow(rows: Sequence[OverviewRow], words: MetricWords, width: float) -> Scene:
    """Name and numbers above each row of the shared axis."""
    height = 62.0 if len(rows) <= 6 else 44.0
    text = 36.0
    marks, top = legend(_entries(rows), 0.0, 2.0, width, 11.0)
    top += 4.0
    scale = _scale(rows, 8.0, width - 8.0)
    bottom = top + (height + text) * len(rows)
    marks += x_axis(
        scale,
        top,
        bottom,
        most=5,
        title=f"{words.title} of a class order, {words.unit}".rstrip(", "),
        size=11.5,
    )
    for place, row in enumerate(rows):
        upper = top + place * (height + text)
        if place:
            marks.append(Line(((0.0, upper), (width, upper)), "edge-line"))
        summary = row.summary
        mean, between = _numbers(summary)
        around = f" ({between})" if between else ""
        marks.append(Text(width, upper + 16.0, around, 11.5, "end", colour="faint"))
        number = width - text_width(around, 11.5)
        marks.append(Text(number, upper + 16.0, mean, 14.0, "end", bold=True))
        room = number - text_width(mean, 14.0) - 10.0
        marks.append(Text(0.0, upper + 16.0, fit(summary.name, room, bold=True), 13.0, bold=True))
        inside, lowest, highest = _more_numbers(summary)
        parts = [f"{words.ends[0]} {lowest}", f"{words.ends[1]} {highest}"]
        if inside:
            parts.insert(0, f"{_range_title([row])} {inside}")
        marks.append(Text(0.0, upper + 32.0, "  ·  ".join(parts), 11.0, colour="faint"))
        base = upper + text + 0.52 * height
        marks += _draw_row(row, scale, base, 0.45 * height, 0.4 * height)
    return Scene(width, bottom + 42.0, tuple(marks))


def _draw_row(
    row: OverviewRow, scale: Scale, base: float, above: float, below: float
) -> list[Mark]:
    """The density above the base line, the intervals on it, the dots below."""
    summary = row.summary
    marks: list[Mark] = []
    area = _density(row, scale, base, above)
    if area:
        marks.append(Line(tuple(area), "", fill="truth"))
    low, high = scale(summary.lowest), scale(summary.highest)
    marks.append(Line(((low, base), (high, base)), "edge-line", 1.0))
    x = scale.map(row.accuracies)
    radius = _radius(len(x))
    y = base + _GAP + radius + _swarm(x, radius, below - _GAP - 2.0 * radius)
    names = np.array(row.protocols)
    for protocol in sorted(dict.fromkeys(row.protocols), key=lambda name: name != ""):
        chosen = np.flatnonzero(names == protocol)
        colour, shape = protocol_style(protocol) if protocol else OTHER_ORDERS
        bigger = 1.0 if protocol == "" or set(row.protocols) == {protocol} else 1.35
        data = {"method": summary.name, "orders": " ".join(str(row.orders[i]) for i in chosen)}
        if row.per_dot > 1:
            data["per"] = str(row.per_dot)
        opacity = _OTHER_OPACITY if protocol == "" else 0.9
        marks.append(Dots(x[chosen], y[chosen], radius * bigger, colour, shape, opacity, data))
    for at in (low, high):
        marks.append(Line(((at, base - 5.0), (at, base + _GAP + 2.0 * radius + 2.0)), "ink", 1.6))
    inside = summary.central
    if inside is not None:
        marks += whisker(scale(inside[0]), scale(inside[1]), base)
    if summary.mean_interval is not None:
        ends = ((scale(summary.mean_interval[0]), base), (scale(summary.mean_interval[1]), base))
        marks.append(Line(ends, "ink", 5.0))
    return marks + marker(scale(summary.mean), base, 4.6)


def _density(
    row: OverviewRow, scale: Scale, base: float, above: float
) -> list[tuple[float, float]]:
    """The outline of the truth's histogram, or of the estimated density."""
    if row.truth is not None:
        if np.ptp(row.truth) == 0.0:
            return []
        edges = grid(row.truth)
        heights = np.histogram(row.truth, edges)[0] / np.diff(edges)
    elif _has_estimate(row):
        assert row.summary.distribution is not None
        edges, heights = _estimated(row.summary.distribution, scale)
        if not heights.size:
            return []
    else:
        return []
    y = base - above * heights / max(float(heights.max()), 1e-12)
    outline = [(scale(edges[0]), base)]
    for start, end, level in zip(edges[:-1], edges[1:], y, strict=True):
        outline += [(scale(start), level), (scale(end), level)]
    return [*outline, (scale(edges[-1]), base)]


def _estimated(distribution: Distribution, scale: Scale) -> tuple[Floats, Floats]:
    """The edges and heights of an estimated density's histogram, inside the axis; may be empty.

    An estimate that is rounded to the accuracies that can occur has a bar for each, one step wide.
    """
    low, high = distribution.interval(0.99)
    gaps = np.diff(distribution.locations)
    step = float(gaps[gaps > SAME].min(initial=np.inf)) if distribution.width == 0.0 else np.inf
    bars = round((high - low) / step) + 1
    if step < np.inf and bars < _DENSITY_POINTS:
        edges = low + step * (np.arange(bars + 1) - 0.5)
    else:
        edges = np.linspace(low, high, _DENSITY_POINTS)
    heights = np.diff(distribution.cdf(edges)) / np.maximum(np.diff(edges), 1e-12)
    shown = edges.clip(scale.low, scale.high)
    inside = np.flatnonzero(np.diff(shown) > 0.0)
    return shown[inside[0] : inside[-1] + 2] if inside.size else shown[:0], heights[inside]


def _has_estimate(row: OverviewRow) -> bool:
    """Whether enough orders were run to draw the shape of an estimated distribution."""
    return row.summary.distribution is not None and row.summary.order_count >= _LEAST_SHAPE


def _swarm(x: Floats, radius: float, room: float) -> Floats:
    """How far below the first level each dot lies: dots that would touch are stacked."""
    bins = np.floor(x / (2.0 * radius + 0.5)).astype(int)
    levels = np.zeros(len(x))
    for bin_ in np.unique(bins):
        members = np.flatnonzero(bins == bin_)
        levels[members] = np.arange(len(members))
    most = float(levels.max(initial=0.0))
    step = min(2.0 * radius + 0.6, max(room, 0.0) / most) if most else 0.0
    return levels * step


def _radius(dots: int) -> float:
    return 4.2 if dots <= 12 else 3.2 if dots <= 40 else 2.4 if dots <= 150 else 1.8


def _scale(rows: Sequence[OverviewRow], start: float, end: float) -> Scale:
    values: list[float] = []
    for row in rows:
        summary = row.summary
        values += [summary.lowest, summary.highest, summary.mean]
        for interval in (summary.mean_interval, summary.central):
            values += interval or ()
    low, high = min(values), max(values)
    limits = (0.0, 100.0) if low >= 0.0 and high <= 100.0 else None
    return Scale.around(values, start, end, margin=0.03, limits=limits)


def _range_title(rows: Sequence[OverviewRow]) -> str:
    measured = [row.summary.basis in ("enumerated", "sample") for row in rows]
    if any(measured):
        return "90 % of orders" if all(measured) else "90 %"
    return "next order, 90 %"


def _numbers(summary: MethodSummary) -> tuple[str, str]:
    """The mean and its interval."""
    if summary.mean_interval is None:
        return f"{summary.mean:.1f}", ""
    return f"{summary.mean:.1f}", _span(summary.mean_interval)


def _more_numbers(summary: MethodSummary) -> tuple[str, str, str]:
    inside = summary.central
    span = "" if inside is None else _span(inside)
    return span, f"{summary.lowest:.1f}", f"{summary.highest:.1f}"


def _span(interval: tuple[float, float]) -> str:
    return f"{interval[0]:.1f} to {interval[1]:.1f}"


def _entries(rows: Sequence[OverviewRow]) -> list[Entry]:
    """The legend: what is drawn and nothing else."""
    bases = dict.fromkeys(row.summary.basis for row in rows)
    entries = []
    protocols = sorted({name for row in rows for name in row.protocols} - {""})
    for place, protocol in enumerate(protocols):
        colour, shape = protocol_style(protocol)
        others = dict.fromkeys(name for row in rows for name in row.shared.get(protocol, ()))
        label = ", ".join([protocol, *others])
        if protocol == GIVEN:
            label = "your order" if place == 0 else "yours"
        elif place == 0:
            label = f"order of {label}"
        entries.append(Entry(label, colour, shape))
    if any("" in row.protocols for row in rows):
        label = "other order" if protocols else "order"
        entries.append(Entry(label, *OTHER_ORDERS, opacity=_OTHER_OPACITY))
    entries.append(Entry("worst and best", "ink", "bar"))
    if any(row.summary.mean_interval for row in rows):
        entries.append(Entry("mean, 90 % interval", "ink", "interval"))
    else:
        entries.append(Entry("mean", "ink", "diamond"))
    if any(row.summary.central for row in rows):
        is_measured = bases.keys() & {"enumerated", "sample"}
        text = "90 % of orders" if is_measured else "next order, 90 %"
        entries.append(Entry(text, "ink", "whisker"))
    if "enumerated" in bases:
        entries.append(Entry("all orders", "truth"))
    if "sample" in bases:
        entries.append(Entry("random sample", "truth"))
    if any(_has_estimate(row) for row in rows):
        entries.append(Entry("estimated distribution", "truth"))
    return entries


def explain(summaries: Sequence[MethodSummary]) -> str:
    """How to read the bars and the grey areas of the chart, one or two sentences."""
    bases = {
        summary.basis
        for summary in summaries
        if summary.basis != "estimate" or summary.order_count >= _LEAST_SHAPE
    }
    sentences = []
    if bases & {"enumerated", "sample"}:
        sentences.append(
            "Grey is the measured distribution over "
            + ("all orders" if "sample" not in bases else "a random sample of orders")
            + ", and the thin bar holds 90 % of it."
        )
    if "estimate" in bases:
        sentences.append(
            "Grey is the distribution that fits the orders run best. The thin bar, in which the "
            "next order falls with 90 % probability, also counts how uncertain that fit is and may "
            "reach beyond it."
        )
    return " ".join(sentences)


def _caption(rows: Sequence[OverviewRow], words: MetricWords) -> str:
    behind = {
        "enumerated": "grey, the distribution over all orders",
        "sample": "grey, the distribution over a random sample of orders",
        "estimate": "grey, the estimated distribution over all orders",
    }
    shown = dict.fromkeys(
        row.summary.basis for row in rows if row.summary.basis != "estimate" or _has_estimate(row)
    )
    greys = [behind[basis] for basis in shown if basis in behind]
    methods = "each row is a method; " if len(rows) > 1 else ""
    most = max(row.per_dot for row in rows)
    dots = "each dot is an order" if most == 1 else f"each dot stands for up to {most} orders"
    return (
        f"{words.title[0].upper()}{words.title[1:]} over class orders: {methods}{dots}; "
        "vertical lines mark the worst and the best order that was run, the diamond marks the mean"
        f"{'; ' if greys else ''}{'; '.join(greys)}."
    )
