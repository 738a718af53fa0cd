"""The data that a page's script reads: every order with its classes, choices and accuracies."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from edgecil.estimation.analysis import DatasetAnalysis
from edgecil.io.arrays import Floats
from edgecil.report.metrics import metric_words
from edgecil.report.orders import OrderTable
from edgecil.report.text import class_names, printable


def page_data(
    dataset: DatasetAnalysis, orders: OrderTable, by_metric: Mapping[str, Mapping[str, Floats]]
) -> Markup:
    """The data as JSON that can stand in a script element; an entry for each order.

    `tasks` has the task of every class, since the order inside a task does not count.
    """
    has_orders = dataset.table.has_orders
    metrics = {}
    for name, values in by_metric.items():
        words = metric_words(name)
        metrics[name] = {
            "label": words.title,
            "unit": words.unit,
            "up": words.higher_is_better,
            "values": {printable(method): _rounded(column) for method, column in values.items()},
        }
    data: dict[str, Any] = {
        "classes": list(map(printable, class_names(dataset.table))),
        "count": len(orders),
        "number_of_tasks": dataset.table.space.tasks if has_orders else 0,
        "tasks": [it.task_of().tolist() for it in orders.sequences] if has_orders else [],
        "chosen": list(map(printable, orders.chosen_by)),
        "methods": list(map(printable, dataset.methods)),
        "metrics": metrics,
    }
    if orders.z is not None and dataset.predictor is not None:
        data["predictor"] = printable(dataset.predictor.label)
        data["z"] = _rounded(orders.z)
    if (orders.repeats > 1).any():
        data["repeats"] = orders.repeats.tolist()
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return Markup(text)


def _rounded(column: Floats) -> list[float | None]:
    return [None if math.isnan(value) else round(value, 2) for value in column.tolist()]
