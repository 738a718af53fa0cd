"""How many sequences are enough: distance from the truth as the budget grows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from edgecil.errors import UsageError
from edgecil.estimation.distributions import SAME
from edgecil.io.arrays import Ints
from edgecil.lab.distances import Target
from edgecil.lab.estimators import Observations, get_estimator

SIZES = (3, 4, 5, 6, 8, 10, 15, 20, 30)
_MOST_DRAWS = 1_000_000
_BAND = (0.05, 0.95)


@dataclass(frozen=True)
class BudgetPoint:
    """The distance of an estimate from the truth with one budget, over many draws of the orders.

    Attributes:
        budget: number of class orders.
        jsd: mean divergence from the truth, nats.
        jsd_band: 5 % and 95 % quantiles over the draws.
        wasserstein: mean W₁, points.
        wasserstein_band: 5 % and 95 % quantiles.
    """

    budget: int
    jsd: float
    jsd_band: tuple[float, float]
    wasserstein: float
    wasserstein_band: tuple[float, float]


@dataclass(frozen=True)
class OutsideRange:
    """How many of n class orders have an accuracy outside a range.

    Attributes:
        low: lower end of the range.
        high: upper end of the range.
        below: number of orders with a lower accuracy.
        above: number of orders with a higher accuracy.
        n: number of all orders.
    """

    low: float
    high: float
    below: int
    above: int
    n: int


def check_draws(draws: int) -> None:
    """Raise an error if a number of draws is not positive, or would take days."""
    if not 1 <= draws <= _MOST_DRAWS:
        raise UsageError(
            f"The 'draws' parameter must be an int in [1, {_MOST_DRAWS:,}]. Got {draws} instead."
        )


def draw_runs(size: int, runs: int, rng: np.random.Generator, *, fixed: Sequence[int] = ()) -> Ints:
    """Draw positions of `runs` different sequences: the fixed ones, then random ones."""
    if not len(fixed) <= runs <= size:
        raise UsageError(
            f"The 'runs' parameter must be an int in [{len(fixed)}, {size}]. Got {runs} instead."
        )
    # `runs` draws suffice even if all fixed ones are among them; the space is never listed.
    drawn = rng.choice(size, runs, replace=False)
    if not fixed:
        return drawn
    others = [place for place in drawn.tolist() if place not in fixed]
    return np.array([*fixed, *others[: runs - len(fixed)]], dtype=np.int64)


def budget_curve(
    truth: ArrayLike,
    rng: np.random.Generator,
    *,
    pool: ArrayLike | None = None,
    fixed: Sequence[int] = (),
    sizes: Sequence[int] = SIZES,
    draws: int = 100,
    estimator: str = "gaussian",
) -> tuple[BudgetPoint, ...]:
    """Return the mean distance of an estimate from the truth for growing budgets, over many draws.

    Args:
        truth: (m,) the accuracy of every sequence, or of a large sample.
        rng: draws the orders.
        pool: the truth, followed by accuracies that only `fixed` refers to; the truth by default.
        fixed: positions in the pool that are always among the runs: EDGE's hard and easy sequence.
        sizes: budgets; those above m are left out.
        draws: per budget.
        estimator: one that needs no predictor.
    """
    values = np.asarray(truth, dtype=np.float64)
    accuracies = values if pool is None else np.asarray(pool, dtype=np.float64)
    chosen, target = get_estimator(estimator), Target.of(values)
    points = []
    for size in (n for n in sizes if max(1, len(fixed)) <= n <= len(values)):
        places = np.array([draw_runs(len(values), size, rng, fixed=fixed) for _ in range(draws)])
        made = chosen.estimates(Observations(accuracies[places]))
        distances = target.distances([estimate.distribution for estimate in made])
        low, high = np.quantile(distances, _BAND, axis=0)
        jsd, distance = distances.mean(axis=0)
        points.append(
            BudgetPoint(
                size,
                float(jsd),
                (float(low[0]), float(high[0])),
                float(distance),
                (float(low[1]), float(high[1])),
            )
        )
    return tuple(points)


def count_outside(ends: ArrayLike, accuracies: ArrayLike) -> OutsideRange:
    """Count how many of n accuracies lie outside the range of the accuracies in `ends`.

    >>> count_outside([58.5, 72.3], [57.55, 60.0, 58.5, 71.0]).below
    1
    """
    own, values = np.asarray(ends, dtype=np.float64), np.asarray(accuracies, dtype=np.float64)
    low, high = float(own.min()), float(own.max())
    below, above = int((values < low - SAME).sum()), int((values > high + SAME).sum())
    return OutsideRange(low, high, below, above, len(values))
