"""What a report reads off an analysis first: every class order that was run, ranks and pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from edgecil.io.arrays import Floats, Ints
from edgecil.sequences.protocols import find_protocol
from edgecil.sequences.sequence import ClassSequence
from edgecil.wording.metric_words import metric_words

if TYPE_CHECKING:
    from edgecil.analysis.answers import DatasetAnalysis
    from edgecil.analysis.pair_verdicts import Comparison

_MOST_NAMED = 6  # constructed orders of a method that are shown one by one


@dataclass(frozen=True, eq=False)
class OrderTable:
    """The n orders of a dataset that have a value, lowest mean over the methods first.

    Attributes:
        sequences: n sequences.
        choices: for each, the protocols that chose it with their labels: ("edge", "hard").
        values: by method, (n,) means over repeats; NaN where it was not run.
        repeats: (n,) the most trainings of a method.
        z: (n,) the predictor in standard deviations from its mean over all orders; None without.
    """

    sequences: tuple[ClassSequence, ...]
    choices: tuple[tuple[tuple[str, str], ...], ...]
    values: dict[str, Floats]
    repeats: Ints
    z: Floats | None

    def __len__(self) -> int:
        return len(self.sequences)

    @classmethod
    def of(cls, dataset: DatasetAnalysis) -> OrderTable:
        """The orders of a dataset."""
        table = dataset.table
        size = len(table.sequences)
        values, repeats = {}, np.zeros(size, dtype=np.int64)
        for name in dataset.methods:
            orders = table.orders(name)
            values[name] = np.full(size, np.nan)
            values[name][orders.places] = orders.accuracies
            repeats[orders.places] = np.maximum(repeats[orders.places], orders.counts)
        means = np.full(size, np.nan)
        ran = np.flatnonzero(repeats)
        means[ran] = np.nanmean([column[ran] for column in values.values()], axis=0)
        places = ran[np.argsort(means[ran], kind="stable")]
        keys = np.stack([table.sequence, table.protocol, table.label])
        _, first = np.unique(keys, axis=1, return_index=True)
        choices: list[list[tuple[str, str]]] = [[] for _ in range(size)]
        for place, protocol, label in keys[:, np.sort(first)].T.tolist():
            choices[place].append((table.protocols[protocol], table.labels[label]))
        z = None if dataset.predictor is None else dataset.predictor.z[places]
        return cls(
            tuple(table.sequences[place] for place in places.tolist()),
            tuple(tuple(choices[place]) for place in places.tolist()),
            {name: column[places] for name, column in values.items()},
            repeats[places],
            None if z is None or np.isnan(z).all() else z,
        )

    def by_metric_of(self, dataset: DatasetAnalysis) -> OrderTable:
        """The same orders with the values of an analysis of the same runs by another metric."""
        values = {}
        for name in dataset.methods:
            orders = dataset.table.orders(name)
            value_of = dict(zip(orders.sequences, orders.accuracies.tolist(), strict=True))
            values[name] = np.array([value_of.get(order, np.nan) for order in self.sequences])
        return replace(self, values=values)

    @cached_property
    def chosen_by(self) -> list[str]:
        """The choices as text, without labels that repeat the sequence, and nothing twice."""
        return [
            ", ".join(_describe(protocol, label, sequence) for protocol, label in choices)
            for choices, sequence in zip(self.choices, self.sequences, strict=True)
        ]


def _describe(protocol: str, label: str, sequence: ClassSequence) -> str:
    if not label or ("|" in label and label == str(sequence)):
        return protocol
    return label if label.startswith(f"{protocol}-") else f"{protocol} {label}"


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
    means = {name: method.claims.mean.value or 0.0 for name, method in dataset.methods.items()}
    sign = -1.0 if metric_words(dataset.metric).higher_is_better else 1.0
    return sorted(means, key=lambda name: sign * means[name])


def list_pairs(dataset: DatasetAnalysis, ranked: Sequence[str]) -> list[Comparison]:
    """Every pair of methods with common orders, in the order of their ranks."""
    pairs = [dataset.compare(first, second) for first, second in combinations(ranked, 2)]
    return [pair for pair in pairs if pair is not None]
