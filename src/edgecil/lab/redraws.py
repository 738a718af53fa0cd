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

from edgecil.engine.runs import Orders
from edgecil.estimation.correlation import Predictor
from edgecil.estimation.distributions import Distribution
from edgecil.estimation.plausibility import labelled_orders
from edgecil.estimation.population import independent_variance
from edgecil.estimation.truth import Truth
from edgecil.io.arrays import Floats, Ints
from edgecil.lab.budgets import BudgetPoint, budget_curve, draw_runs
from edgecil.lab.closeness import AverageCloseness, average_closeness
from edgecil.lab.estimators import ESTIMATORS, Estimate, Observations
from edgecil.sequences.protocols import RANDOM, find_protocol
from edgecil.sequences.sequence import ClassSequence
from edgecil.sequences.space import SequenceSpace

EXAMPLES = 15

RANDOM_RUNS = RANDOM.default_budget
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
    """The runs that draws choose from: the truth, then constructed sequences that it lacks.

    Attributes:
        truth: what estimates are compared with; random orders are drawn from it only.
        accuracies: (p,) per cent, those of the truth first.
        z: (p,) the predictor's values; None without a predictor.
        levels: its distribution over Ω; None without a predictor.
        extremes: by protocol, the positions of its constructed sequences.
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
    ran: Mapping[str, Orders],
    predictor: Predictor | None,
    class_accuracies: Callable[[Sequence[ClassSequence]], Floats | None] | None = None,
) -> Candidates:
    """Return the truth, and the constructed sequences of every protocol that has all of them.

    Args:
        truth: of a method.
        ran: its accuracies, by protocol.
        predictor: of accuracy; None without one.
        class_accuracies: final accuracies of classes on n sequences, (n, N), or None.
    """
    values = truth.accuracies.tolist()
    extremes = {}
    fixed = {name: labels for name in ran if (labels := _fixed_labels(name, ran[name]))}
    place = truth.index() if fixed else {}
    for name, labels in fixed.items():
        accuracies = ran[name].by_sequence()
        labelled = dict(zip(ran[name].labels, ran[name].sequences, strict=True))
        for label in labels:
            if labelled[label] not in place:
                place[labelled[label]] = len(values)
                values.append(accuracies[labelled[label]])
        extremes[name] = sorted({place[labelled[label]] for label in labels})
    return Candidates(
        truth,
        np.array(values),
        None if predictor is None else predictor.z(place or truth.sequences),
        None if predictor is None else predictor.levels(),
        extremes,
        None if class_accuracies is None else class_accuracies(tuple(place) or truth.sequences),
    )


def _fixed_labels(name: str, orders: Orders) -> tuple[str, ...]:
    """Return the labels of a protocol's constructed sequences; none unless each has one order."""
    protocol = find_protocol(name)
    if protocol.exhaustive:
        return ()
    every = tuple(dict.fromkeys(orders.labels))
    labels = every if protocol.constructed is None else protocol.constructed
    return labels if all(len(labelled_orders(orders, label)) == 1 for label in labels) else ()


def redraw_estimates(
    candidates: Candidates,
    ran: Mapping[str, Orders],
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
    budgets = {RANDOM.name: RANDOM_RUNS} | {
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
        for protocol, fixed in {RANDOM.name: [], **candidates.extremes}.items()
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
    if fixed or find_protocol(protocol).independent:
        runs = max(budget, len(fixed))
        others = size - sum(place < size for place in fixed)
        if comb(others, runs - len(fixed)) > draws:
            return _drawn(size, runs, tuple(fixed), draws, seed), False
        every = combinations(np.setdiff1d(np.arange(size), fixed), runs - len(fixed))
        shuffled = rng.permutation([[*fixed, *some] for some in every])
        return shuffled, candidates.truth.kind == "enumerated"
    drawn = draw_designs(candidates.truth, protocol, budget, space, draws, seed)
    return (none if drawn is None else drawn), False


@lru_cache(maxsize=8)
def _drawn(size: int, runs: int, fixed: tuple[int, ...], draws: int, seed: int) -> Ints:
    """Return random draws, a row each, which are the same for every method of a table."""
    rng = np.random.default_rng(seed)
    drawn = np.array([draw_runs(size, runs, rng, fixed=fixed) for _ in range(draws)])
    drawn.setflags(write=False)
    return drawn


def draw_designs(
    truth: Truth, protocol: str, budget: int, space: SequenceSpace, draws: int, seed: int
) -> Ints | None:
    """Draw sequences that a protocol chooses together, the same for every method of a table.

    Returns:
        (draws, budget) positions in the truth; None if the protocol chooses each sequence by
        itself, or if the truth does not have all sequences.
    """
    if len(truth.sequences) != truth.space_size:
        return None
    rng, drawn = _designs(protocol, space, budget, seed)
    while len(drawn) < draws:
        design = find_protocol(protocol).design(space, budget, rng)
        if design is None:
            return None
        drawn.append(design)
    place = truth.index()
    return np.array([[place[sequence] for sequence in design] for design in drawn[:draws]])


@lru_cache(maxsize=8)
def _designs(
    protocol: str, space: SequenceSpace, budget: int, seed: int
) -> tuple[np.random.Generator, list[Sequence[ClassSequence]]]:
    """Return a stream and the designs that were drawn from it so far."""
    return np.random.default_rng(seed), []
