"""Redraws: a protocol's random part drawn many times from the truth.

The random orders of one experiment, the median of EDGE or one Latin design may be atypical, so
protocols are evaluated by their average over many draws.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from math import comb

import numpy as np

from edgecil.engine.accuracies import OrderAccuracies
from edgecil.estimation.budgets import BudgetPoint, budget_curve, draw_runs
from edgecil.estimation.closeness import AverageCloseness, average_closeness
from edgecil.estimation.distributions import Distribution
from edgecil.estimation.estimators import ESTIMATORS, Estimate, Observations
from edgecil.estimation.predictors import Predictor
from edgecil.estimation.truth import Truth
from edgecil.io.arrays import Floats, Ints
from edgecil.sequences.latin import latin
from edgecil.sequences.sequence import ClassSequence
from edgecil.sequences.space import SequenceSpace

EXAMPLES = 15

_EXTREMES = ("hard", "easy")
_RUNS = 3
# Draws for estimators that take a hundred times as long as a Gaussian of three runs.
_FEW = 200


@dataclass(frozen=True)
class Redraws:
    """One estimator's answers to many draws of a protocol's random part.

    Attributes:
        estimates: one per draw, in random order.
        exhaustive: whether these are all possible draws, each once.
    """

    estimates: list[Estimate]
    exhaustive: bool

    def summary(self) -> RedrawnEstimates:
        """What figures show of them."""
        distributions = [estimate.distribution for estimate in self.estimates]
        typical = Distribution.normal(
            float(np.mean([distribution.mean for distribution in distributions])),
            float(np.mean([distribution.std for distribution in distributions])),
        )
        return RedrawnEstimates(typical, tuple(distributions[:EXAMPLES]))


@dataclass(frozen=True)
class RedrawnEstimates:
    """What figures show of an estimator's answers to many draws.

    Attributes:
        typical: the normal distribution with the mean of their means and of their standard
            deviations.
        examples: the answers to the first draws, at most 15.
    """

    typical: Distribution
    examples: tuple[Distribution, ...]


AllRedraws = dict[str, dict[str, Redraws]]


@dataclass(frozen=True, eq=False)
class Candidates:
    """The runs that draws choose from: the truth, then extreme sequences that it does not contain.

    Attributes:
        truth: what estimates are compared with; random orders are drawn from it only.
        accuracies: (p,) per cent, those of the truth first.
        z: (p,) the predictor's values; None without a predictor.
        levels: its distribution over Ω; None without a predictor.
        extremes: by protocol, the positions of its hard and its easy sequence.
    """

    truth: Truth
    accuracies: Floats
    z: Floats | None
    levels: tuple[Floats, Floats] | None
    extremes: dict[str, list[int]]

    def runs(self, places: Ints) -> Observations:
        """The runs at these positions."""
        z = None if self.z is None else self.z[places]
        return Observations(self.accuracies[places], z, self.levels, self.truth.space_size)


def find_candidates(
    truth: Truth, ran: Mapping[str, OrderAccuracies], predictor: Predictor | None
) -> Candidates:
    """The truth and the hard and easy sequences of every protocol that labels them."""
    place = truth.index()
    values = truth.accuracies.tolist()
    extremes = {}
    for protocol, orders in ran.items():
        accuracies = orders.by_sequence()
        labelled = dict(zip(orders.labels, orders.sequences, strict=True))
        if not all(goal in labelled for goal in _EXTREMES):
            continue
        for goal in _EXTREMES:
            if labelled[goal] not in place:
                place[labelled[goal]] = len(values)
                values.append(accuracies[labelled[goal]])
        extremes[protocol] = sorted({place[labelled[goal]] for goal in _EXTREMES})
    return Candidates(
        truth,
        np.array(values),
        None if predictor is None else predictor.z(place),
        None if predictor is None else predictor.levels(),
        extremes,
    )


def redraw_estimates(
    candidates: Candidates,
    ran: Mapping[str, OrderAccuracies],
    space: SequenceSpace,
    *,
    draws: int,
    seed: int,
) -> AllRedraws:
    """Estimates from many draws of each protocol's random part, by protocol and estimator.

    `random` is always included, with three runs unless the table has another number. Protocols
    without a registered random part are left out, and so are estimators that cannot use some draw.
    Estimators that take long get the first 200 draws. Methods whose truths have the same
    sequences get the same draws.
    """
    budgets = {"random": _RUNS} | {
        name: len(orders) for name, orders in ran.items() if name not in candidates.truth.protocols
    }
    redraws = {}
    for protocol, budget in budgets.items():
        places, exhaustive = _redraw(candidates, protocol, budget, space, draws, seed)
        drawn = [candidates.runs(some) for some in places]
        by_estimator = {}
        for name, estimator in ESTIMATORS.items():
            used = drawn[:_FEW] if estimator.few_draws else drawn
            if used and all(estimator.obstacle(runs) is None for runs in used):
                estimates = [estimator.estimate(runs) for runs in used]
                by_estimator[name] = Redraws(estimates, exhaustive and len(used) == len(drawn))
        if by_estimator:
            redraws[protocol] = by_estimator
    return redraws


def average_protocols(truth: Truth, redrawn: AllRedraws) -> dict[str, dict[str, AverageCloseness]]:
    """Mean closeness to the truth over the draws, by protocol and estimator."""
    return {
        protocol: {
            name: average_closeness(truth.accuracies, drawn.estimates, exhaustive=drawn.exhaustive)
            for name, drawn in by_estimator.items()
        }
        for protocol, by_estimator in redrawn.items()
    }


def budget_curves(
    candidates: Candidates, *, draws: int, seed: int
) -> dict[str, tuple[BudgetPoint, ...]]:
    """Closeness of the paper's Gaussian as the budget grows, for random and extreme protocols."""
    return {
        protocol: budget_curve(
            candidates.truth.accuracies,
            np.random.default_rng(seed),
            pool=candidates.accuracies,
            fixed=fixed,
            draws=min(draws, _FEW),
        )
        for protocol, fixed in {"random": [], **candidates.extremes}.items()
    }


