"""The accuracies that can occur: those of n test images are multiples of 100/n."""

from __future__ import annotations

import numpy as np

from edgecil.estimation.distributions import SAME, Distribution
from edgecil.io.arrays import Floats

_IMAGES = np.arange(1, 2_001)
_NEAR_INTEGER = 1e-7
_ROUND_FROM = 0.5
_FARTHEST = 6.0
_MEASURED_FROM = 0.1
_MOST_STEPS = 5_000


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


def round_to_steps(
    distribution: Distribution, values: Floats, *, measured_share: float = 0.0
) -> Distribution:
    """Return a distribution rounded to the accuracies that can occur, as a few values show them.

    It stays as it is where the values have no common step, and where the step is at most half of
    the distribution's width, because rounding would change next to nothing.

    Args:
        distribution: with a width.
        values: (n,) accuracies that were measured.
        measured_share: the share of all orders that the values are. From a tenth on the
            distribution is always rounded, and this share of it is replaced by the values.
    """
    measured = measured_share >= _MEASURED_FROM
    varied = distribution.width > SAME and np.ptp(values) > SAME  # equal values show no step
    step = accuracy_step(values) if varied else None
    if step is None or not (measured or step > _ROUND_FROM * distribution.width):
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
    if not measured:
        return Distribution(multiples[kept] * step, weights[kept])
    places = np.round(values / step) - first
    counts = np.bincount(places.astype(np.int64), minlength=len(multiples)) / len(values)
    weights = (1.0 - measured_share) * np.where(kept, weights, 0.0) + measured_share * counts
    kept = weights > 0.0
    return Distribution(multiples[kept] * step, weights[kept])
