"""All methods on one axis: the hill of random orders, every order a dot, mean and intervals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from edgecil.analysis.answers import DatasetAnalysis
from edgecil.analysis.claims import Claims
from edgecil.io.arrays import Floats, Ints
from edgecil.io.numbers import per_cent
from edgecil.report.drawing import (
    NARROW,
    WIDE,
    Dots,
    Entry,
    Line,
    Mark,
    Scale,
    Scene,
    Text,
    cut_text,
    diamond,
    label_width,
    legend,
    text_width,
    whisker,
    x_axis,
)
from edgecil.report.figure import ReportFigure
from edgecil.report.order_table import NamedOrder, OrderTable, named_orders
from edgecil.report.theme import protocol_style
from edgecil.sequences.protocols import USER_SEQUENCES, find_protocol
from edgecil.statistics.distributions import grid
from edgecil.wording.metric_words import MetricWords, metric_words

_DENSITY_POINTS = 100
_LEAST_SHAPE = 8  # orders from which an estimated distribution is drawn
_MOST_DOTS = 1_000  # of a protocol in a row; of more, only the ends are dots
_ENDS = 25  # dots on each side
_BARS = 80  # of the values where not all are dots
_GAP = 3.0  # between the base line and the dots


@dataclass(frozen=True, eq=False)
class OverviewRow:
    """What is drawn for one method: n values, ascending, and the places of their orders.

    `protocols` chose the orders, "" for one that took every order. `order_share` is the share of
    the variance between runs that is due to the order.
    """

    name: str
    claims: Claims
    values: Floats
    protocols: tuple[str, ...]
    orders: Ints
    named: tuple[NamedOrder, ...] = ()
    order_share: float | None = None

    @property
    def is_measured(self) -> bool:
        """Whether all orders were run."""
        return self.claims.mean.validity == "measured"

    @property
    def has_shape(self) -> bool:
        """Whether there are enough orders to draw the shape of their distribution."""
        return self.is_measured or self.claims.order_count >= _LEAST_SHAPE

    @property
    def is_crowded(self) -> bool:
        """Whether a protocol has so many orders that only the ends are drawn as dots."""
        return max(Counter(self.protocols).values(), default=0) > _MOST_DOTS

    def value_of(self, label: str) -> float | None:
        """Return the value of the constructed order with a label; None if it was not run."""
        values = {order.label: order.value for order in self.named}
        return values.get(label)

    def without_middle(self) -> OverviewRow:
        """Return the row with the lowest and highest values of each crowded protocol only."""
        names = np.array(self.protocols)
        is_shown = np.ones(len(names), dtype=bool)
        for protocol, count in Counter(self.protocols).items():
            if count > _MOST_DOTS:
                is_shown[np.flatnonzero(names == protocol)[_ENDS:-_ENDS]] = False
        shown = np.flatnonzero(is_shown)
        protocols = tuple(self.protocols[place] for place in shown.tolist())
        return replace(
            self, values=self.values[shown], protocols=protocols, orders=self.orders[shown]
        )


def build_overview(
    dataset: DatasetAnalysis, ranked: Sequence[str], orders: OrderTable, *, name: str = "overview"
) -> ReportFigure:
    """The first figure of a report: methods by rank, and their values on the page's orders."""
    words = metric_words(dataset.metric)
    order_name = dataset.table.order_name
    kind = order_name if dataset.table.counts_orders else "run"
    rows = [_row(dataset, method, orders) for method in ranked]
    level = per_cent(dataset.level)
    dots = "each dot is an order"
    if any(row.is_crowded for row in rows):
        dots += f" (of {_MOST_DOTS:,} and more only the {_ENDS} lowest and highest)"
    caption = (
        f"{words.title[0].upper()}{words.title[1:]} over {order_name}s: "
        f"{'each row is a method; ' if len(rows) > 1 else ''}{dots}, the "
        f"diamond is the mean with its {level} interval, the thin bar holds a new run with "
        f"probability {level}, and grey is the distribution over orders."
    )
    return ReportFigure.of(name, caption, lambda width: draw_overview(rows, words, width, kind))


