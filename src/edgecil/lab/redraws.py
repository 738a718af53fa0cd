"""Redraws: a protocol's random part drawn many times from the truth.

The random orders of one experiment, the median of EDGE or one Latin design may be atypical, so
protocols are evaluated by their average over many draws.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations
from math import comb

import numpy as np

from edgecil.engine.accuracies import OrderAccuracies
from edgecil.estimation.distributions import Distribution
from edgecil.estimation.oddities import EXTREMES, labelled_orders
from edgecil.estimation.predictors import Predictor
from edgecil.estimation.smoothing import independent_variance
from edgecil.estimation.truth import Truth
from edgecil.io.arrays import Floats, Ints
from edgecil.lab.budgets import BudgetPoint, budget_curve, draw_runs
from edgecil.lab.closeness import AverageCloseness, average_closeness
from edgecil.lab.estimators import ESTIMATORS, Estimate, Observations
from edgecil.sequences.latin import latin
from edgecil.sequences.sequence import ClassSequence
from edgecil.sequences.space import SequenceSpace

EXAMPLES = 15

RANDOM_RUNS = 3
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
        """Return what figures show of them."""
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
        classes: (p, N) final accuracy of every class; None if it is unknown.
    """

    truth: Truth
    accuracies: Floats
    z: Floats | None
    levels: tuple[Floats, Floats] | None
    extremes: dict[str, list[int]]
    classes: Floats | None = None

    def runs(self, places: Ints) -> Observations:
        """Return the runs at these positions, which may have any shape."""
        z = None if self.z is None else self.z[places]
        runs = Observations(self.accuracies[places], z, self.levels, self.truth.space_size)
        if self.classes is None or places.shape[-1] < 2:
            return runs
        return replace(runs, class_variance=independent_variance(self.classes[places]))


def find_candidates(
    truth: Truth,
    ran: Mapping[str, OrderAccuracies],
    predictor: Predictor | None,
    class_accuracies: Callable[[Sequence[ClassSequence]], Floats | None] | None = None,
) -> Candidates:
    """Return the truth, and the hard and easy sequence of every protocol that has both.

    Args:
        truth: of a method.
        ran: its accuracies, by protocol.
        predictor: of accuracy; None without one.
        class_accuracies: final accuracies of classes on n sequences, (n, N), or None.
    """
    values = truth.accuracies.tolist()
    extremes = {}
    chosen = {
        protocol: orders
        for protocol, orders in ran.items()
        if all(len(labelled_orders(orders, goal)) == 1 for goal in EXTREMES)
    }
    place = truth.index() if chosen else {}
    for protocol, orders in chosen.items():
        accuracies = orders.by_sequence()
        labelled = dict(zip(orders.labels, orders.sequences, strict=True))
        for goal in EXTREMES:
            if labelled[goal] not in place:
                place[labelled[goal]] = len(values)
                values.append(accuracies[labelled[goal]])
        extremes[protocol] = sorted({place[labelled[goal]] for goal in EXTREMES})
    return Candidates(
        truth,
        np.array(values),
        None if predictor is None else predictor.z(place or truth.sequences),
        None if predictor is None else predictor.levels(),
        extremes,
        None if class_accuracies is None else class_accuracies(tuple(place) or truth.sequences),
    )


def redraw_estimates(
    candidates: Candidates,
    ran: Mapping[str, OrderAccuracies],
    space: SequenceSpace,
    *,
    draws: int,
    seed: int,
) -> AllRedraws:
    """Return estimates from many draws of each protocol's random part, by protocol and estimator.

    `random` is always included, with three runs unless the table has another number. Protocols
    without a registered random part are left out, and so are estimators that cannot use some draw.
    Estimators that take long get the first 200 draws. Methods whose truths have the same
    sequences get the same draws.
    """
    budgets = {"random": RANDOM_RUNS} | {
        name: len(orders) for name, orders in ran.items() if name not in candidates.truth.protocols
    }
    redraws = {}
    for protocol, budget in budgets.items():
        places, exhaustive = _redraw(candidates, protocol, budget, space, draws, seed)
        if not len(places):
            continue
        by_estimator = {}
        for name, estimator in ESTIMATORS.items():
            used = places[:_FEW] if estimator.few_draws else places
            runs = candidates.runs(used)
            if estimator.obstacle(runs) is None:
                estimates = estimator.estimates(runs)
                by_estimator[name] = Redraws(estimates, exhaustive and len(used) == len(places))
        if by_estimator:
            redraws[protocol] = by_estimator
    return redraws


def average_protocols(truth: Truth, redrawn: AllRedraws) -> dict[str, dict[str, AverageCloseness]]:
    """Return the mean closeness to the truth over the draws, by protocol and estimator."""
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
    """Return the closeness of the Gaussian as the budget grows, for random and extremes."""
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
) -> tuple[Ints, bool]:
    """Draw positions of the candidates, a row per draw, and say whether they are exhaustive.

    If there are no more possible choices than `draws`, each is made once, in random order; they are
    exhaustive unless the truth is a sample. A protocol without a registered random part gets none.
    """
    rng, size = np.random.default_rng(seed), len(candidates.truth.sequences)
    fixed = candidates.extremes.get(protocol, [])
    none = np.empty((0, budget), dtype=np.int64)
    if budget > size:
        return none, False
    if fixed or protocol in ("random", "random-legacy"):
        runs = max(budget, len(fixed))
        others = size - sum(place < size for place in fixed)
        if comb(others, runs - len(fixed)) > draws:
            return _drawn(size, runs, tuple(fixed), draws, seed), False
        every = combinations(np.setdiff1d(np.arange(size), fixed), runs - len(fixed))
        shuffled = rng.permutation([[*fixed, *some] for some in every])
        return shuffled, candidates.truth.kind == "enumerated"
    if protocol == "latin" and size == candidates.truth.space_size:
        place = candidates.truth.index()
        designs = latin_designs(space, budget, draws, seed)
        return np.array([[place[sequence] for sequence in design] for design in designs]), False
    return none, False


@lru_cache(maxsize=8)
def _drawn(size: int, runs: int, fixed: tuple[int, ...], draws: int, seed: int) -> Ints:
    """Return random draws, a row each, which are the same for every method of a table."""
    rng = np.random.default_rng(seed)
    drawn = np.array([draw_runs(size, runs, rng, fixed=fixed) for _ in range(draws)])
    drawn.setflags(write=False)
    return drawn


def latin_designs(
    space: SequenceSpace, budget: int, draws: int, seed: int
) -> list[list[ClassSequence]]:
    """Latin designs, the same for every method of a table."""
    rng, designs = _latin_designs(space, budget, seed)
    designs += [latin(space, budget, rng) for _ in range(draws - len(designs))]
    return designs[:draws]


@lru_cache(maxsize=8)
def _latin_designs(
    space: SequenceSpace, budget: int, seed: int
) -> tuple[np.random.Generator, list[list[ClassSequence]]]:
    """Return a stream and the designs that were drawn from it so far."""
    return np.random.default_rng(seed), []
