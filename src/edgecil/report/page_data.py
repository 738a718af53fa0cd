"""The data that a page's script reads: every order with its classes, choices and accuracies."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from markupsafe import Markup

from edgecil.estimation.analysis import DatasetAnalysis
from edgecil.estimation.order_table import OrderRow
from edgecil.report.class_names import class_name
from edgecil.report.metrics import metric_words
from edgecil.sequences.sequence import ClassSequence

MOST_BYTES = 3_000_000  # of the orders on a page
_MOST_LABELS = 3000  # of one protocol; beyond, a page names the protocol only
_UNSAFE = frozenset("\"'&<>\\`")
_LETTERS = tuple(
    letter
    for letter in map(chr, chain(range(0x23, 0x7F), range(0xC0, 0xD800)))
    if letter not in _UNSAFE
)

Orders = Sequence[OrderRow]


def orders_on_page(orders: Orders, metrics: int = 1) -> Orders:
    """All orders, or evenly spread ones with both ends if all would make the page too large."""
    if not orders:
        return orders
    methods = max(len(order.accuracies) for order in orders)
    classes = len(orders[0].sequence.order)
    size = len(orders) * (1.3 * classes + 12.0 + 6.0 * methods * metrics)
    step = int(-(-size // MOST_BYTES))
    return orders if step <= 1 else [*orders[:-1:step], orders[-1]]


def page_data(
    dataset: DatasetAnalysis,
    orders: Orders,
    by_metric: Mapping[str, Orders],
    *,
    all_orders: int,
) -> Markup:
    """The data as JSON that can stand in a script element.

    An order is a string with one letter for each class, in the order of the tasks; `letters` has
    the letter of each class. Accuracies are rounded to two decimals.

    Args:
        dataset: the analysis of the page's main metric.
        orders: those on the page.
        by_metric: all orders of each metric's analysis.
        all_orders: how many orders were run.
    """
    places = {order.sequence: place for place, order in enumerate(orders)}
    letters = "".join(_LETTERS[: len(dataset.table.classes)])
    choices = _choices(orders)
    kinds = list(dict.fromkeys(choices))
    kind_of = {kind: place for place, kind in enumerate(kinds)}
    data: dict[str, Any] = {
        "classes": [class_name(dataset.table, class_) for class_ in dataset.table.classes],
        "sizes": list(dataset.table.space.sizes),
        "letters": letters,
        "all": all_orders,
        "orders": ["".join(letters[class_] for class_ in o.sequence.order) for o in orders],
        "kinds": kinds,
        "kind": [kind_of[kind] for kind in choices],
        "methods": list(dataset.methods),
        "metrics": {
            metric: {
                "label": metric_words(metric).title,
                "unit": metric_words(metric).unit,
                "values": _values(own, places, dataset.methods),
            }
            for metric, own in by_metric.items()
        },
    }
    if any(order.z is not None for order in orders):
        data["predictor"] = "" if dataset.predictor is None else dataset.predictor.label
        data["z"] = [None if order.z is None else round(order.z, 2) for order in orders]
    repeats = [max(order.repeats.values()) for order in orders]
    if max(repeats, default=1) > 1:
        data["repeats"] = repeats
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return Markup(text)


def _choices(orders: Orders) -> list[str]:
    """Who chose each order, as text; labels of protocols with very many orders are left out."""
    counts: dict[str, int] = {}
    for order in orders:
        for protocol, _ in order.choices:
            counts[protocol] = counts.get(protocol, 0) + 1
    crowded = {protocol for protocol, count in counts.items() if count > _MOST_LABELS}
    if not crowded:
        return [order.chosen_by for order in orders]
    return [
        ", ".join(
            dict.fromkeys(p if p in crowded else f"{p} {label}".rstrip() for p, label in pairs)
        )
        for pairs in (order.choices for order in orders)
    ]


def _values(
    orders: Orders, places: Mapping[ClassSequence, int], methods: Mapping[str, object]
) -> dict[str, list[float | None]]:
    """By method, the accuracy of each order of the page; None where it was not run."""
    columns: dict[str, list[float | None]] = {name: [None] * len(places) for name in methods}
    for order in orders:
        place = places.get(order.sequence)
        if place is not None:
            for name, accuracy in order.accuracies.items():
                columns[name][place] = round(accuracy, 2)
    return columns
