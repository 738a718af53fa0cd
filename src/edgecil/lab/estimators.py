"""Estimators of the distribution of runs from a few runs, by name, for many samples at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from edgecil.io.arrays import Floats
from edgecil.statistics.distributions import Distribution, smooth, unbiasing
from edgecil.statistics.posterior import Posterior, evidence, measured_prior, posterior


@dataclass(frozen=True, eq=False)
class Observations:
    """B samples of n runs.

    Attributes:
        accuracies: (B, n) per cent.
        class_variance: (B,) from :func:`~edgecil.statistics.posterior.independent_variance`; None
            if it is unknown.
    """

    accuracies: Floats
    class_variance: Floats | None = None

    def posterior(self) -> Posterior:
        """Return the posterior of the population for each sample."""
        runs = evidence(self.accuracies)
        return posterior(runs, prior=measured_prior(), class_variance=self.class_variance)


Estimator = Callable[[Observations], list[Distribution]]


def gaussian(runs: Observations) -> list[Distribution]:
    """Return the paper's estimate, N(mean, std²) of the runs with ddof 0."""
    return _normals(runs, runs.accuracies.std(axis=1))


def gaussian_c4(runs: Observations) -> list[Distribution]:
    """Return N(mean, (s/c4)²), whose standard deviation is unbiased for random orders."""
    values = runs.accuracies
    return _normals(runs, values.std(axis=1, ddof=1) / unbiasing(values.shape[1]))


def smoothed(runs: Observations) -> list[Distribution]:
    """Return the estimate of `analyze`: the runs, smoothed to the standard deviation of a run."""
    stds = runs.posterior().std.tolist()
    return [smooth(row, std) for row, std in zip(runs.accuracies, stds, strict=True)]


def _normals(runs: Observations, stds: Floats) -> list[Distribution]:
    means = runs.accuracies.mean(axis=1).tolist()
    return [Distribution.normal(mean, std) for mean, std in zip(means, stds.tolist(), strict=True)]


ESTIMATORS: dict[str, Estimator] = {
    "gaussian": gaussian,
    "gaussian-c4": gaussian_c4,
    "smoothed": smoothed,
}
