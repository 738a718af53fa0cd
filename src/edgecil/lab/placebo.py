"""Protocols beside random orders and beside a placebo, by one estimator.

A protocol with constructed orders is compared with random orders on the truths of all methods. As
many orders that were chosen by a die may come out closer than random ones, too: they are the
placebo, and what they reach by luck is the range beyond which a protocol's choice means something.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import stdtrit

from edgecil.estimation.population import LEVEL, Interval
from edgecil.io.arrays import Floats, Ints
from edgecil.lab.budgets import draw_runs
from edgecil.lab.distances import Target
from edgecil.lab.estimators import ESTIMATORS, Observations
from edgecil.lab.redraws import Candidates, draw_designs
from edgecil.sequences.space import SequenceSpace

MEASURES = {"wasserstein": "W₁", "jsd": "JSD", "missed_range": "range"}

_ESTIMATOR = "gaussian"  # the paper's, by which its protocols are judged
_DRAWS = 200
_PAIRS = 60
_MIDDLES = 10
_TINY = 1e-9

Outcome = Literal["better", "similar", "worse"]


@dataclass(frozen=True)
class Ratio:
    """A protocol's mean distance from the truth, divided by that of random orders.

    Attributes:
        ratio: geometric mean over methods; below 1 the protocol is closer than random orders.
        interval: 90 %, by Student's t of the logarithms over methods; None with one method.
        placebo: 90 % range of the same ratio if two random orders take the place of hard and easy;
            (1, 1) for a protocol without such orders.
        methods: the ratio of each method.
    """

    ratio: float
    interval: Interval | None
    placebo: Interval
    methods: dict[str, float]

    @property
    def outcome(self) -> Outcome:
        """`better` or `worse` than random if neither interval nor placebo explains the ratio."""
        if self.interval is None:
            return "similar"
        if self.interval[1] < 1.0 and self.ratio < self.placebo[0]:
            return "better"
        if self.interval[0] > 1.0 and self.ratio > self.placebo[1]:
            return "worse"
        return "similar"


@dataclass(frozen=True)
class ProtocolComparison:
    """A protocol beside as many random orders, on the truths of all methods.

    Attributes:
        protocol: its name.
        runs: number of orders on both sides.
        estimator: on both sides.
        measures: by name: `wasserstein`, `jsd`, and `missed_range`, the part of the true range
            outside that of the runs.
    """

    protocol: str
    runs: int
    estimator: str
    measures: dict[str, Ratio]


def compare_protocols(
    candidates: Mapping[str, Candidates],
    runs: Mapping[str, int],
    space: SequenceSpace,
    *,
    seed: int = 0,
) -> dict[str, ProtocolComparison]:
    """Return every protocol that can be drawn again, beside random orders and the placebo.

    Args:
        candidates: by method, the truth and the extreme sequences of each protocol.
        runs: number of orders of each protocol.
        space: Ω.
        seed: of all draws.
    """
    made = {}
    for protocol, budget in runs.items():
        by_method = {}
        for method, some in candidates.items():
            ratios = _ratios(some, protocol, budget, space, seed)
            if ratios is not None:
                by_method[method] = ratios
        if by_method:
            made[protocol] = ProtocolComparison(
                protocol,
                budget,
                _ESTIMATOR,
                {
                    measure: _summarize({name: own[place] for name, own in by_method.items()})
                    for place, measure in enumerate(MEASURES)
                },
            )
    return made


def _summarize(ratios: Mapping[str, Floats]) -> Ratio:
    """Over methods: the protocol's ratio first, then those of the placebo."""
    logs = np.log(np.array(list(ratios.values())))
    own, count = logs[:, 0], len(logs)
    interval = None
    if count > 1:
        reach = stdtrit(count - 1, (1.0 + LEVEL) / 2.0) * own.std(ddof=1) / np.sqrt(count)
        interval = (float(np.exp(own.mean() - reach)), float(np.exp(own.mean() + reach)))
    tail = (1.0 - LEVEL) / 2.0
    placebo = (1.0, 1.0)
    if logs.shape[1] > 1:
        low, high = np.exp(np.quantile(logs[:, 1:].mean(axis=0), [tail, 1.0 - tail]))
        placebo = (float(low), float(high))
    shown = {name: float(values[0]) for name, values in ratios.items()}
    return Ratio(float(np.exp(own.mean())), interval, placebo, shown)


def _ratios(
    candidates: Candidates, protocol: str, budget: int, space: SequenceSpace, seed: int
) -> Floats | None:
    """By measure, the ratio of the protocol and of each placebo: (3, 1 + placebos)."""
    size, rng = len(candidates.truth.sequences), np.random.default_rng(seed)
    fixed = candidates.extremes.get(protocol)
    if budget > size or (fixed is not None and budget < len(fixed)):
        return None
    pairs = 0
    if fixed is not None:
        drawn = [draw_runs(size, budget, rng, fixed=fixed) for _ in range(_DRAWS)]
        pairs = _PAIRS
    else:
        designs = draw_designs(candidates.truth, protocol, budget, space, _DRAWS, seed)
        if designs is None:
            return None
        drawn = list(designs)
    drawn += [draw_runs(size, budget, rng) for _ in range(_DRAWS)]
    for _ in range(pairs):
        instead = rng.choice(size, min(len(fixed or ()), budget), replace=False).tolist()
        drawn += [draw_runs(size, budget, rng, fixed=instead) for _ in range(_MIDDLES)]
    distances = _distances(candidates, drawn)
    own, random = distances[:_DRAWS].mean(axis=0), distances[_DRAWS : 2 * _DRAWS].mean(axis=0)
    placebo = distances[2 * _DRAWS :].reshape(pairs, _MIDDLES, len(MEASURES)).mean(axis=1)
    if (random <= _TINY).any():  # all orders have the same accuracy
        return None
    return np.asarray(np.maximum(np.vstack([own, placebo]) / random, _TINY).T)


def _distances(candidates: Candidates, drawn: list[Ints]) -> Floats:
    """W₁, JSD and the missed range of each draw, shape (n, 3)."""
    truth, values = candidates.truth, candidates.accuracies[np.array(drawn)]
    estimates = ESTIMATORS[_ESTIMATOR].estimates(Observations(values))
    made = [estimate.distribution for estimate in estimates]
    jsd, distance = Target.of(truth.accuracies).distances(made).T
    low, high = values.min(axis=1), values.max(axis=1)
    missed = np.maximum(low - truth.min, 0.0) + np.maximum(truth.max - high, 0.0)
    return np.column_stack([distance, jsd, missed])
