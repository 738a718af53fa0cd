"""The numbers that a report shows first, read off an analysis without new estimation."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np

from edgecil.estimation.analysis import DatasetAnalysis
from edgecil.estimation.comparison import Comparison
from edgecil.estimation.distributions import Distribution
from edgecil.report.metrics import metric_words
from edgecil.sequences.protocols import find_protocol

_TAILS = (0.05, 0.95)
_MOST_NAMED = 6  # constructed orders of a method that are shown one by one

Basis = Literal["enumerated", "sample", "estimate", "runs"]


@dataclass(frozen=True)
class NamedOrder:
    """A constructed order, which no claim about other orders rests on.

    Attributes:
        protocol: that constructs it.
        label: its name there: `grouped`, `hard`.
        value: what the method reached on it.
        meaning: the clause after the value in a sentence; empty if the protocol gives none.
    """

    protocol: str
    label: str
    value: float
    meaning: str


@dataclass(frozen=True)
class MethodSummary:
    """One method in a few numbers, per cent.

    Attributes:
        name: of the method.
        basis: where mean and central interval come from: all orders (`enumerated`), a random
            `sample` of them, an `estimate`, or the mean of the `runs` if nothing can be estimated.
        order_count: how many different orders have a value.
        mean: over orders.
        mean_interval: 90 % interval of the mean; None if all orders were run, or if there is none.
        central: the interval that holds 90 % of the orders: measured, or the prediction interval
            of the next run; None if there is none.
        tail: the value that 95 % of runs exceed; None if nothing can be said.
        lowest: value among the orders that were run.
        highest: value among the orders that were run.
        named: the constructed orders, unless there are many.
        distribution: the estimated one over all orders, if the basis is `estimate`.
    """

    name: str
    basis: Basis
    order_count: int
    mean: float
    mean_interval: tuple[float, float] | None
    central: tuple[float, float] | None
    tail: float | None
    lowest: float
    highest: float
    named: tuple[NamedOrder, ...] = ()
    distribution: Distribution | None = None

    @property
    def is_measured(self) -> bool:
        """Whether mean and central interval are those of measured orders."""
        return self.basis in ("enumerated", "sample")


def summarize(dataset: DatasetAnalysis, name: str) -> MethodSummary:
    """Summarize one method of a dataset."""
    method = dataset.methods[name]
    ran, said, truth = dataset.table.orders(name), method.answer, method.truth
    assert said.mean.value is not None
    basis: Basis = "runs"
    mean, central = said.mean.value, said.next_run.interval
    if truth is not None:
        basis, mean = truth.kind, truth.mean
        low, high = np.quantile(truth.accuracies, _TAILS)
        central = (float(low), float(high))
    elif said.estimator is not None and said.order_count >= 2:
        basis = "estimate"
    return MethodSummary(
        name,
        basis,
        len(ran),
        mean,
        said.mean.interval,
        central,
        said.tail.value,
        float(ran.accuracies.min()),
        float(ran.accuracies.max()),
        named_orders(dataset, name),
        said.distribution if basis == "estimate" else None,
    )


def named_orders(dataset: DatasetAnalysis, method: str) -> tuple[NamedOrder, ...]:
    """The constructed orders of a method, unless there are many."""
    named = []
    for name in dataset.table.protocols:
        protocol = find_protocol(name)
        if protocol.random or protocol.exhaustive or protocol.repeats:
            continue
        orders = dataset.table.orders(method, name)
        for label, value in zip(orders.labels, orders.accuracies.tolist(), strict=True):
            if protocol.role(label) == "constructed":
                named.append(NamedOrder(name, label, value, protocol.meanings.get(label, "")))
    return tuple(named) if len(named) <= _MOST_NAMED else ()


def rank(dataset: DatasetAnalysis) -> list[MethodSummary]:
    """Summaries of all methods, from best to worst mean."""
    sign = -1.0 if metric_words(dataset.metric).higher_is_better else 1.0
    summaries = (summarize(dataset, name) for name in dataset.methods)
    return sorted(summaries, key=lambda summary: sign * summary.mean)


def compare_pair(dataset: DatasetAnalysis, first: str, second: str) -> Comparison | None:
    """The comparison of `first` with `second`; None without common orders."""
    comparison = dataset.comparisons.get(first, {}).get(second)
    if comparison is not None:
        return comparison
    swapped = dataset.comparisons.get(second, {}).get(first)
    return None if swapped is None else swapped.swapped()


def list_pairs(
    dataset: DatasetAnalysis, ranked: list[MethodSummary]
) -> list[tuple[str, str, Comparison]]:
    """Every pair of methods with common orders, the better mean first."""
    names = [summary.name for summary in ranked]
    pairs = ((*two, compare_pair(dataset, *two)) for two in combinations(names, 2))
    return [(first, second, pair) for first, second, pair in pairs if pair is not None]
