"""How close an estimate comes to the truth, in all that the paper asks of one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from edgecil.estimation.distances import jensen_shannon, wasserstein
from edgecil.estimation.estimators import Estimate
from edgecil.similarity.matrix import Floats


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

    def as_dict(self) -> dict[str, Any]:
        """The fields as plain JSON values."""
        return asdict(self)


@dataclass(frozen=True)
class AverageCloseness:
    """Means over many draws of a protocol's random part; the errors without their signs.

    Attributes:
        draws: how many.
        jsd: mean of the JSD.
        wasserstein: mean of W₁.
        mean_error: mean absolute error of the mean.
        std_error: of the standard deviation.
        min_error: of the worst order's accuracy.
        max_error: of the best order's accuracy.
    """

    draws: int
    jsd: float
    wasserstein: float
    mean_error: float
    std_error: float
    min_error: float
    max_error: float

    def as_dict(self) -> dict[str, Any]:
        """The fields as plain JSON values."""
        return asdict(self)


def closeness(truth: Floats, estimate: Estimate) -> Closeness:
    """Compare an estimate with the n true accuracies, shape (n,)."""
    distribution = estimate.distribution
    return Closeness(
        jensen_shannon(truth, distribution),
        wasserstein(truth, distribution),
        distribution.mean - float(truth.mean()),
        distribution.std - float(truth.std()),
        estimate.min - float(truth.min()),
        estimate.max - float(truth.max()),
    )


def average_closeness(truth: Floats, draws: Sequence[Estimate]) -> AverageCloseness:
    """The mean closeness of estimates from several draws to the n true accuracies, shape (n,)."""
    found = [list(closeness(truth, estimate).as_dict().values()) for estimate in draws]
    return AverageCloseness(len(found), *(float(value) for value in np.abs(found).mean(axis=0)))
