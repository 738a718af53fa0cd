"""What a few orders say about the mean, the standard deviation and the next order.

Orders that were drawn independently have the intervals by Student's t and χ². In a Latin design the
classes visit the positions evenly and change partners, so that effects of classes and pairs at
positions cancel and the mean is more precise than that of as many random orders. How much more
depends on h, the share of the variance that these effects explain; the runs say little about it, so
it has a prior.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtrc, chdtri, stdtr, stdtrit

from edgecil.estimation.distributions import SAME
from edgecil.io.arrays import Floats

Interval = tuple[float, float]
LEVEL = 0.9

# Grid and prior of h. Beta(1, 2): most methods have position effects, few have nothing else.
_SHARES = (np.arange(20) + 0.5) / 20.0
_PRIOR = (1.0 - _SHARES) / (1.0 - _SHARES).sum()
_KURTOSIS = 0.3
_STEPS = 60
_FAR = 1e3
_LEAST_MISFIT = 1e-300


@dataclass(frozen=True, eq=False)
class Posterior:
    """Mean, standard deviation and next value, given n values: mixtures of t and χ distributions.

    The mean is centre + mean_width · t, the next value centre + next_width · t, and the standard
    deviation √(freedom / χ²) · spread. There is one component for independent values, and one for
    each h in a Latin design. Arrays of shape (B, m) in place of (m,) describe B sets of values at
    once; then probabilities have shape (B,) and so have the ends of intervals.

    Attributes:
        centre: (m,) of each component.
        mean_width: (m,) of the mean.
        next_width: (m,) of the next value.
        spread: (m,) standard deviation.
        weights: (m,) of the components, summing to 1.
        freedom: degrees of freedom of t.
        std_freedom: degrees of freedom of χ².
    """

    centre: Floats
    mean_width: Floats
    next_width: Floats
    spread: Floats
    weights: Floats
    freedom: float
    std_freedom: float

    def mean_interval(self, level: float = LEVEL) -> Interval:
        """Return the central interval of the mean over all orders."""
        return _pair(self.mean_ends(level))

    def next_interval(self, level: float = LEVEL) -> Interval:
        """Return the central interval of the next random order."""
        return _pair(self.next_ends(level))

    def std_interval(self, level: float = LEVEL) -> Interval:
        """Return the central interval of the standard deviation over all orders."""
        return _pair(self.std_ends(level))

    def mean_ends(self, level: float = LEVEL) -> Floats:
        """Return both ends of :meth:`mean_interval`, (2,) or (2, B)."""
        return self._ends(self.mean_width, level)

    def next_ends(self, level: float = LEVEL) -> Floats:
        """Return both ends of :meth:`next_interval`, (2,) or (2, B)."""
        return self._ends(self.next_width, level)

    def std_ends(self, level: float = LEVEL) -> Floats:
        """Return both ends of :meth:`std_interval`, (2,) or (2, B)."""
        tails = _tails(level, self.centre)
        if self.centre.shape[-1] == 1:
            scales = np.sqrt(self.std_freedom / chdtri(self.std_freedom, tails))
            return np.asarray(self.spread[..., 0] * scales)
        most = self.spread.max(axis=-1)
        return _bisect(self.std_cdf, tails, most / _FAR, most * _FAR)

    def mean_above(self, value: float) -> float:
        """Return the probability that the mean is above a value; exact also where it is tiny."""
        z = (self.centre - value) / np.maximum(self.mean_width, 1e-300)  # t is symmetric
        return float(stdtr(self.freedom, z) @ self.weights)

    def mean_below(self, value: float) -> float:
        """Return the probability that the mean is below a value; exact also where it is tiny."""
        return float(self.mean_cdf(np.float64(value)))

    def std_below(self, value: float) -> float:
        """Probability that the standard deviation is below a value above 0."""
        return float(self.std_cdf(np.float64(value)))

    def next_above(self, value: float) -> float:
        """Return the probability that the next random order is above a value."""
        return 1.0 - float(self.next_cdf(np.float64(value)))

    def mean_cdf(self, at: ArrayLike) -> Floats:
        """Return the probability that the mean is below a value, or below each of B values."""
        return self._cdf(at, self.mean_width)

    def next_cdf(self, at: ArrayLike) -> Floats:
        """Return the probability that the next order is below a value, or below each of B."""
        return self._cdf(at, self.next_width)

    def std_cdf(self, at: ArrayLike) -> Floats:
        """Return the probability that the standard deviation is below a value, or each of B."""
        ratio = self.std_freedom * (self.spread / np.asarray(at)[..., None]) ** 2
        return np.asarray((chdtrc(self.std_freedom, ratio) * self.weights).sum(axis=-1))

    def _cdf(self, at: ArrayLike, width: Floats) -> Floats:
        z = (np.asarray(at)[..., None] - self.centre) / np.maximum(width, 1e-300)
        return np.asarray((stdtr(self.freedom, z) * self.weights).sum(axis=-1))

    def _ends(self, width: Floats, level: float) -> Floats:
        tails = _tails(level, self.centre)
        if self.centre.shape[-1] == 1:
            return np.asarray(self.centre[..., 0] + width[..., 0] * stdtrit(self.freedom, tails))
        far = _FAR * width.max(axis=-1)
        least, most = self.centre.min(axis=-1) - far, self.centre.max(axis=-1) + far
        return _bisect(lambda points: self._cdf(points, width), tails, least, most)


def posterior(
    values: Floats,
    *,
    overlap: Floats | None = None,
    space_size: int | None = None,
    common: float = 0.0,
) -> Posterior | None:
    """Return what n >= 2 values, one per order, say; None if there are fewer or all are equal.

    Equal values show no spread, so no interval can be given. See :func:`posteriors`.

    Args:
        values: (n,) accuracies, or differences between two methods.
        overlap: (n, n) covariance that a design implies, from :meth:`Protocol.overlap`; None for
            independent orders.
        space_size: |Ω|, from which the orders were drawn without replacement; None if endless.
        common: variance of an error that all values share, in units of s²; it widens the interval
            of the mean.
    """
    if len(values) < 2 or np.ptp(values) <= SAME:
        return None
    return posteriors(values, overlap=overlap, space_size=space_size, common=common)


def posteriors(
    values: Floats,
    *,
    overlap: Floats | None = None,
    space_size: int | None = None,
    common: float = 0.0,
) -> Posterior:
    """Return what B sets of n >= 2 values say; equal values give intervals without length.

    Independent values have the usual t and χ² with n-1 degrees of freedom; in a finite space the
    variance of the mean is s² (1/n - 1/|Ω|). As the variance of s² is less in a finite space and
    more with tails that are heavier than normal ones, χ² has (n-1)/((1 - n/|Ω|)(1 + κ(n-1)/(2n)))
    degrees of freedom, with the excess kurtosis κ = 0.3, with which intervals cover truth tables
    best.

    In a Latin design, values are normal with variance s² and correlation h kᵢⱼ between orders i and
    j, where k is :func:`~edgecil.sequences.overlap.position_overlap`: a share h of the variance
    comes from effects of classes and pairs of classes at positions. Prior: 1/s for s, flat for the
    mean, Beta(1, 2) for h.

    Args:
        values: (…, n) accuracies, or differences between two methods.
        overlap: (…, n, n) covariance that designs imply; None for independent orders.
        space_size: |Ω|, from which the orders were drawn without replacement; None if endless.
        common: variance of an error that all values share, in units of s²; it widens the interval
            of the mean.
    """
    count = values.shape[-1]
    left = 0.0 if space_size is None else 1 / max(space_size, count)  # may exceed all floats
    tails = 1.0 + _KURTOSIS * (count - 1) / (2.0 * count)
    std_freedom = (count - 1) / max((1.0 - count * left) * tails, 1e-6)
    if overlap is None:
        spread = values.std(axis=-1, ddof=1, keepdims=True)
        return Posterior(
            values.mean(axis=-1, keepdims=True),
            spread * np.sqrt(1.0 / count - left + common),
            spread * np.sqrt(1.0 + 1.0 / count),
            spread,
            np.ones(1),
            count - 1,
            std_freedom,
        )
    # One eigendecomposition serves every h, as C = (1-h) I + h K.
    eigenvalues, vectors = np.linalg.eigh(overlap)
    along = (values[..., None, :] @ vectors)[..., 0, :]
    ones = vectors.sum(axis=-2)
    shares = _SHARES[:, None]
    scales = 1.0 - shares + shares * np.maximum(eigenvalues, 0.0)[..., None, :]
    along, ones = along[..., None, :], ones[..., None, :]
    precision = (ones**2 / scales).sum(axis=-1)
    centre = (ones * along / scales).sum(axis=-1) / precision
    misfit = ((along - centre[..., None] * ones) ** 2 / scales).sum(axis=-1).clip(_LEAST_MISFIT)
    log = np.log(_PRIOR) - 0.5 * (np.log(scales).sum(axis=-1) + np.log(precision))
    log = log - 0.5 * (count - 1) * np.log(misfit)
    weights = np.exp(log - log.max(axis=-1, keepdims=True))
    spreads = np.sqrt(misfit / (count - 1))
    return Posterior(
        centre,
        spreads * np.sqrt(np.maximum(1.0 / precision - (1.0 - _SHARES) * left, 0.0) + common),
        spreads * np.sqrt(1.0 + 1.0 / precision),
        spreads,
        weights / weights.sum(axis=-1, keepdims=True),
        count - 1,
        std_freedom,
    )


def _tails(level: float, components: Floats) -> Floats:
    """Return both probabilities, shape (2,), with an axis for each batch axis of components."""
    tails = np.array([(1.0 - level) / 2.0, (1.0 + level) / 2.0])
    return tails.reshape(2, *(1 for _ in components.shape[:-1]))


def _pair(ends: Floats) -> Interval:
    return float(ends[0]), float(ends[1])


def _bisect(
    cdf: Callable[[Floats], Floats], probability: Floats, least: Floats, most: Floats
) -> Floats:
    """Return where cdfs reach two probabilities, (2,) or (2, B), between two points each."""
    low, high = np.broadcast_arrays(least + 0.0 * probability, most + 0.0 * probability)
    for _ in range(_STEPS):
        middle = (low + high) / 2.0
        below = cdf(middle) < probability
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.asarray((low + high) / 2.0)
