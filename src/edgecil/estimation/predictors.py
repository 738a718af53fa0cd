"""Predictors: a number for every sequence of a space that is available before training.

Predictors are S and the other objectives of a similarity, columns of a table, and pilot runs.
What estimates and correlates asks for a predictor and never whether it is S.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import numpy as np

from edgecil.engine.runs import Runs
from edgecil.errors import UsageError
from edgecil.estimation.choice import unbiased_sequences
from edgecil.io.arrays import Floats, Ints
from edgecil.sequences.moments import moments
from edgecil.sequences.objective import Objective, get_objective
from edgecil.sequences.sampling import sample_scores, score_orders
from edgecil.sequences.sequence import ClassSequence
from edgecil.sequences.space import SequenceSpace
from edgecil.similarity.matrix import Similarity

_ENUMERATED = 2_520
_SAMPLED = 4_096
_LEVELS = 64


@dataclass(frozen=True, eq=False)
class Predictor:
    """A number for every sequence, and its distribution over all sequences, Ω.

    Attributes:
        name: its name.
        values: function that returns the values of n sequences, shape (n,); NaN if there is none.
        population: function that returns (m,) values that represent Ω: every sequence once, or a
            sample.
        mean: over Ω.
        std: over Ω, population; 0 if the predictor is constant.
        sign: of the correlation with accuracy that its construction claims, +1 or -1; None if none.
        of_orders: the same as `values` for orders as an array, shape (n, N), each of which holds
            the classes 0 … N-1 once; None if there is none.
    """

    name: str
    values: Callable[[Sequence[ClassSequence]], Floats]
    population: Callable[[], Floats]
    mean: float
    std: float
    sign: int | None = None
    of_orders: Callable[[Ints], Floats] | None = None

    def z(self, sequences: Iterable[ClassSequence]) -> Floats:
        """Return values in standard deviations from the mean over Ω, shape (n,); 0 if constant."""
        values = self.values(tuple(sequences))
        return (values - self.mean) / self.std if self.std > 0.0 else np.zeros(len(values))

    def levels(self) -> tuple[Floats, Floats]:
        """Return the distribution of z over Ω as at most 64 levels and their weights.

        Up to 64 distinct values are kept. More are replaced by 64 quantiles, scaled to mean 0 and
        variance 1.
        """
        if self.std == 0.0:
            return np.zeros(1), np.ones(1)
        z = (self.population() - self.mean) / self.std
        values, counts = np.unique(z.round(12), return_counts=True)
        if len(values) <= _LEVELS:
            return values, counts / counts.sum()
        cut = np.quantile(z, (np.arange(_LEVELS) + 0.5) / _LEVELS)
        return (cut - cut.mean()) / cut.std(), np.full(_LEVELS, 1.0 / _LEVELS)


_Value = TypeVar("_Value")


class BySequences(Generic[_Value]):
    """The latest values that were computed for tuples of sequences.

    Tuples are compared, not hashed: tuples of the same objects are compared at once.
    """

    def __init__(self, size: int) -> None:
        self._values: deque[tuple[tuple[ClassSequence, ...], _Value]] = deque(maxlen=size)

    def get(self, sequences: tuple[ClassSequence, ...], compute: Callable[[], _Value]) -> _Value:
        """Return the value for these sequences, computed if it is not among the latest."""
        for others, value in self._values:
            if others == sequences:
                return value
        value = compute()
        self._values.append((sequences, value))
        return value


_orders = BySequences[Ints](8)


def orders_of(sequences: tuple[ClassSequence, ...]) -> Ints:
    """Sequences as an array, shape (n, N); all predictors of a table ask for the same ones."""
    return _orders.get(
        sequences,
        lambda: np.array([sequence.order for sequence in sequences], dtype=np.int64),
    )


def objective_predictor(
    similarity: Similarity,
    space: SequenceSpace,
    objective: str | Objective = "adjacent",
    *,
    name: str | None = None,
) -> Predictor:
    """Return an objective of a similarity (S by default) as a predictor, with exact moments.

    Spaces of up to 2,520 sequences are enumerated; larger ones are represented by 4,096 sequences
    drawn with a fixed seed.
    """
    chosen = get_objective(objective, space)
    exact = moments(similarity, space, chosen)

    def of_orders(orders: Ints) -> Floats:
        return score_orders(similarity, space, orders, chosen, check=False)

    def values(sequences: Sequence[ClassSequence]) -> Floats:
        orders = orders_of(tuple(sequences)).reshape(-1, space.classes)
        return score_orders(similarity, space, orders, chosen)

    def population() -> Floats:
        if space.size <= _ENUMERATED:
            return values(tuple(space.enumerate()))
        return sample_scores(similarity, space, _SAMPLED, np.random.default_rng(0), chosen)

    sign = 1 if chosen.hard == "min" else -1
    return Predictor(
        name or chosen.name, values, population, exact.mean, exact.std, sign, of_orders
    )


def tabled_predictor(
    name: str, values: Mapping[ClassSequence, float], drawn: Iterable[ClassSequence]
) -> Predictor:
    """Return a predictor that has values for some sequences only.

    Args:
        name: its name.
        values: by sequence.
        drawn: sequences that represent Ω: all of them, or a random sample.
    """
    population = np.array([values[sequence] for sequence in drawn if sequence in values])
    if len(population) < 2:
        raise UsageError(
            f"Predictor {name!r} requires values for at least 2 sequences of the protocols "
            f"enumerate, random or latin. Got {len(population)} instead."
        )
    return Predictor(
        name,
        lambda sequences: np.array([values.get(sequence, np.nan) for sequence in sequences]),
        lambda: population,
        float(population.mean()),
        float(population.std()),
    )


def column_predictor(table: Runs, column: str) -> Predictor:
    """Return a column of the table as a predictor: the mean of its numbers for each sequence."""
    if column not in table.more:
        raise UsageError(
            f"Unknown predictor {column!r}: it is no objective, and no column of the table."
        )
    by_place: dict[int, list[float]] = {}
    for place, cell in zip(table.sequence.tolist(), table.more[column], strict=True):
        try:
            number = float(cell)
        except ValueError as error:
            raise UsageError(
                f"Column {column!r} must contain numbers. Got {cell!r} instead."
            ) from error
        if np.isfinite(number):
            by_place.setdefault(place, []).append(number)
    values = {
        table.sequences[place]: float(np.mean(numbers)) for place, numbers in by_place.items()
    }
    return tabled_predictor(column, values, unbiased_sequences(table))


def pilot_predictor(pilot: Runs, method: str) -> Predictor:
    """Return a pilot's accuracies of the same method, or of its only method, as a predictor."""
    chosen = method if method in pilot.methods else pilot.methods[0]
    if chosen != method and len(pilot.methods) > 1:
        raise UsageError(
            f"The pilot has several methods ({', '.join(pilot.methods)}) but not {method!r}."
        )
    values = pilot.orders(chosen).by_sequence()
    predictor = tabled_predictor("pilot", values, unbiased_sequences(pilot, chosen))
    return replace(predictor, sign=1)


def predictor_label(name: str) -> str:
    """Return what figures and tables call a predictor: S for the paper's objective."""
    return "S" if name == "adjacent" else name
