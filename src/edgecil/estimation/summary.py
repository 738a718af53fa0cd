"""The numbers that a report shows first, read off an analysis without new estimation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from edgecil.estimation.analysis import DatasetAnalysis
from edgecil.estimation.comparison import Comparison
from edgecil.estimation.distributions import Distribution

CENTRAL = 0.9
_TAIL = (1.0 - CENTRAL) / 2.0

Basis = Literal["enumerated", "sample", "estimate", "runs"]


@dataclass(frozen=True)
class MethodSummary:
    """One method in a few numbers, per cent.

    Attributes:
        name: of the method.
        basis: where mean and central interval come from: all orders (`enumerated`), a random
            `sample` of them, an `estimate`, or the mean of the `runs` if nothing can be estimated.
        order_count: how many different orders have an accuracy.
        mean: over orders.
        mean_interval: 90 % interval of the mean; None if all orders were run, or if there is none.
        central: the interval that holds 90 % of the orders: measured, or the prediction interval
            of the next random order; None if there is none.
        lowest: value of the metric among the orders that were run.
        highest: value of the metric among the orders that were run.
        distribution: the estimated one over all orders, if the basis is `estimate`.
    """

    name: str
    basis: Basis
    order_count: int
    mean: float
    mean_interval: tuple[float, float] | None
    central: tuple[float, float] | None
    lowest: float
    highest: float
    distribution: Distribution | None = None

    @property
    def range(self) -> float:
        """Distance between the lowest and the highest value, points."""
        return self.highest - self.lowest


def summarize(dataset: DatasetAnalysis, name: str) -> MethodSummary:
    """Summarize one method of a dataset."""
    method = dataset.methods[name]
    ran, said = dataset.table.orders(name), method.answer
    orders, lowest, highest = len(ran), float(ran.accuracies.min()), float(ran.accuracies.max())
    central = said.next_run.interval
    assert said.mean.value is not None
    if method.truth is not None:
        low, high = np.quantile(method.truth.accuracies, [_TAIL, 1.0 - _TAIL])
        return MethodSummary(
            name,
            method.truth.kind,
            orders,
            method.truth.mean,
            said.mean.interval,
            (float(low), float(high)),
            lowest,
            highest,
        )
    is_estimated = said.estimator is not None and said.order_count >= 2
    return MethodSummary(
        name,
        "estimate" if is_estimated else "runs",
        orders,
        said.mean.value,
        said.mean.interval,
        central,
        lowest,
        highest,
        said.distribution if is_estimated else None,
    )


def summaries(dataset: DatasetAnalysis) -> list[MethodSummary]:
    """Return summaries of all methods, highest mean first."""
    return sorted((summarize(dataset, name) for name in dataset.methods), key=lambda s: -s.mean)


def compare_pair(dataset: DatasetAnalysis, first: str, second: str) -> Comparison | None:
    """Return the comparison of `first` with `second`; None without common orders."""
    comparison = dataset.comparisons.get(first, {}).get(second)
    if comparison is not None:
        return comparison
    swapped = dataset.comparisons.get(second, {}).get(first)
    return None if swapped is None else swapped.swapped()
