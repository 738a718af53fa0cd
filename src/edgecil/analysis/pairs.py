"""The differences of two methods, run by run: on the same orders, the same seeds, or unpaired."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from edgecil.analysis.samples import (
    Choice,
    design_of,
    know,
    know_orders,
    paired,
    random_protocols,
    representative_orders,
)
from edgecil.io.arrays import Floats
from edgecil.runs.design import Design
from edgecil.runs.run_table import Runs
from edgecil.sequences.protocols import find_protocol
from edgecil.statistics.posterior import Combination, Posterior, combine
from edgecil.statistics.verdicts import LEAST_RUNS

_FEWEST = 2


@dataclass(frozen=True, eq=False)
class PairDifferences:
    """The differences of two methods, the first minus the second, in the unit of the metric.

    Attributes:
        values: (n,) one per order, the mean over its trainings; of unpaired runs all (n₁ n₂,).
        posterior: what they say about the population; None if there is no interval.
        choice: how the orders were chosen.
        design: what the runs of the method with fewer of them vary.
        count: n; of unpaired runs, those of the method with fewer.
        paired: whether there is a difference for each order.
    """

    values: Floats
    posterior: Posterior | Combination | None
    choice: Choice
    design: Design
    count: int
    paired: bool = True

    @property
    def mean(self) -> float:
        """The mean difference over the population, or without a claim that of the runs."""
        return float(self.values.mean() if self.posterior is None else self.posterior.mean)


Pairs = dict[tuple[str, str], PairDifferences]


def pair_methods(table: Runs, methods: Sequence[str]) -> Pairs:
    """Return the differences of every pair of methods that have an order in common."""
    pairs: Pairs = {}
    for first, second in combinations(methods, 2):
        differences = _pair(table, first, second)
        if differences is not None:
            pairs[first, second] = differences
    return pairs


def _pair(table: Runs, first: str, second: str) -> PairDifferences | None:
    """Return the differences of two methods, by order and training seed; None without an order.

    If both ran two or more random orders, only these count. Runs whose orders are unknown are
    compared as independent samples if they share fewer than three seeds.
    """
    orders, others = table.orders(first), table.orders(second)
    places, values, seeds = paired(orders, others)
    if not table.has_orders and len(places) < min(LEAST_RUNS, len(orders), len(others)):
        return _pair_samples(table, first, second)
    if not places.size:
        return None
    choice, is_used = _chosen_by(table, first, second, places)
    posterior = None
    if choice.random or choice.unknown:
        posterior = know(values[is_used], seeds[is_used], table.metric)
    if posterior is not None and len(places) == table.space.size:
        # every order weighs the same, repeated or not
        mean = orders.accuracies.mean() - others.accuracies.mean()
        posterior = replace(posterior, centre=np.full_like(posterior.centre, mean))
    fewer = first if len(orders) <= len(others) else second
    design = design_of(table, fewer, orders.take(np.isin(orders.places, places)))
    means = np.nanmean(values[is_used], axis=1)
    return PairDifferences(means, posterior, choice, design, int(is_used.sum()))


def _chosen_by(
    table: Runs, first: str, second: str, places: np.ndarray
) -> tuple[Choice, np.ndarray]:
    """Return how the orders of a pair were chosen, and which of these (n,) orders count."""
    random = random_protocols(table, first)
    also_random = random_protocols(table, second)
    by_protocol = {
        name: np.isin(places, table.sequence[table.rows(protocol=name)])
        for name in random
        if name in also_random
    }
    is_random = np.any([np.zeros(len(places), dtype=bool), *by_protocol.values()], axis=0)
    if is_random.sum() >= min(len(places), _FEWEST):
        names = [name for name, is_chosen in by_protocol.items() if is_chosen.any()]
        return Choice({name: random[name] for name in names}, random=True), is_random
    places_of = {name: table.orders(first, name).places for name in table.protocols}
    names = [name for name, ran in places_of.items() if np.isin(ran, places).any()]
    choice = Choice({name: find_protocol(name) for name in names}, random=False)
    return choice, np.ones(len(places), dtype=bool)


def _pair_samples(table: Runs, first: str, second: str) -> PairDifferences:
    """Return the differences of two methods as those of two independent samples."""
    choice, orders = representative_orders(table, first)
    _, others = representative_orders(table, second)
    posteriors = [know_orders(table, orders), know_orders(table, others)]
    known = [posterior for posterior in posteriors if posterior is not None]
    fewer, fewer_orders = (first, orders) if len(orders) <= len(others) else (second, others)
    return PairDifferences(
        (orders.accuracies[:, None] - others.accuracies).ravel(),
        combine(known, (1.0, -1.0)) if len(known) == len(posteriors) else None,
        choice,
        design_of(table, fewer, fewer_orders),
        min(len(orders), len(others)),
        paired=False,
    )
