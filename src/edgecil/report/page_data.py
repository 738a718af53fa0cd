"""The data that a page's script reads: every order with its classes, choices and accuracies."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

import numpy as np
from markupsafe import Markup
from numpy.typing import ArrayLike

from edgecil.estimation.analysis import DatasetAnalysis
from edgecil.io.arrays import Floats
from edgecil.report.metrics import metric_words
from edgecil.report.orders import OrderTable
from edgecil.report.text import class_names, printable

_NUMBERED = re.compile(r"(.*?)(0|[1-9][0-9]{0,14})", re.DOTALL)


class Packed(TypedDict):
    """A column of whole numbers as a page's script reads it: as few bits as the values need.

    Attributes:
        low: the value of code 0.
        bits: of a code, highest bit first.
        none: the code of a missing value; -1 if no value is missing.
        text: the codes one after the other, in base64.
    """

    low: int
    bits: int
    none: int
    text: str


def pack(values: ArrayLike) -> Packed:
    """Pack whole numbers; NaN is a missing value.

    >>> pack([3, float("nan"), 4])
    {'low': 3, 'bits': 2, 'none': 2, 'text': 'JA=='}
    """
    numbers = np.asarray(values, dtype=np.float64).ravel()
    missing = np.isnan(numbers)
    given = numbers[~missing]
    low, high = (int(given.min()), int(given.max())) if given.size else (0, 0)
    none = high - low + 1 if missing.any() else -1
    bits = max(1, max(high - low, none).bit_length())
    codes = np.where(missing, none, numbers - low).astype(np.int64)
    shifts = np.arange(bits - 1, -1, -1)
    stream = np.packbits(((codes[:, None] >> shifts) & 1).astype(np.uint8).ravel())
    text = base64.b64encode(stream.tobytes()).decode()
    return {"low": low, "bits": bits, "none": none, "text": text}


def page_data(
    dataset: DatasetAnalysis, orders: OrderTable, by_metric: Mapping[str, Mapping[str, Floats]]
) -> Markup:
    """The data as JSON that can stand in a script element.

    Columns are packed, values in hundredths. `tasks` has for each order the task of every class,
    since the order inside a task does not count. Who chose an order is a text from `stems`,
    followed by a number if it ends with one.
    """
    stems, stem, number = _split([printable(text) for text in orders.chosen_by])
    has_orders = dataset.table.has_orders
    data: dict[str, Any] = {
        "classes": list(map(printable, class_names(dataset.table))),
        "count": len(orders),
        "number_of_tasks": dataset.table.space.tasks if has_orders else 0,
        "tasks": pack([one.task_of() for one in orders.sequences] if has_orders else []),
        "stems": stems,
        "stem": pack(stem),
        "number": pack(number),
        "methods": list(map(printable, dataset.methods)),
        "metrics": {
            metric: {
                "label": metric_words(metric).title,
                "unit": metric_words(metric).unit,
                "up": metric_words(metric).higher_is_better,
                "values": {
                    printable(name): pack(np.round(100.0 * np.round(column, 2)))
                    for name, column in values.items()
                },
            }
            for metric, values in by_metric.items()
        },
    }
    if orders.z is not None and dataset.predictor is not None:
        data["predictor"] = printable(dataset.predictor.label)
        data["z"] = pack(np.round(100.0 * np.round(orders.z, 2)))
    if (orders.repeats > 1).any():
        data["repeats"] = pack(orders.repeats)
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return Markup(text)


def _split(texts: Sequence[str]) -> tuple[list[str], list[int], list[float]]:
    """Texts as places in a list of different beginnings, and the whole number at their end.

    >>> _split(["random seed-1", "random seed-20", "edge hard", "seed-01"])
    (['random seed-', 'edge hard', 'seed-0'], [0, 0, 1, 2], [1.0, 20.0, nan, 1.0])
    """
    stems: dict[str, int] = {}
    places, numbers = [], []
    for text in texts:
        match = _NUMBERED.fullmatch(text)
        stem, digits = (text, np.nan) if match is None else (match[1], float(match[2]))
        places.append(stems.setdefault(stem, len(stems)))
        numbers.append(digits)
    return list(stems), places, numbers
