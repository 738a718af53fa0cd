"""From the table of runs to what it says about the population of orders and trainings."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from edgecil.engine.metrics import find_metric
from edgecil.engine.runs import Orders, Runs
from edgecil.estimation.choice import Choice
from edgecil.estimation.population import (
    LEAST_ORDERS,
    Posterior,
    evidence,
    independent_variance,
    measured_prior,
    posterior,
)
from edgecil.io.arrays import Floats, Ints
from edgecil.sequences.sequence import ClassSequence


def know_method(
    table: Runs, method: str, sequences: Sequence[ClassSequence], choice: Choice
) -> Posterior | None:
    """Return what a method's trainings on some orders say; None with fewer than three orders."""
    orders = table.orders(method)
    place_of = {sequence: place for place, sequence in enumerate(orders.sequences)}
    chosen = orders.take(np.array([place_of[sequence] for sequence in sequences], dtype=np.int64))
    classes = table.class_accuracies(method, sequences) if len(sequences) > 1 else None
    variance = None if classes is None else float(independent_variance(classes))
    return know(
        chosen.values, chosen.seeds, table.metric, sequences, choice, class_variance=variance
    )


def know(
    values: Floats,
    seeds: Ints,
    metric: str,
    sequences: Sequence[ClassSequence],
    choice: Choice,
    *,
    class_variance: float | None = None,
) -> Posterior | None:
    """Return what values of some orders say; None with fewer than three orders.

    Args:
        values: (n, r) of order and training; NaN where an order has fewer trainings.
        seeds: (n, r) their training seeds; -1 there.
        metric: what they are values of.
        sequences: the n orders.
        choice: how these were chosen.
        class_variance: see :func:`~edgecil.estimation.population.independent_variance`.
    """
    if len(values) < LEAST_ORDERS:
        return None
    given = ~np.isnan(values)
    means = np.nanmean(values, axis=1)
    within = float(np.where(given, (values - means[:, None]) ** 2, 0.0).sum())
    overlap = choice.overlap(sequences)
    known = measured_prior()
    correlation = None
    if overlap is not None:
        share = known.position_share
        correlation = (1.0 - share) * np.eye(len(values)) + share * overlap
    return posterior(
        evidence(means, repeats=given.sum(axis=1), within=within, correlation=correlation),
        prior=known if np.isfinite(find_metric(metric).bounds).all() else None,
        class_variance=class_variance,
        shared_seeds=shared_seeds(seeds),
    )


def shared_seeds(seeds: Ints) -> int:
    """Return how many training seeds all orders have in common; 0 if seeds vary with the order."""
    if len(seeds) < 2 or not (seeds == seeds[0]).all():
        return 0
    return len(set(seeds[0].tolist()) - {-1})


def paired(first: Orders, second: Orders) -> tuple[Ints, Floats, Ints]:
    """Return the differences of two methods, by order and training seed.

    Where an order has no seed in common, its only difference is that of the means.

    Args:
        first: orders of different sequences.
        second: those of another method of the same table.

    Returns:
        The orders' numbers in the table's `sequences`, (n,); the differences, (n, r), NaN where
        there are fewer; and their seeds, (n, r), -1 there.
    """
    place_of = {place: row for row, place in enumerate(second.places.tolist())}
    places, rows = [], []
    for mine, place in enumerate(first.places.tolist()):
        if place in place_of:
            one, other = _by_seed(first, mine), _by_seed(second, place_of[place])
            gains = {seed: one[seed] - other[seed] for seed in one if seed in other}
            alone = first.accuracies[mine] - second.accuracies[place_of[place]]
            places.append(place)
            rows.append(gains or {-1: float(alone)})
    width = max(map(len, rows), default=1)
    values, seeds = np.full((len(rows), width), np.nan), np.full((len(rows), width), -1)
    for row, gains in enumerate(rows):
        values[row, : len(gains)] = list(gains.values())
        seeds[row, : len(gains)] = list(gains)
    return np.array(places, dtype=np.int64), values, seeds


def _by_seed(orders: Orders, row: int) -> dict[int, float]:
    """Return the mean value of each seed of one order."""
    seeds, values = orders.seeds[row], orders.values[row]
    return {
        seed: float(values[seeds == seed].mean())
        for seed in dict.fromkeys(seeds.tolist())
        if seed >= 0
    }
