"""Means over sets of classes, with intervals that treat a set as one observation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from edgecil.io.arrays import Floats, Ints

LEVEL = 0.9


@dataclass(frozen=True)
class Score:
    """A mean over sets of classes.

    Attributes:
        mean: each set counts the same.
        low: lower end of the 90 % interval; None with a single set.
        high: its upper end.
    """

    mean: float
    low: float | None
    high: float | None


def set_score(
    values: Sequence[float],
    sets: Sequence[int],
    reference: tuple[Sequence[float], Sequence[int]] | None = None,
) -> Score:
    """Return the mean over sets of the means within sets, or its ratio to that of a reference.

    The interval is that of the jackknife: the mean is computed again without each of the G sets,
    and ± t √((G-1)/G Σ (mean without g - their mean)²) with G-1 degrees of freedom is the interval.
    For a plain mean that is Student's interval of the G means.

    Args:
        values: n values.
        sets: the set of each.
        reference: values and sets of the denominator, which must have the same sets.

    >>> set_score([1.0, 3.0, 4.0], [0, 0, 1]).mean
    3.0
    """
    above, below = _means(values, sets), _means(*reference) if reference else None

    def mean(keep: Ints) -> float:
        bottom = 1.0 if below is None else float(below[keep].mean())
        return float(above[keep].mean()) / bottom

    count = len(above)
    everything: Ints = np.arange(count, dtype=np.int64)
    if count < 2:
        return Score(mean(everything), None, None)
    without = np.array([mean(np.delete(everything, index)) for index in range(count)])
    error = np.sqrt((count - 1) / count * ((without - without.mean()) ** 2).sum())
    reach = float(stdtrit(count - 1, (1.0 + LEVEL) / 2.0) * error)
    return Score(mean(everything), mean(everything) - reach, mean(everything) + reach)


def _means(values: Sequence[float], sets: Sequence[int]) -> Floats:
    """Return the mean within each set, in ascending order of the sets."""
    _, index = np.unique(np.asarray(sets), return_inverse=True)
    numbers = np.asarray(values, dtype=np.float64)
    return np.asarray(np.bincount(index, numbers) / np.bincount(index))
