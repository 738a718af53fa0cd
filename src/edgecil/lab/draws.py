"""Many draws of a protocol from a truth: the runs that it might have had."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from edgecil.io.arrays import Floats, Ints
from edgecil.sequences.protocols import Protocol
from edgecil.sequences.sequence import ClassSequence
from edgecil.sequences.space import SequenceSpace
from edgecil.statistics.arguments import whole_number
from edgecil.statistics.distances import Target
from edgecil.statistics.distributions import Distribution


def check_draws(draws: int) -> None:
    """Raise an error if a number of draws is not positive, or would take days."""
    whole_number("draws", draws, least=1, most=1_000_000)


def draw_runs(size: int, runs: int, rng: np.random.Generator, *, fixed: Sequence[int] = ()) -> Ints:
    """Draw positions of `runs` different sequences: the fixed ones, then random ones."""
    drawn = rng.choice(size, min(runs, size), replace=False)
    not_fixed = [place for place in drawn.tolist() if place not in fixed]
    return np.array([*fixed, *not_fixed[: runs - len(fixed)]], dtype=np.int64)


def draw_protocol(
    protocol: Protocol,
    space: SequenceSpace,
    place_of: Mapping[ClassSequence, int],
    size: int,
    budget: int,
    *,
    draws: int,
    seed: int,
    fixed: Sequence[int] = (),
) -> Ints | None:
    """Draw sequences of a protocol: constructed ones stay, random ones are drawn again.

    Args:
        protocol: which sequences to draw.
        space: of the sequences.
        place_of: positions of the sequences that have results.
        size: number of sequences that may be drawn; their positions come first.
        budget: number of sequences of a draw.
        draws: number of draws.
        seed: of the draws.
        fixed: positions of the constructed sequences.

    Returns:
        (draws, budget) positions; None if some sequence is missing.
    """
    if not protocol.joint:
        rng = np.random.default_rng([seed, budget])
        if not (fixed or protocol.random) or not len(fixed) <= budget <= size:
            return None
        return np.array([draw_runs(size, budget, rng, fixed=fixed) for _ in range(draws)])
    for count in (1, draws):  # a single design shows already if orders are missing
        rows = []
        for design in _designs(protocol, space, budget, count, seed):
            rows.append([place_of.get(sequence, -1) for sequence in design])
        if min(map(min, rows)) < 0:
            return None
    return np.array(rows, dtype=np.int64)


@lru_cache(maxsize=32)
def _designs(
    protocol: Protocol, space: SequenceSpace, budget: int, draws: int, seed: int
) -> list[Sequence[ClassSequence]]:
    """Return designs, which are the same for all tables of a space."""
    rng = np.random.default_rng([seed, budget])
    return [protocol.design(space, budget, rng) or () for _ in range(draws)]


@dataclass(frozen=True)
class Closeness:
    """Mean distances of estimates from the truth over draws.

    Attributes:
        wasserstein: W₁, points.
        jsd: Jensen-Shannon divergence, nats.
        missed_range: part of the true range outside the range of the runs, points.
        low: mean of the lowest accuracy of the runs.
        high: mean of the highest accuracy.
    """

    wasserstein: float
    jsd: float
    missed_range: float
    low: float
    high: float


def measure_distances(truth: Floats, values: Floats, estimates: Sequence[Distribution]) -> Floats:
    """Return W₁, JSD and the missed range of each of B draws of n values, shape (B, 3)."""
    distances = Target.of(truth).distances(estimates)
    low, high = values.min(axis=1), values.max(axis=1)
    missed = np.maximum(low - truth.min(), 0.0) + np.maximum(truth.max() - high, 0.0)
    return np.column_stack([distances[:, 1], distances[:, 0], missed])


def average_closeness(
    truth: Floats, values: Floats, estimates: Sequence[Distribution]
) -> Closeness:
    """Return the means of :func:`measure_distances` and of the ends of the runs."""
    w1, jsd, missed = measure_distances(truth, values, estimates).mean(axis=0).tolist()
    low, high = float(values.min(axis=1).mean()), float(values.max(axis=1).mean())
    return Closeness(w1, jsd, missed, low, high)
