"""Distributions of accuracy: mixtures of normal distributions with one common width.

A width of zero leaves atoms, so empirical distributions and point masses are included; a mixture of
one component is a normal distribution. Mean, cdf, quantiles and the integral of the cdf are exact,
and so is every distance that is computed from them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln, ndtr, ndtri

from edgecil.errors import UsageError
from edgecil.io.arrays import Floats
from edgecil.statistics.inversion import invert
from edgecil.statistics.verdicts import LEVEL

# Accuracies that differ by less are equal: means over seeds have rounding errors.
SAME = 1e-9


@dataclass(frozen=True, eq=False, init=False)
class Distribution:
    """Σₖ wₖ N(locationₖ, width²), in accuracy points.

    Attributes:
        locations: (m,) ascending, finite.
        weights: (m,) positive, summing to 1.
        width: standard deviation of every component; 0 leaves atoms.
        mean: Σₖ wₖ locationₖ.
        std: the standard deviation, √(Σₖ wₖ (locationₖ - mean)² + width²).

    >>> Distribution.of([1.0, 2.0, 6.0]).mean
    3.0
    """

    locations: Floats
    weights: Floats
    width: float
    mean: float
    std: float

    # Validated here and not after decoding: normalised weights must be read back bit by bit.
    def __init__(self, locations: ArrayLike, weights: ArrayLike, width: float = 0.0) -> None:
        at = np.atleast_1d(np.array(locations, dtype=np.float64))
        shares = np.atleast_1d(np.array(weights, dtype=np.float64))
        fits = at.ndim == 1 and at.shape == shares.shape and at.size > 0
        finite = fits and np.isfinite(at).all() and 0.0 <= width < np.inf
        if not finite or not (shares > 0.0).all():
            raise UsageError(
                "A distribution requires one location or more, a positive weight for each, and a "
                "width of at least 0, all of them finite."
            )
        order = np.argsort(at, kind="stable")
        at, shares = at[order], shares[order] / shares.sum()
        mean = float(shares @ at)
        around = shares @ (at - mean) ** 2
        object.__setattr__(self, "locations", at)
        object.__setattr__(self, "weights", shares)
        object.__setattr__(self, "width", float(width))
        object.__setattr__(self, "mean", mean)
        object.__setattr__(self, "std", float(np.sqrt(around + width**2)))

    @classmethod
    def of(cls, values: ArrayLike) -> Distribution:
        """Return the empirical distribution of n values, each with weight 1/n."""
        atoms = np.atleast_1d(np.asarray(values, dtype=np.float64))
        return cls(atoms, np.ones(atoms.shape))

    @classmethod
    def normal(cls, mean: float, std: float) -> Distribution:
        """N(mean, std²); a point mass if std is 0."""
        return cls(mean, 1.0, std)

    def cdf(self, at: ArrayLike) -> Floats:
        """P(X <= x) at each of any array of points."""
        points = np.asarray(at, dtype=np.float64)
        if self.width == 0.0:
            reached = np.concatenate([[0.0], np.cumsum(self.weights)])
            reached[-1] = 1.0
            values: Floats = reached[np.searchsorted(self.locations, points, side="right")]
            return values
        return np.asarray(ndtr(self._standardised(points)) @ self.weights)

    def quantile(self, probability: ArrayLike) -> Floats:
        """Return the least x with P(X <= x) >= p, for each p of any array in (0, 1)."""
        wanted = np.asarray(probability, dtype=np.float64)
        if self.width == 0.0:
            reached = np.cumsum(self.weights)
            index = np.searchsorted(reached, wanted * (1.0 - 1e-12), side="left")
            return self.locations[np.minimum(index, len(reached) - 1)]
        edge = self.width * ndtri(wanted)
        return self.solve(wanted, self.locations[0] + edge, self.locations[-1] + edge)

    def solve(self, probability: Floats, low: Floats, high: Floats) -> Floats:
        """Return where the cdf reaches each probability, between points below and above."""
        if self.width == 0.0:
            return np.clip(self.quantile(probability), low, high)
        return invert(self._cdf_and_density, probability, low, high)

    def interval(self, level: float = LEVEL) -> tuple[float, float]:
        """Return the central interval that holds an accuracy with this probability."""
        ends = self.quantile(np.array([(1.0 - level) / 2.0, (1.0 + level) / 2.0]))
        return float(ends[0]), float(ends[1])

    def shortfall(self, at: ArrayLike) -> Floats:
        """∫ of the cdf up to each point, E[(x - X)₊]."""
        points = np.asarray(at, dtype=np.float64)
        if self.width == 0.0:
            lacking = np.maximum(points[..., None] - self.locations, 0.0)
            return np.asarray(lacking @ self.weights)
        z = self._standardised(points)
        density = np.exp(-0.5 * z**2) / np.sqrt(2.0 * np.pi)
        return np.asarray(self.width * (z * ndtr(z) + density) @ self.weights)

    def _cdf_and_density(self, points: Floats) -> tuple[Floats, Floats]:
        z = self._standardised(points)
        density = np.exp(-0.5 * z**2) @ self.weights / (np.sqrt(2.0 * np.pi) * self.width)
        return np.asarray(ndtr(z) @ self.weights), np.asarray(density)

    def _standardised(self, points: Floats) -> Floats:
        """Return distances from every location in widths, shape (…, m)."""
        return np.asarray((points[..., None] - self.locations) / self.width)


def grid(truth: ArrayLike) -> Floats:
    """Inner edges of the bins of a histogram; the JSD is computed in them.

    ⌈2 n^(1/3)⌉ bins of one width (the Rice rule) from the least to the greatest of n accuracies,
    and an open bin on either side. A truth of one value has one bin that holds just that value.

    >>> grid([3.0, 3.0]).round(3)
    array([3., 3.])
    """
    values = np.asarray(truth, dtype=np.float64)
    low, high = values.min(), values.max()
    bins = int(np.ceil(2.0 * len(values) ** (1.0 / 3.0) - SAME)) if high - low > SAME else 1
    edges = np.linspace(low, high, bins + 1)
    edges[0], edges[-1] = low - SAME, high + SAME
    return edges


_IMAGES = np.arange(1, 2_001)
_NEAR_INTEGER = 1e-7
_ROUND_FROM = 0.5
_FARTHEST = 6.0
_MOST_STEPS = 5_000
_KERNEL = 0.9


def accuracy_step(values: Floats) -> float | None:
    """Find the largest step 100/n, n up to 2,000, of which all values are multiples.

    The number of test images is a multiple of n.

    >>> accuracy_step(np.array([62.5, 65.0, 61.25]))
    1.25
    >>> accuracy_step(np.array([62.513, 65.0])) is None
    True
    """
    images = _IMAGES
    for value in np.unique(values):
        correct = value * images / 100.0
        images = images[np.abs(correct - np.round(correct)) <= _NEAR_INTEGER]
        if not images.size:
            return None
    return 100.0 / float(images[0])


def _round_to_steps(distribution: Distribution, values: Floats) -> Distribution:
    """Return a distribution rounded to the accuracies that can occur, as a few values show them.

    It stays as it is where the step is at most half of its width: rounding would change next to
    nothing.
    """
    varied = distribution.width > SAME and np.ptp(values) > SAME  # equal values show no step
    step = accuracy_step(values) if varied else None
    if step is None or step <= _ROUND_FROM * distribution.width:
        return distribution
    reach = _FARTHEST * distribution.width
    first = np.floor((distribution.locations[0] - reach) / step)
    last = np.ceil((distribution.locations[-1] + reach) / step)
    if last - first > _MOST_STEPS:
        return distribution
    multiples = np.arange(first, last + 1.0)
    reached = distribution.cdf((multiples[:-1] + 0.5) * step)
    weights = np.diff(reached, prepend=0.0, append=1.0)
    kept = weights > SAME
    return Distribution(multiples[kept] * step, weights[kept])


def unbiasing(count: int) -> float:
    """c4(n) = E[s] / σ for the sample standard deviation s of n normal values.

    c4(n) = √(2/(n-1)) Γ(n/2) / Γ((n-1)/2).

    >>> round(unbiasing(3), 4)
    0.8862
    """
    return float(
        np.sqrt(2.0 / (count - 1.0)) * np.exp(gammaln(count / 2.0) - gammaln((count - 1.0) / 2.0))
    )


def smooth(values: Floats, std: float) -> Distribution:
    """Smooth accuracies by a normal kernel to a standard deviation, on accuracies that can occur.

    The result has the mean of the accuracies and a given standard deviation. The kernel has 0.9
    times Silverman's width, 1.06 σ n^(-1/5), and every run is moved towards the mean, so that the
    standard deviation stays σ. It is rounded to the accuracies that the test images allow, where
    that matters.

    Args:
        values: (n,) per cent, one per order.
        std: of a run, from :attr:`~edgecil.statistics.posterior.Posterior.std`.
    """
    count, mean, spread = len(values), float(values.mean()), float(values.std())
    kernel = Distribution.normal(mean, std)
    if spread > SAME:
        relative = min(_KERNEL * 1.06 * count**-0.2, 1.0)
        inwards = np.sqrt(1.0 - relative**2) * std / spread
        kernel = Distribution(mean + inwards * (values - mean), np.ones(count), relative * std)
    return _round_to_steps(kernel, values)
