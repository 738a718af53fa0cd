"""A normal estimate whose width is learnt on the truths of other sets of classes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from edgecil.estimation.distributions import SAME, Distribution
from edgecil.io.arrays import Floats, Ints
from edgecil.lab.distances import Target
from edgecil.lab.estimators import Estimate, Observations
from edgecil.lab.truth_tables import TruthTable

SCALES = np.linspace(0.7, 1.6, 46)
_LEARNING_DRAWS = 20


def scale_curve(table: TruthTable, drawn: Ints, metric: str) -> Floats:
    """Return the mean W₁ of N(mean, (f s)²) in true standard deviations, for every factor f."""
    curves = []
    for method in table.methods:
        for truth in table.accuracies(method, metric):
            if np.ptp(truth) <= SAME:
                continue
            target, some = Target.of(truth), truth[drawn[:_LEARNING_DRAWS]]
            estimates = [
                Distribution.normal(float(mean), float(factor * spread))
                for factor in SCALES
                for mean, spread in zip(some.mean(axis=1), some.std(axis=1), strict=True)
            ]
            distances = target.distances(estimates)[:, 1].reshape(len(SCALES), -1)
            curves.append(distances.mean(axis=1) / truth.std())
    return np.asarray(np.mean(curves, axis=0))


def scaled(factor: float) -> Callable[[Observations], Estimate]:
    """Return the estimate N(mean, (f s)²) for the factor f, s with ddof 0."""

    def estimate(runs: Observations) -> Estimate:
        values = runs.accuracies
        distribution = Distribution.normal(float(values.mean()), float(factor * values.std()))
        return Estimate(distribution, float(values.min()), float(values.max()))

    return estimate