def _row(dataset: DatasetAnalysis, name: str, orders: OrderTable) -> OverviewRow:
    method, values = dataset.methods[name], orders.values[name]
    places = np.flatnonzero(~np.isnan(values))
    places = places[np.argsort(values[places], kind="stable")]
    return OverviewRow(
        name,
        method.claims,
        values[places],
        tuple(_choosing_protocol(orders.choices[place]) for place in places.tolist()),
        places,
        named_orders(dataset, name),
        method.order_effect.order_share,
    )


def _choosing_protocol(choices: Iterable[tuple[str, str]]) -> str:
    """Return the first protocol that chose an order; "" if only one that takes every order did."""
    for protocol, _ in choices:
        if not find_protocol(protocol).exhaustive:
            return protocol
    return ""


def draw_overview(
    rows: Sequence[OverviewRow], words: MetricWords, width: float = WIDE, kind: str = "class order"
) -> Scene:
    """Draw one row per method; a narrow drawing has names and numbers above each row."""
    is_wide = width > NARROW
    text = 0.0 if is_wide else 36.0
    height = max(24.0, min(72.0, 240.0 / len(rows))) if is_wide else 62.0 if len(rows) <= 6 else 44
    size = 13.0 if height > 40.0 else 12.0
    columns = _columns(rows, words)
    names = label_width((row.name for row in rows), 1.16 * size) if is_wide else 0.0
    left = names + 22.0 if is_wide else 0.0
    right = width - sum(room for room, _ in columns.values()) - 12.0 if is_wide else width
    entries = _entries(rows, kind.split()[-1])
    marks, top = legend(entries, 0.0, 2.0, width, 12.0 if is_wide else 11.0)
    top += 18.0 if is_wide else 4.0
    bottom = top + (height + text) * len(rows)
    scale = _scale(rows, left + 8.0, right - 8.0)
    title = f"{words.title} of a {kind}, {words.unit}".rstrip(", ")
    marks += x_axis(scale, top, bottom, most=8 if is_wide else 5, title=title)
    ends = np.cumsum([right + 12.0, *(room for room, _ in columns.values())])[1:].tolist()
    if is_wide:
        for column, end in zip(columns, ends, strict=True):
            marks.append(Text(end, top - 8.0, column, 11.5, "end", colour="faint"))
    for place, row in enumerate(rows):
        upper = top + place * (height + text)
        if place:
            marks.append(Line(((0.0, upper), (width, upper)), "line" if is_wide else "edge-line"))
        base = upper + text + 0.5 * height
        numbers = {column: cells[place] for column, (_, cells) in columns.items()}
        if is_wide:
            marks += _beside(row, numbers, ends, names, base, height, size)
        else:
            marks += _above(row, numbers, upper, width)
        marks += _draw_row(row, scale, base, height)
    return Scene(width, bottom + 44.0, tuple(marks))


def _columns(rows: Sequence[OverviewRow], words: MetricWords) -> dict[str, tuple[float, list[str]]]:
    """Titles of the columns of numbers, with their width and a text for each row."""
    columns = {"mean": (112.0, [_decimal(row.claims.mean.value) for row in rows])}
    if any(row.claims.tail.value is not None for row in rows) and words.higher_is_better:
        columns["95 % exceed"] = (84.0, [_decimal(row.claims.tail.value) for row in rows])
    probes = dict.fromkeys(order.label for row in rows for order in row.named if order.meaning)
    for label in probes:
        cells = [_decimal(row.value_of(label)) for row in rows]
        columns[label] = (max(text_width(label, 11.5) + 14.0, 52.0), cells)
    if not probes:
        columns[words.ends[0]] = (56.0, [f"{row.claims.lowest:.1f}" for row in rows])
        columns[words.ends[1]] = (56.0, [f"{row.claims.highest:.1f}" for row in rows])
    shares = [row.order_share for row in rows]
    if any(share is not None for share in shares):
        texts = ["–" if share is None else f"{100.0 * share:.0f} %" for share in shares]
        columns["order"] = (56.0, texts)
    return columns


