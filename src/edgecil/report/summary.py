"""What a report reads off an analysis first: ranks, pairs and constructed orders."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from edgecil.report.metrics import metric_words

if TYPE_CHECKING:
    from edgecil.estimation.analysis import DatasetAnalysis
    from edgecil.estimation.comparison import Comparison

_MOST_NAMED = 6  # constructed orders of a method that are shown one by one


@dataclass(frozen=True)
class NamedOrder:
    """A constructed order (`grouped`, `hard`), on which no claim about other orders rests.

    Its meaning is the clause after its value in a sentence; empty if the protocol gives none.
    """

    protocol: str
    label: str
    value: float
    meaning: str


def named_orders(dataset: DatasetAnalysis, method: str) -> tuple[NamedOrder, ...]:
    """The constructed orders of a method, unless there are many."""
    from edgecil.sequences.protocols import find_protocol

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


def rank(dataset: DatasetAnalysis) -> list[str]:
    """All methods, from best to worst mean."""
    sign = -1.0 if metric_words(dataset.metric).higher_is_better else 1.0
    means = {name: sign * (it.answer.mean.value or 0.0) for name, it in dataset.methods.items()}
    return sorted(means, key=means.__getitem__)


def compare_pair(dataset: DatasetAnalysis, first: str, second: str) -> Comparison | None:
    """The comparison of `first` with `second`; None without common orders."""
    comparison = dataset.comparisons.get(first, {}).get(second)
    if comparison is not None:
        return comparison
    swapped = dataset.comparisons.get(second, {}).get(first)
    return None if swapped is None else swapped.swapped()


def list_pairs(dataset: DatasetAnalysis, ranked: list[str]) -> list[tuple[str, str, Comparison]]:
    """Every pair of methods with common orders, the better mean first."""
    pairs = ((*two, compare_pair(dataset, *two)) for two in combinations(ranked, 2))
    return [(first, second, pair) for first, second, pair in pairs if pair is not None]
