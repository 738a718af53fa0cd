"""How far an estimated distribution of accuracy is from the true one."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import xlogy

from edgecil.errors import UsageError
from edgecil.estimation.distributions import Distribution
from edgecil.similarity.matrix import Floats

# Accuracies that differ by less are one accuracy: means over seeds carry rounding.
SAME = 1e-9


def grid(truth: ArrayLike) -> Floats:
    """Inner edges of the bins in which the JSD is computed; the truth alone decides them.

    ⌈2 n^(1/3)⌉ bins of one width (the Rice rule) from the least to the greatest of n accuracies,
    and an open bin on either side. A truth of one value has one bin that holds just that value.

    >>> grid([3.0, 3.0]).round(3)
    array([3., 3.])
    """
    values = _accuracies(truth)
    low, high = values.min(), values.max()
    bins = int(np.ceil(2.0 * len(values) ** (1.0 / 3.0) - SAME)) if high - low > SAME else 1
    edges = np.linspace(low, high, bins + 1)
    edges[0], edges[-1] = low - SAME, high + SAME
    return edges


def jensen_shannon(truth: ArrayLike, estimate: Distribution) -> float:
    """Jensen-Shannon divergence in nats, in [0, ln 2], on the truth's :func:`grid`.

    A point mass puts all its probability into one bin; nothing is smoothed.

    Args:
        truth: (n,) accuracies, each of the same probability.
        estimate: what is compared with it.
    """
    edges = grid(truth)
    first, second = _binned(Distribution.of(truth), edges), _binned(estimate, edges)
    middle = (first + second) / 2.0
    known = middle > 0.0
    parts = [
        xlogy(part[known], part[known] / middle[known]).sum() / 2.0 for part in (first, second)
    ]
    return float(np.clip(sum(parts), 0.0, np.log(2.0)))


def wasserstein(truth: ArrayLike, estimate: Distribution) -> float:
    """W₁ = ∫ |F - G| in accuracy points, exactly, between n accuracies and any distribution.

    Between two neighbouring accuracies F is constant, so that the integral of |F - G| follows from
    that of G and the one point where G may cross F.
    """
    values = np.sort(_accuracies(truth))
    count = len(values)
    below, above = values[:-1], values[1:]
    level = np.arange(1, count) / count
    at_values = estimate.shortfall(values)
    reached = estimate.cdf(values)
    crossing = np.where(reached[:-1] >= level, below, above)
    inside = (reached[:-1] < level) & (reached[1:] > level) & (above > below)
    if inside.any():
        crossing[inside] = estimate.solve(level[inside], below[inside], above[inside])
    until, from_ = (
        estimate.shortfall(crossing) - at_values[:-1],
        at_values[1:] - estimate.shortfall(crossing),
    )
    gaps = level * (crossing - below) - until + from_ - level * (above - crossing)
    beyond = at_values[-1] + estimate.mean - values[-1]
    return float(at_values[0] + np.maximum(gaps, 0.0).sum() + max(beyond, 0.0))


def _binned(distribution: Distribution, edges: Floats) -> Floats:
    """Probability of each bin, the open ones included."""
    return np.diff(np.concatenate([[0.0], distribution.cdf(edges), [1.0]])).clip(0.0)


def _accuracies(truth: ArrayLike) -> Floats:
    values = np.atleast_1d(np.asarray(truth, dtype=np.float64))
    if values.ndim != 1 or not values.size or not np.isfinite(values).all():
        raise UsageError("A true distribution needs at least one accuracy, and finite ones.")
    return values
