"""Confidence sequences: intervals of a mean that stay valid if one looks after every value.

An ordinary interval is wrong in far more than one of ten cases if one stops as soon as it says what
one hopes for. A confidence sequence contains the mean at all times at once with its level, so that
any rule for stopping is allowed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from edgecil.errors import UsageError
from edgecil.io.arrays import Bools, Floats
from edgecil.statistics.arguments import open_probability
from edgecil.statistics.inversion import bisect
from edgecil.statistics.student import Student
from edgecil.statistics.verdicts import LEVEL

# Variance of the prior of (mean - value)/std; intervals of 5 to 50 values are near their narrowest.
_PRIOR = 1.5
# How far beyond the others, in standard deviations, one value that is not seen yet may be.
_UNSEEN = 2.0
# With fewer values, moderately skewed and bimodal ones exceed the error rate.
LEAST_LOOK = 5
_STEPS, _LEAST_P = 50, 1e-12  # of the search for a p-value
_EQUAL = 1e-6  # values that differ by less show no spread


def confidence_interval(
    values: Sequence[float], level: float = LEVEL, *, least: int = LEAST_LOOK
) -> tuple[float, float] | None:
    """Return the interval of the mean after n values, valid for all n at the same time.

    It has the means m whose Bayes factor against all others stays below 1/(1 - level). With
    t² = n (x̄ - m)²/s² and g the variance of the effect's normal prior, the Bayes factor of the
    t test with the scale-invariant prior 1/σ is

        (1 + n g)^(-1/2) ((1 + t²/(n-1)) / (1 + t²/((n-1)(1 + n g))))^(n/2),

    a test martingale if values are independent and normal with any mean and variance (Lai 1976;
    Wang and Ramdas 2024), so that it exceeds 1/(1 - level) at any time with probability at most
    1 - level (Ville 1939). Rare outliers that have not occurred yet, as among the accuracies of
    RanPAC, move the mean without a trace in s; both ends are u s/(n+1) farther for them, which
    keeps the interval valid for normal values.

    Args:
        values: in the order in which they were seen.
        level: probability that all intervals contain the mean.
        least: number of values before which there is no interval. It makes the error rate of
            moderately skewed (gamma with shape 3) and of bimodal values at most the nominal one,
            too. Of exponential values, which are skewed more than accuracies on truth tables, 14 %
            of series miss the mean at a level of 90 %.

    Returns:
        None before that, and if all values are equal.

    >>> low, high = confidence_interval([50.0, 52.0, 51.0, 53.0, 51.5, 52.5])
    >>> round(low, 2), round(high, 2)
    (49.16, 54.17)
    """
    if not all(math.isfinite(value) for value in values):
        raise UsageError("`values` must have finite numbers only.")
    count = len(values)
    scale = reach(count, level, least=least)
    if scale is None:
        return None
    mean = fmean(values)
    variance = math.fsum((value - mean) ** 2 for value in values) / (count - 1)
    if variance == 0.0:
        return None  # equal values show no spread
    half = scale * math.sqrt(variance)
    return mean - half, mean + half


@dataclass(frozen=True)
class ConfidenceSequence:
    """What values that were seen one after the other say of their mean, at any time.

    Attributes:
        mean: of the values so far, less what they are compared with.
        std: their sample standard deviation.
        size: their number.
        fixed: the mean of an independent sample that does not grow, around 0, which is compared
            with them; None without one.
    """

    mean: float
    std: float
    size: int
    fixed: Student | None = None

    @classmethod
    def of(cls, values: Sequence[float]) -> ConfidenceSequence | None:
        """Return what values say; None before the first look, and if all of them are equal."""
        if len(values) < LEAST_LOOK:
            return None
        mean = fmean(values)
        variance = math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)
        return cls(mean, math.sqrt(variance), len(values)) if variance > 0.0 else None

    def interval(self, level: float = LEVEL) -> tuple[float, float] | None:
        """Return the interval of :func:`confidence_interval`; None if it is infinite.

        Beside a sample that does not grow, both intervals miss with half the probability, so that
        their difference holds at all times, too (Bonferroni).
        """
        alpha = 1.0 - level
        added = 0.0
        if self.fixed is not None:
            alpha /= 2.0
            low, high = self.fixed.interval("mean", 1.0 - alpha)
            added = (high - low) / 2.0
        scale = reach(self.size, 1.0 - alpha)
        if scale is None:
            return None
        half = scale * self.std + added
        return self.mean - half, self.mean + half

    @property
    def p_value(self) -> float:
        """The least 1 - level at which the interval excludes 0, at most 1; valid at any time."""

        def includes_zero(log_p: Floats) -> Bools:
            ends = self.interval(1.0 - math.exp(float(log_p)))
            excludes = ends is not None and (ends[0] > 0.0 or ends[1] < 0.0)
            return np.asarray(not excludes)

        least = np.array(math.log(_LEAST_P))
        _, high = bisect(includes_zero, least, np.array(0.0), _STEPS)
        return math.exp(float(high))


def excludes_zero(series: Floats, level: float = LEVEL) -> Bools:
    """Return whether :func:`confidence_interval` excludes 0 after each value of series (B, n)."""
    counts = np.arange(1, series.shape[1] + 1)
    shifted = series - series[:, :1]
    sums, squares = shifted.cumsum(axis=1), (shifted**2).cumsum(axis=1)
    spread = np.sqrt(np.maximum(squares - sums**2 / counts, 0.0) / np.maximum(counts - 1, 1))
    reaches = np.array([reach(count, level) or np.inf for count in counts.tolist()])
    far = reaches * np.where(spread > _EQUAL, spread, np.inf)
    return np.asarray(np.abs(sums / counts + series[:, :1]) > far)


def reach(count: int, level: float = LEVEL, *, least: int = LEAST_LOOK) -> float | None:
    """Return the half-width of :func:`confidence_interval`, in sample standard deviations.

    None where there is no interval yet.

    >>> round(reach(10), 3)
    1.4
    """
    alpha = 1.0 - float(open_probability("level", level))
    if count < max(2, least):
        return None
    growth = 1.0 + count * _PRIOR
    bound = (math.sqrt(growth) / alpha) ** (2.0 / count)
    if bound >= growth:
        return None
    squared = (count - 1) * (bound - 1.0) / (1.0 - bound / growth)
    return math.sqrt(squared / count) + _UNSEEN / (count + 1)