def _decimal(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"


def _beside(
    row: OverviewRow,
    numbers: Mapping[str, str],
    ends: Sequence[float],
    names: float,
    base: float,
    height: float,
    size: float,
) -> list[Mark]:
    """The name on the left and the numbers on the right, the mean's interval below the mean."""
    name = cut_text(row.name, names, size, bold=True)
    marks: list[Mark] = [Text(0.0, base + 4.0, name, size, bold=True)]
    between = _between(row.claims)
    is_stacked = height >= 44.0 and between != ""
    shift = 80.0 if between and not is_stacked else 0.0
    mean, *further_texts = numbers.values()
    y = base - 1.0 if is_stacked else base + 4.0
    marks.append(Text(ends[0] - shift, y, mean, size + 1.0, "end", bold=True))
    if between:
        y = base + 14.0 if is_stacked else base + 4.0
        marks.append(Text(ends[0], y, between, 11.0, "end", colour="faint"))
    for text, end in zip(further_texts, ends[1:], strict=True):
        marks.append(Text(end, base + 4.0, text, 12.0, "end"))
    return marks


def _above(row: OverviewRow, numbers: Mapping[str, str], upper: float, width: float) -> list[Mark]:
    """Name, mean and interval in one line, the other numbers below."""
    between = _between(row.claims)
    around = f" ({between})" if between else ""
    number = width - text_width(around, 11.5)
    mean, *_ = numbers.values()
    room = number - text_width(mean, 14.0) - 10.0
    parts = [f"{title} {text}" for title, text in list(numbers.items())[1:]]
    return [
        Text(width, upper + 16.0, around, 11.5, "end", colour="faint"),
        Text(number, upper + 16.0, mean, 14.0, "end", bold=True),
        Text(0.0, upper + 16.0, cut_text(row.name, room, bold=True), 13.0, bold=True),
        Text(0.0, upper + 32.0, cut_text(" · ".join(parts), width, 10.5), 10.5, colour="faint"),
    ]


def _between(claims: Claims) -> str:
    interval = claims.mean.interval
    return "" if interval is None else f"{interval[0]:.1f} to {interval[1]:.1f}"


def _draw_row(row: OverviewRow, scale: Scale, base: float, height: float) -> list[Mark]:
    """The density above the base line, the intervals on it, the dots below."""
    claims = row.claims
    marks: list[Mark] = []
    if row.has_shape and claims.distribution.std > 0.0:
        marks.append(_hill(row, scale, base, height))
    row = row.without_middle()
    x = scale.map(row.values)
    marks.append(Line(((x[0], base), (x[-1], base)), "edge-line", 1.0))
    radius = 4.2 if len(x) <= 12 else 3.2 if len(x) <= 40 else 2.4 if len(x) <= 150 else 1.8
    y = base + _GAP + radius + _swarm(x, radius, 0.42 * height - _GAP - 2.0 * radius)
    names = np.array(row.protocols)
    by_count = [name for name, _ in Counter(row.protocols).most_common()]
    for protocol in sorted(by_count, key=bool):  # the fewest last, on top
        chosen = np.flatnonzero(names == protocol)
        colour, shape = protocol_style(protocol)
        is_most = 2 * len(chosen) > len(x)
        data = {"method": row.name, "orders": " ".join(map(str, row.orders[chosen].tolist()))}
        size = radius if is_most else max(1.35 * radius, 3.4)
        opacity = 0.55 if protocol == "" else 0.6 if is_most and len(x) > 12 else 0.95
        marks.append(Dots(x[chosen], y[chosen], size, colour, shape, opacity, data))
    if claims.next_run.interval is not None:
        low, high = map(scale, claims.next_run.interval)
        marks += whisker(low, high, base)
    if claims.mean.interval is not None:
        low, high = map(scale, claims.mean.interval)
        marks.append(Line(((low, base), (high, base)), "ink", 5.0))
    if claims.mean.value is not None:
        marks += diamond(scale(claims.mean.value), base, 4.6)
    return [*marks, *_labels(row, scale, base)]


def _hill(row: OverviewRow, scale: Scale, base: float, height: float) -> Line:
    """The density above the base line; with very many values, a histogram of them."""
    if row.is_crowded:
        counts, edges = np.histogram(row.values, bins=_BARS)
        density = counts.astype(np.float64)
    else:
        edges = np.linspace(*row.claims.distribution.interval(0.99), _DENSITY_POINTS)
        if row.is_measured:
            edges = grid(row.values) - 1e-9  # a bar has its lower edge
        edges = edges.clip(scale.low, scale.high)
        density = np.diff(row.claims.distribution.cdf(edges)) / np.maximum(np.diff(edges), 1e-9)
    levels = np.repeat(base - 0.44 * height * density / max(float(density.max()), 1e-12), 2)
    x = scale.map(np.repeat(edges, 2)).tolist()
    outline = zip(x, [base, *levels.tolist(), base], strict=True)
    return Line(tuple(outline), "", fill="truth")


def _labels(row: OverviewRow, scale: Scale, base: float) -> list[Mark]:
    """Names of the constructed orders that lie outside the central interval, with room for each."""
    low, high = row.claims.next_run.interval or (row.claims.lowest, row.claims.highest)
    taken = [(scale(low), scale(high))]
    marks: list[Mark] = []
    for order in sorted(row.named, key=lambda order: (order.meaning == "", order.value)):
        x, width = scale(order.value), text_width(order.label, 11.0)
        left = x - width + 4.0 if order.value < low else x - 4.0
        left = min(max(left, scale.start - 8.0), scale.end + 8.0 - width)
        if all(left + width < start or left > end for start, end in taken):
            taken.append((left, left + width))
            colour, _ = protocol_style(order.protocol)
            marks.append(Text(left, base - 7.0, order.label, 11.0, colour=colour))
    return marks


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


def _scale(rows: Sequence[OverviewRow], start: float, end: float) -> Scale:
    values: list[float] = []
    for row in rows:
        values += row.values[[0, -1]].tolist()
        for interval in (row.claims.mean.interval, row.claims.next_run.interval):
            values += interval or ()
    limits = (0.0, 100.0) if min(values) >= 0.0 and max(values) <= 100.0 else None
    return Scale.around(values, start, end, margin=0.03, limits=limits)


def _entries(rows: Sequence[OverviewRow], kind: str) -> list[Entry]:
    """The legend: what is drawn and nothing else."""
    entries = []
    level = per_cent(rows[0].claims.level)
    protocols = sorted({name for row in rows for name in row.protocols} - {""})
    for place, protocol in enumerate(protocols):
        label = protocol if place else f"{kind} of {protocol}"
        label = f"your {kind}" if protocol == USER_SEQUENCES else label
        entries.append(Entry(label, *protocol_style(protocol)))
    if any("" in row.protocols for row in rows):
        label = "other order" if protocols else "order"
        entries.append(Entry(label, *protocol_style(""), opacity=0.55))
    if any(row.claims.mean.interval for row in rows):
        entries.append(Entry(f"mean, {level} interval", "ink", "interval"))
    else:
        entries.append(Entry("mean", "ink", "diamond"))
    measured = [row.is_measured for row in rows if row.has_shape]
    if any(row.claims.next_run.interval for row in rows):
        text = f"{level} of orders" if any(measured) else f"new run, {level}"
        entries.append(Entry(text, "ink", "whisker"))
    if measured:
        entries.append(Entry("all orders" if all(measured) else "distribution", "truth"))
    return entries


def explain(dataset: DatasetAnalysis) -> str:
    """How to read the bars and the numbers of the chart, in a few sentences."""
    sentences = []
    methods = dataset.methods.values()
    if any(method.claims.order_count >= _LEAST_SHAPE for method in methods):
        sentences.append(
            "Grey: the distribution over orders and trainings. The thin bar holds a new run with "
            f"probability {per_cent(dataset.level)} and counts how uncertain that distribution is."
        )
    if any(method.order_effect.order_share is not None for method in methods):
        name = dataset.table.order_name
        sentences.append(f"Order: how much of the variance of runs is due to the {name}.")
    if any(method.claims.probes for method in methods):
        sentences.append(
            "Constructed orders are drawn beside the random ones and belong to no mean; nothing "
            "says that they are the best or worst possible."
        )
    return " ".join(sentences)
