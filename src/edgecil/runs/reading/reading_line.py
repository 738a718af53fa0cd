"""The reading in one line: how many methods, datasets and runs, the metric and its direction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from edgecil.runs.run_table import Runs

if TYPE_CHECKING:
    from edgecil.runs.reading.reading import Reading


def reading_line(reading: Reading) -> str:
    """Return the reading in one line.

    Such as "Read: 12 methods × 4 datasets × 5 seeds; metric avg_accuracy, higher is better."
    """
    counts = []
    if reading.runs:
        own_methods = dict.fromkeys(name for table in reading.runs for name in table.methods)
        counts.append(_count(len(own_methods), "method"))
    if len(reading.datasets) > 1:
        counts.append(_count(len(reading.datasets), "dataset"))
    if reading.runs:
        counts.append(_runs_of(reading.runs))
    what = [" × ".join(counts)] if counts else []
    if reading.published:
        what.append(_count(len(reading.published), "published mean"))
    direction = "higher" if reading.higher_is_better else "lower"
    parts = [" and ".join(what), f"metric {reading.metric}, {direction} is better", *reading.parts]
    return f"Read: {'; '.join(parts)}."


def _runs_of(tables: Sequence[Runs]) -> str:
    """Return how many runs a method has on a dataset, and what they are."""
    sizes = []
    for table in tables:
        present = table.method[~np.isnan(table.values)]
        sizes += [size for size in np.bincount(present).tolist() if size]
    kinds = {_kind(table) for table in tables}
    kind = kinds.pop() if len(kinds) == 1 else "run"
    least, most = min(sizes, default=0), max(sizes, default=0)
    if kind == "order":
        orders = [len(table.orders(name)) for table in tables for name in table.methods]
        fewest, widest = min(orders), max(orders)
        names = {table.order_name for table in tables}
        text = _span(fewest, widest, names.pop() if len(names) == 1 else "order")
        return text if most <= widest else f"{text}, {_span(least, most, 'run')}"
    return _span(least, most, kind)


def _kind(table: Runs) -> str:
    if table.has_orders or table.stand_in == "order":
        return "order"
    return "seed" if table.stand_in == "seed" else "run"


def _span(least: int, most: int, unit: str) -> str:
    return _count(most, unit) if least == most else f"{least} to {most} {unit}s"


def _count(number: int, unit: str) -> str:
    return f"{number} {unit}" if number == 1 else f"{number} {unit}s"