def _redraw(
    candidates: Candidates,
    protocol: str,
    budget: int,
    space: SequenceSpace,
    draws: int,
    seed: int,
) -> tuple[list[Ints], bool]:
    """Positions of the candidates in each draw, and whether the draws are exhaustive.

    If there are no more possible choices than `draws`, each is made once, in random order; they are
    exhaustive unless the truth is a sample. A protocol without a registered random part gets none.
    """
    rng, size = np.random.default_rng(seed), len(candidates.truth.sequences)
    fixed = candidates.extremes.get(protocol, [])
    if budget > size:
        return [], False
    if fixed or protocol in ("random", "random-legacy"):
        runs = max(budget, len(fixed))
        others = size - sum(place < size for place in fixed)
        if comb(others, runs - len(fixed)) > draws:
            return [draw_runs(size, runs, rng, fixed=fixed) for _ in range(draws)], False
        every = combinations(np.setdiff1d(np.arange(size), fixed), runs - len(fixed))
        drawn = rng.permutation([[*fixed, *some] for some in every])
        return list(drawn), candidates.truth.kind == "enumerated"
    if protocol == "latin" and size == candidates.truth.space_size:
        place = candidates.truth.index()
        designs = latin_designs(space, budget, draws, seed)
        return [np.array([place[sequence] for sequence in design]) for design in designs], False
    return [], False


@lru_cache(maxsize=8)
def latin_designs(
    space: SequenceSpace, budget: int, draws: int, seed: int
) -> list[list[ClassSequence]]:
    """Latin designs, the same for every method of a table."""
    rng = np.random.default_rng(seed)
    return [latin(space, budget, rng) for _ in range(draws)]
