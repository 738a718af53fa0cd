"""The data that a page's script reads: every order with its classes, choices and accuracies."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from markupsafe import Markup

from edgecil.estimation.analysis import DatasetAnalysis
from edgecil.estimation.order_table import OrderRow
from edgecil.report.class_names import class_name
from edgecil.report.metrics import metric_words
from edgecil.report.packing import Packed, pack, pack_decimals
from edgecil.report.scene.layout import printable
from edgecil.sequences.sequence import ClassSequence

_NUMBERED = re.compile(r"(.*?)(0|[1-9][0-9]{0,14})", re.DOTALL)

OrderRows = Sequence[OrderRow]


def page_data(
    dataset: DatasetAnalysis, orders: OrderRows, by_metric: Mapping[str, OrderRows]
) -> Markup:
    """The data as JSON that can stand in a script element.

    Columns are packed (:mod:`edgecil.report.packing`), accuracies in hundredths. `tasks` has for
    each order the task of every class, since the order inside a task does not count. Who chose an
    order is a text from `stems`, followed by a number if it ends with one.

    Args:
        dataset: the analysis of the page's main metric.
        orders: all of its orders.
        by_metric: the orders of each metric's analysis.
    """
    places = {order.sequence: place for place, order in enumerate(orders)}
    classes = dataset.table.classes
    stems, stem, number = _split([printable(order.chosen_by) for order in orders])
    data: dict[str, Any] = {
        "classes": [printable(class_name(dataset.table, class_)) for class_ in classes],
        "count": len(orders),
        "number_of_tasks": dataset.table.space.tasks,
        "tasks": pack(_task_of_classes(orders, len(classes))),
        "stems": stems,
        "stem": pack(stem),
        "number": pack(number),
        "methods": list(map(printable, dataset.methods)),
        "metrics": {
            metric: {
                "label": metric_words(metric).title,
                "unit": metric_words(metric).unit,
                "up": metric_words(metric).higher_is_better,
                "values": _values(own, places, dataset.methods),
            }
            for metric, own in by_metric.items()
        },
    }
    if any(order.z is not None for order in orders):
        data["predictor"] = "" if dataset.predictor is None else dataset.predictor.label
        data["z"] = pack_decimals([order.z for order in orders])
    repeats = [max(order.repeats.values()) for order in orders]
    if max(repeats, default=1) > 1:
        data["repeats"] = pack(repeats)
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return Markup(text)


def _task_of_classes(orders: OrderRows, classes: int) -> np.ndarray[Any, Any]:
    """The task of every class in every order, shape (orders, classes)."""
    order = np.array([row.sequence.order for row in orders], dtype=np.int64)
    sizes = orders[0].sequence.sizes
    tasks = np.empty((len(orders), classes), dtype=np.int64)
    place = np.repeat(np.arange(len(sizes)), sizes)
    np.put_along_axis(tasks, order, np.broadcast_to(place, order.shape), axis=1)
    return tasks


def _split(texts: Sequence[str]) -> tuple[list[str], list[int], list[int | None]]:
    """Texts as places in a list of different beginnings, and the whole number at their end.

    >>> _split(["random seed-1", "random seed-20", "edge hard", "seed-01"])
    (['random seed-', 'edge hard', 'seed-0'], [0, 0, 1, 2], [1, 20, None, 1])
    """
    stems: dict[str, int] = {}
    places, numbers = [], []
    for text in texts:
        match = _NUMBERED.fullmatch(text)
        stem, digits = (text, None) if match is None else (match[1], int(match[2]))
        places.append(stems.setdefault(stem, len(stems)))
        numbers.append(digits)
    return list(stems), places, numbers


def _values(
    orders: OrderRows, places: Mapping[ClassSequence, int], methods: Mapping[str, object]
) -> dict[str, Packed]:
    """By method, the accuracy of each order of the page; None where it was not run."""
    columns: dict[str, list[float | None]] = {name: [None] * len(places) for name in methods}
    for order in orders:
        place = places.get(order.sequence)
        if place is not None:
            for name, accuracy in order.accuracies.items():
                columns[name][place] = accuracy
    return {printable(name): pack_decimals(column) for name, column in columns.items()}
