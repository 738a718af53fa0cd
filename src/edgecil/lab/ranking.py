"""Rankings of methods by worst order, best order and stability, and distances between them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from edgecil.errors import UsageError
from edgecil.io.arrays import Floats

Ranks = dict[str, float]
CRITERIA = ("lower", "upper", "stability")


@dataclass(frozen=True)
class Ranking:
    """Ranks of methods, 1 is best; ties get the mean of their ranks.

    Attributes:
        lower: by the worst order's accuracy, high first.
        upper: by the best order's accuracy, high first.
        stability: by the standard deviation, low first.
    """

    lower: Ranks
    upper: Ranks
    stability: Ranks


@dataclass(frozen=True)
class AverageRanking:
    """Distance of rankings from the true one, over many draws of a protocol's random part.

    Attributes:
        draws: how many.
        error: mean footrule.
        correct_share: share of the draws whose ranking is the true one, in [0, 1].
    """

    draws: int
    error: float
    correct_share: float


def rank(methods: Mapping[str, tuple[float, float, float]]) -> Ranking:
    """Rank methods by the least and greatest accuracy and the standard deviation of each.

    >>> rank({"a": (40.0, 50.0, 3.0), "b": (30.0, 60.0, 9.0)}).lower
    {'a': 1.0, 'b': 2.0}
    """
    numbers = np.array(list(methods.values()), dtype=np.float64).reshape(-1, 3)
    lower, upper, stability = (
        {name: float(place) for name, place in zip(methods, column, strict=True)}
        for column in _places(numbers).T
    )
    return Ranking(lower, upper, stability)


def ranking_error(estimated: Ranking, truth: Ranking) -> float:
    """Spearman's footrule Σ |rank - true rank| over methods and the three criteria."""
    if set(estimated.lower) != set(truth.lower):
        raise UsageError("Rankings to compare must rank the same methods.")
    return float(
        sum(
            abs(place - getattr(truth, criterion)[name])
            for criterion in CRITERIA
            for name, place in getattr(estimated, criterion).items()
        )
    )


def average_ranking(methods: Mapping[str, ArrayLike], truth: Ranking) -> AverageRanking:
    """Return the mean distance of rankings from the true one, and the share that equals it.

    Args:
        methods: by name, the numbers that :func:`rank` takes in each of B draws, shape (B, 3).
        truth: ranks of the same methods.
    """
    numbers = np.stack([np.asarray(draws, dtype=np.float64) for draws in methods.values()], axis=1)
    true = [[getattr(truth, criterion)[name] for criterion in CRITERIA] for name in methods]
    errors = np.abs(_places(numbers) - true).sum(axis=(1, 2))
    return AverageRanking(len(errors), float(errors.mean()), float((errors == 0.0).mean()))


def _places(numbers: Floats) -> Floats:
    """Ranks of M methods by each criterion, of numbers of the same shape (…, M, 3)."""
    from scipy.stats import rankdata

    return np.asarray(rankdata(numbers.round(9) * [-1.0, -1.0, 1.0], axis=-2))
