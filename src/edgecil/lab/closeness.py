"""How close an estimate is to the truth, by the measures of the paper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from edgecil.io.arrays import Floats
from edgecil.lab.distances import Target
from edgecil.lab.estimators import Estimate


@dataclass(frozen=True)
class Closeness:
    """Distances of an estimate from the truth.

    Attributes:
        jsd: Jensen-Shannon divergence, nats.
        wasserstein: W₁, accuracy points.
        mean_error: estimated minus true mean, points.
        std_error: estimated minus true (population) standard deviation.
        min_error: estimated minus true accuracy of the worst order.
        max_error: estimated minus true accuracy of the best order.
    """

    jsd: float
    wasserstein: float
    mean_error: float
    std_error: float
    min_error: float
    max_error: float


@dataclass(frozen=True)
class AverageCloseness:
    """Means over many draws of a protocol's random part; errors are absolute values.

    Attributes:
        draws: how many.
        exhaustive: whether these are all possible draws, so that the means are exact.
        jsd: mean of the JSD.
        wasserstein: mean of W₁.
        mean_error: mean absolute error of the mean.
        std_error: of the standard deviation.
        min_error: of the worst order's accuracy.
        max_error: of the best order's accuracy.
        missed_range: mean part of the true range that lies outside the estimated one, in points.
        min: mean of the worst order's accuracy, per cent.
        max: mean of the best order's accuracy.
        standard_errors: of each of these means, by its name; 0 if the draws are exhaustive, None
            if there is only one draw.
    """

    draws: int
    exhaustive: bool
    jsd: float
    wasserstein: float
    mean_error: float
    std_error: float
    min_error: float
    max_error: float
    missed_range: float
    min: float
    max: float
    standard_errors: dict[str, float] | None


def closeness(truth: Floats, estimate: Estimate) -> Closeness:
    """Compare an estimate with the n true accuracies, shape (n,)."""
    distribution = estimate.distribution
    jsd, distance = Target.of(truth).distances([distribution])[0]
    return Closeness(
        float(jsd),
        float(distance),
        distribution.mean - float(truth.mean()),
        distribution.std - float(truth.std()),
        estimate.min - float(truth.min()),
        estimate.max - float(truth.max()),
    )


def average_closeness(
    truth: Floats, draws: Sequence[Estimate], *, exhaustive: bool = False
) -> AverageCloseness:
    """Average the closeness of estimates from several draws to the true accuracies, (n,)."""
    distributions = [estimate.distribution for estimate in draws]
    low, high = np.array([(estimate.min, estimate.max) for estimate in draws]).T
    jsd, distance = Target.of(truth).distances(distributions).T
    measures = {
        "jsd": jsd,
        "wasserstein": distance,
        "mean_error": np.abs(np.array([one.mean for one in distributions]) - truth.mean()),
        "std_error": np.abs(np.array([one.std for one in distributions]) - truth.std()),
        "min_error": np.abs(low - truth.min()),
        "max_error": np.abs(high - truth.max()),
        "missed_range": np.maximum(low - truth.min(), 0.0) + np.maximum(truth.max() - high, 0.0),
        "min": low,
        "max": high,
    }
    errors: dict[str, float] | None = dict.fromkeys(measures, 0.0)
    if not exhaustive:
        root = np.sqrt(len(draws))
        several = len(draws) > 1
        errors = {n: float(v.std(ddof=1) / root) for n, v in measures.items()} if several else None
    means = {name: float(values.mean()) for name, values in measures.items()}
    return AverageCloseness(len(draws), exhaustive, **means, standard_errors=errors)
