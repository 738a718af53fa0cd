"""Performance profiles: the share of a method's runs above each score, over several datasets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from edgecil.analysis.samples import representative_orders
from edgecil.analysis.terms import DEFAULT_TERMS, Terms
from edgecil.io.arrays import Floats
from edgecil.runs.run_table import Runs
from edgecil.statistics.verdicts import LEVEL

_POINTS, _DRAWS = 101, 2_000


@dataclass(frozen=True, eq=False)
class PerformanceProfile:
    """Share of a method's runs above each score, a mean over datasets, with its bands.

    Attributes:
        scores: (m,) values of the metric.
        share: (m,) in [0, 1].
        low: (m,) pointwise lower end.
        high: (m,) upper end.
        level: nominal probability of the bands.
    """

    scores: Floats
    share: Floats
    low: Floats
    high: Floats
    level: float = LEVEL


def profile_methods(
    tables: Sequence[Runs], methods: Sequence[str], terms: Terms = DEFAULT_TERMS
) -> dict[str, PerformanceProfile]:
    """Return performance profiles of the methods that ran every dataset."""
    shared = [
        name
        for name in methods
        if all(name in table.methods and len(table.orders(name)) for table in tables)
    ]
    if len(tables) < 2 or not shared:
        return {}
    runs = {
        name: [representative_orders(table, name)[1].accuracies for table in tables]
        for name in shared
    }
    values = np.concatenate([values for by_dataset in runs.values() for values in by_dataset])
    scores = np.linspace(values.min(), values.max(), _POINTS)
    return {
        name: performance_profile(by_dataset, scores, terms.level)
        for name, by_dataset in runs.items()
    }


def performance_profile(
    runs: Sequence[Floats], scores: Floats, level: float = LEVEL
) -> PerformanceProfile:
    """Return the share of runs above each score, a mean over datasets, with its bands.

    The bands are stratified bootstrap percentiles: orders are drawn again within each dataset
    (Agarwal et al. 2021, Deep Reinforcement Learning at the Edge of the Statistical Precipice).
    """
    rng = np.random.default_rng(0)
    share, samples = np.zeros(len(scores)), np.zeros((_DRAWS, len(scores)))
    for values in runs:
        above, count = values[:, None] > scores, len(values)
        drawn = rng.multinomial(count, np.full(count, 1.0 / count), _DRAWS) / count
        share += above.mean(axis=0) / len(runs)
        samples += drawn @ above / len(runs)
    low, high = np.quantile(samples, [(1.0 - level) / 2.0, (1.0 + level) / 2.0], axis=0)
    return PerformanceProfile(scores, share, low, high, level)
