"""The numbers that a report shows first, read off an analysis without new estimation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeVar

import numpy as np

from edgecil.estimation.analysis import DatasetAnalysis, MethodAnalysis
from edgecil.estimation.comparison import Comparison
from edgecil.estimation.estimators import Estimate, default_estimator

PAPER_ESTIMATOR = "gaussian"  # its worst and best accuracies are those of the runs
CENTRAL = 0.9
_TAIL = (1.0 - CENTRAL) / 2.0

_RANDOM_BUDGET = 3
_T = TypeVar("_T")

Basis = Literal["enumerated", "sample", "estimate", "runs"]


@dataclass(frozen=True)
class ChosenEstimate:
    """The estimate that stands for the distribution over all orders where the truth is missing.

    Attributes:
        protocol: whose runs it uses.
        estimator: its name.
        estimate: the result.
    """

    protocol: str
    estimator: str
    estimate: Estimate


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
        chosen: the estimate, if the basis is `estimate`.
    """

    name: str
    basis: Basis
    order_count: int
    mean: float
    mean_interval: tuple[float, float] | None
    central: tuple[float, float] | None
    lowest: float
    highest: float
    chosen: ChosenEstimate | None = None

    @property
    def range(self) -> float:
        """Distance between the lowest and the highest value, points."""
        return self.highest - self.lowest


def summarize(dataset: DatasetAnalysis, name: str) -> MethodSummary:
    """Summarize one method of a dataset."""
    method = dataset.methods[name]
    ran, said = dataset.table.orders(name), method.answer
    orders, lowest, highest = len(ran), float(ran.accuracies.min()), float(ran.accuracies.max())
    central = said.next_order.interval
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
    chosen = choose_estimate(dataset, name)
    basis: Basis = "runs" if chosen is None else "estimate"
    return MethodSummary(
        name, basis, orders, said.mean.value, said.mean.interval, central, lowest, highest, chosen
    )


def summaries(dataset: DatasetAnalysis) -> list[MethodSummary]:
    """Return summaries of all methods, highest mean first."""
    return sorted((summarize(dataset, name) for name in dataset.methods), key=lambda s: -s.mean)


def choose_estimate(dataset: DatasetAnalysis, name: str) -> ChosenEstimate | None:
    """Return the estimate to show where the truth is missing; None if there is one order only.

    It is that of the method's answer: :func:`default_estimator` on the orders that represent all
    orders best. A predictor plays no part in it.
    """
    said = dataset.methods[name].answer
    if said.estimator is None or said.order_count < 2:
        return None
    estimate = Estimate(
        said.distribution,
        said.lowest,
        said.highest,
        said.mean.interval,
        said.std.interval,
        said.next_order.interval,
    )
    return ChosenEstimate(" + ".join(said.protocols), said.estimator, estimate)


def of_default_estimator(
    method: MethodAnalysis, values: Mapping[str, Mapping[str, _T]], protocol: str
) -> _T | None:
    """From values by protocol and estimator, the one of the default estimator.

    Args:
        method: whose number of runs decides on the estimator.
        values: by protocol and estimator.
        protocol: the protocol.
    """
    return values.get(protocol, {}).get(default_estimator(protocol_budget(method, protocol)))


def protocol_range(method: MethodAnalysis, protocol: str) -> tuple[float, float] | None:
    """Return the worst and best accuracy of a protocol: means over draws, or of its runs."""
    average = method.averages.get(protocol, {}).get(PAPER_ESTIMATOR)
    if average is not None:
        return average.min, average.max
    result = method.estimates.get(protocol, {}).get(PAPER_ESTIMATOR)
    if result is None or result.estimate is None:
        return None
    return result.estimate.min, result.estimate.max


def protocol_budget(method: MethodAnalysis, protocol: str) -> int:
    """Return the number of runs behind a protocol's numbers; three if `random` was not run."""
    is_truth = method.truth is not None and protocol in method.truth.protocols
    return _RANDOM_BUDGET if is_truth else method.runs.get(protocol, _RANDOM_BUDGET)


def random_coverage(dataset: DatasetAnalysis) -> tuple[float, float] | None:
    """Return the least and greatest share of a range that random orders cover, over methods.

    Means over draws; None without a truth.
    """
    shares = []
    for name, method in dataset.methods.items():
        average = method.averages.get("random", {}).get(PAPER_ESTIMATOR)
        low, high = dataset.accuracy_range(name)
        if average is not None and high > low:
            shares.append((average.max - average.min) / (high - low))
    return (min(shares), max(shares)) if shares else None


def compare_pair(dataset: DatasetAnalysis, first: str, second: str) -> Comparison | None:
    """Return the comparison of `first` with `second`; None without common orders."""
    comparison = dataset.comparisons.get(first, {}).get(second)
    if comparison is not None:
        return comparison
    swapped = dataset.comparisons.get(second, {}).get(first)
    return None if swapped is None else swapped.swapped()
