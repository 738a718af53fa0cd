"""Two methods on the same class orders: which one is better, by how much, how certainly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from edgecil.errors import UsageError
from edgecil.estimation.distances import SAME

_LEVEL = 0.95


@dataclass(frozen=True)
class Comparison:
    """The first method against the second, order by order.

    Attributes:
        n: orders that both ran.
        difference: mean accuracy of the first minus that of the second, in points.
        interval: 95 %, by Student's t of the differences; None with one order.
        probability_of_improvement: share of orders on which the first is better, ties half.
        p_value: Wilcoxon's signed-rank test, two-sided, ties dropped; None if all are ties.
    """

    n: int
    difference: float
    interval: tuple[float, float] | None
    probability_of_improvement: float
    p_value: float | None


def compare(first: ArrayLike, second: ArrayLike) -> Comparison:
    """Compare the accuracies of two methods, both of shape (n,), on the same n orders."""
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if a.shape != b.shape or a.ndim != 1 or not a.size:
        raise UsageError(
            "Paired accuracies must have the same shape (n,), n >= 1. "
            f"Got {a.shape} and {b.shape} instead."
        )
    gain = a - b
    n, mean = len(gain), float(gain.mean())
    interval = None
    if n > 1:
        reach = float(stats.t.isf((1.0 - _LEVEL) / 2.0, n - 1) * gain.std(ddof=1) / np.sqrt(n))
        interval = (mean - reach, mean + reach)
    tied = np.abs(gain) <= SAME
    better = float(np.mean(np.where(tied, 0.5, gain > 0.0)))
    p_value = None if tied.all() else float(stats.wilcoxon(gain[~tied].round(9)).pvalue)
    return Comparison(n, mean, interval, better, p_value)
