"""Which class sequences to train next in a search for the worst or best one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from scipy.special import ndtr

from edgecil.io.arrays import Floats, Ints
from edgecil.search.surrogate import Prediction, predict
from edgecil.sequences.objective import get_objective
from edgecil.sequences.scores import moments, place_classes, score_orders
from edgecil.sequences.sequence import ClassSequence, Tasks
from edgecil.sequences.space import SequenceSpace
from edgecil.similarity import Similarity

SearchGoal = Literal["worst", "best"]
SEARCH_GOALS: tuple[SearchGoal, ...] = ("worst", "best")
ORDERS_AT_A_TIME = 4
_MOST_FIRST = 6
_LISTED = 3_000
_SAMPLED = 2_000
_OBJECTIVES = ("adjacent", "intra", "to-last", "generalization")
_RANDOM = 1_000
_CENTRES = 5
_CHANGES = 40

# Standardised values of p predictors for n orders, shape (n, N) to (n, p).
Predictors = Callable[[Ints], Floats]


@dataclass(frozen=True)
class Strategy:
    """Bayesian optimisation over class sequences.

    It starts with Latin sequences. Then it trains, a few at a time, the sequences with the largest
    expected improvement per task training, according to the surrogate. A sequence that shares its
    first tasks with a trained one costs fewer task trainings.

    Attributes:
        space: N classes in K tasks.
        goal: `worst` for the lowest value, `best` for the highest.
        limit: task trainings that it may use.
        seed: for the Latin sequences, and for the candidates in large spaces.
        batch: number of sequences that are proposed at a time.
        per_training: divide the expected improvement of a sequence by the task trainings that it
            requires, so that sequences that share trained tasks are preferred.
        predictors: values of predictors, which enter the surrogate; None without any.
    """

    space: SequenceSpace
    goal: SearchGoal
    limit: int
    seed: int = 0
    batch: int = ORDERS_AT_A_TIME
    per_training: bool = True
    predictors: Predictors | None = field(default=None, compare=False)

    def propose(
        self, sequences: Sequence[ClassSequence], values: Sequence[float]
    ) -> list[ClassSequence]:
        """Propose the sequences to train next; none when the limit is reached.

        In a batch, every sequence after the first is chosen as if the sequences before it had the
        values that the surrogate expects.
        """
        trained = trainings(*sequences)
        rng = np.random.default_rng([self.seed, len(sequences)])
        pool = self._candidates(sequences, values, rng)
        observed = list(values)
        orders = _orders(sequences)
        chosen: list[ClassSequence] = []
        taken = set(sequences)
        while pool and len(chosen) < self.batch:
            costs = np.array([len(trainings(sequence) - trained) for sequence in pool])
            is_affordable = costs <= self.limit - len(trained)
            is_new = np.array([sequence not in taken for sequence in pool])
            is_open = is_new & is_affordable
            if not is_open.any():
                break
            candidates = _orders(pool)
            prediction = self.predict(orders, observed, np.concatenate([orders, candidates]))
            gain = self._improvement(prediction, len(orders))
            if self.per_training:
                gain = gain / costs.clip(1)
            index = int(np.where(is_open, gain, -np.inf).argmax())
            sequence = pool[index]
            chosen.append(sequence)
            taken.add(sequence)
            trained |= trainings(sequence)
            orders = np.concatenate([orders, candidates[index : index + 1]])
            observed.append(float(prediction.mean[len(orders) - 1 + index]))
        return chosen

    def choose(self, sequences: Sequence[ClassSequence], values: Sequence[float]) -> int:
        """Return the index of the most extreme sequence by the surrogate, which discounts luck."""
        orders = _orders(sequences)
        mean = self.predict(orders, values, orders).mean
        return int(mean.argmin() if self.goal == "worst" else mean.argmax())

    def predict(self, orders: Ints, values: Sequence[float], candidates: Ints) -> Prediction:
        """Return what the surrogate expects of candidate orders."""
        predictor_values = None
        if self.predictors is not None:
            predictor_values = self.predictors(orders), self.predictors(candidates)
        return predict(
            self.space,
            place_classes(orders, self.space),
            values,
            place_classes(candidates, self.space),
            predictors=predictor_values,
        )

    def noise(self, sequences: Sequence[ClassSequence], values: Sequence[float]) -> float:
        """Return the standard deviation of training noise that the surrogate expects."""
        orders = _orders(sequences)
        return self.predict(orders, values, orders).noise

    def share_beyond(
        self, sequences: Sequence[ClassSequence], values: Sequence[float], mean: float, error: float
    ) -> float:
        """Return the expected share of random orders that are less extreme than a mean accuracy.

        That is the probability that a single training of a random order is better (for the goal
        `worst`; worse for `best`) than an order with this mean accuracy, known up to an error.
        """
        rng = np.random.default_rng([self.seed, 1])
        orders = self.space.sample_orders(_SAMPLED, rng)
        prediction = self.predict(_orders(sequences), values, orders)
        spread = np.sqrt(prediction.std**2 + prediction.noise**2 + error**2)
        sign = 1.0 if self.goal == "worst" else -1.0
        return float(ndtr(sign * (prediction.mean - mean) / spread).mean())

    def _improvement(self, prediction: Prediction, observed: int) -> Floats:
        """Return the expected improvement of the candidates after the observed sequences."""
        sign = -1.0 if self.goal == "worst" else 1.0
        best = (sign * prediction.mean[:observed]).max()
        std = prediction.std[observed:]
        z = (sign * prediction.mean[observed:] - best) / std
        density = np.exp(-0.5 * z**2) / np.sqrt(2.0 * np.pi)
        return np.asarray(std * (z * ndtr(z) + density))

    def _candidates(
        self, sequences: Sequence[ClassSequence], values: Sequence[float], rng: np.random.Generator
    ) -> list[ClassSequence]:
        """Return a whole small space, or random sequences and changes of extreme ones."""
        if self.space.size <= _LISTED:
            return list(self.space.enumerate())
        pool = dict.fromkeys(self.space.sample(_RANDOM, rng))
        order = np.argsort(values) if self.goal == "worst" else np.argsort(values)[::-1]
        for index in order[:_CENTRES]:
            pool |= dict.fromkeys(_changes(sequences[index], self.space, rng))
        return list(pool)


def objective_predictors(similarity: Similarity, space: SequenceSpace) -> Predictors:
    """Return a function for S and the other objectives of orders, standardised over Ω."""
    objectives = [get_objective(name, space) for name in _OBJECTIVES]
    moments_of_objectives = [moments(similarity, space, objective) for objective in objectives]

    def standardised_objectives(orders: Ints) -> Floats:
        columns = []
        for objective, exact in zip(objectives, moments_of_objectives, strict=True):
            scores = score_orders(similarity, space, orders, objective)
            columns.append((scores - exact.mean) / (exact.std or 1.0))
        return np.stack(columns, axis=1)

    return standardised_objectives


def first_sequences(runs: int) -> int:
    """Return the number of sequences that a search of so many runs starts with."""
    return min(_MOST_FIRST, max(2, runs // 3))


def trainings(*sequences: ClassSequence) -> set[Tasks]:
    """Return the task trainings of sequences, by all tasks so far; some sequences share them."""
    prefixes: set[Tasks] = set()
    for sequence in sequences:
        prefixes |= {sequence.tasks[:end] for end in range(1, len(sequence) + 1)}
    return prefixes


def _orders(sequences: Sequence[ClassSequence]) -> Ints:
    return np.array([sequence.sorted_order for sequence in sequences], dtype=np.int64)


def _changes(
    sequence: ClassSequence, space: SequenceSpace, rng: np.random.Generator
) -> Iterable[ClassSequence]:
    """Yield neighbours of a sequence: two classes swapped, or the tasks after a prefix redrawn."""
    order = np.array(sequence.sorted_order)
    ends = np.cumsum(space.sizes)
    for _ in range(_CHANGES):
        swapped = order.copy()
        first, second = rng.choice(len(order), 2, replace=False)
        swapped[[first, second]] = swapped[[second, first]]
        yield ClassSequence.from_order(swapped, space.sizes)
    for end in ends[:-1]:
        for _ in range(_CHANGES // space.tasks + 1):
            tail = order.copy()
            tail[end:] = rng.permutation(tail[end:])
            yield ClassSequence.from_order(tail, space.sizes)
