"""How many sequences it takes: distances as the number of runs grows, and who sees the extremes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from edgecil.errors import UsageError
from edgecil.estimation.distances import SAME, Target
from edgecil.estimation.estimators import Observations, get_estimator
from edgecil.io.arrays import Ints

SIZES = (3, 4, 5, 6, 8, 10, 15, 20, 30)
_BAND = (0.05, 0.95)


@dataclass(frozen=True)
class SamplePoint:
    """What n runs give, over many draws of them.

    Attributes:
        n: number of sequences.
        jsd: mean divergence from the truth, nats.
        jsd_band: 5 % and 95 % quantiles over the draws.
        wasserstein: mean W₁, points.
        wasserstein_band: 5 % and 95 % quantiles.
    """

    n: int
    jsd: float
    jsd_band: tuple[float, float]
    wasserstein: float
    wasserstein_band: tuple[float, float]

    def as_dict(self) -> dict[str, Any]:
        """The fields as plain JSON values."""
        return asdict(self)


@dataclass(frozen=True)
class Capture:
    """How many of n random sequences lie outside the ends that a protocol found.

    Attributes:
        low: its worst accuracy.
        high: its best.
        below: sequences worse than that.
        above: sequences better than that.
        n: of how many.
    """

    low: float
    high: float
    below: int
    above: int
    n: int

    def as_dict(self) -> dict[str, Any]:
        """The fields as plain JSON values."""
        return asdict(self)


def draw_runs(size: int, runs: int, rng: np.random.Generator, *, fixed: Sequence[int] = ()) -> Ints:
    """Places of `runs` different sequences: the fixed ones, then random ones of `size`."""
    if not len(fixed) <= runs <= size:
        raise UsageError(
            f"'runs' must be in [{len(fixed)}, {size}], from the fixed ones to all. Got {runs}."
        )
    # As many as runs leave enough when the fixed are taken out, and a large space stays untouched.
    drawn = rng.choice(size, runs, replace=False).tolist()
    others = [place for place in drawn if place not in fixed]
    return np.array([*fixed, *others[: runs - len(fixed)]], dtype=np.int64)


def sample_curve(
    truth: ArrayLike,
    rng: np.random.Generator,
    *,
    pool: ArrayLike | None = None,
    fixed: Sequence[int] = (),
    sizes: Sequence[int] = SIZES,
    draws: int = 100,
    estimator: str = "gaussian",
) -> list[SamplePoint]:
    """Distances of n runs from the truth, for growing n, each averaged over many draws.

    Args:
        truth: (m,) the accuracy of every sequence, or of a large sample.
        rng: draws the runs.
        pool: the truth and, after it, accuracies that only `fixed` refers to; the truth by default.
        fixed: places in the pool that are always among the runs: EDGE's hard and easy sequence.
        sizes: numbers of runs; those that the truth cannot give are left out.
        draws: per size.
        estimator: one that needs no predictor.
    """
    values = np.asarray(truth, dtype=np.float64)
    known = values if pool is None else np.asarray(pool, dtype=np.float64)
    chosen, target = get_estimator(estimator), Target.of(values)
    points = []
    for size in (n for n in sizes if max(1, len(fixed)) <= n <= len(values)):
        drawn = (draw_runs(len(values), size, rng, fixed=fixed) for _ in range(draws))
        found = target.distances(
            [chosen(Observations(known[places])).distribution for places in drawn]
        )
        low, high = np.quantile(found, _BAND, axis=0)
        jsd, distance = found.mean(axis=0)
        points.append(
            SamplePoint(
                size,
                float(jsd),
                (float(low[0]), float(high[0])),
                float(distance),
                (float(low[1]), float(high[1])),
            )
        )
    return points


def capture(ends: ArrayLike, accuracies: ArrayLike) -> Capture:
    """Count how many of n accuracies lie outside the ends of a protocol's own.

    >>> capture([58.5, 72.3], [57.55, 60.0, 58.5, 71.0]).below
    1
    """
    found, values = np.asarray(ends, dtype=np.float64), np.asarray(accuracies, dtype=np.float64)
    low, high = float(found.min()), float(found.max())
    below, above = int((values < low - SAME).sum()), int((values > high + SAME).sum())
    return Capture(low, high, below, above, len(values))
