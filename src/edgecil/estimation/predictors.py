"""Predictors: a number for every sequence of a space, known before anything is trained.

S is one, so is any other objective of a similarity, a column of the table, or a cheap pilot run.
What estimates and correlates asks for a predictor and never whether it is S.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from edgecil.engine.accuracies import AccuracyTable
from edgecil.errors import UsageError
from edgecil.io.arrays import Floats
from edgecil.sequences.moments import moments
from edgecil.sequences.objective import Objective, get_objective
from edgecil.sequences.protocols import PROTOCOLS
from edgecil.sequences.sampling import sample_scores, score_orders
from edgecil.sequences.sequence import ClassSequence
from edgecil.sequences.space import SequenceSpace
from edgecil.similarity.matrix import Similarity

_ENUMERATED = 2_520
_SAMPLED = 4_096
_LEVELS = 64


@dataclass(frozen=True, eq=False)
class Predictor:
    """A number for sequences, and how it is distributed over all of Ω.

    Attributes:
        name: what it is called.
        values: of n sequences, shape (n,); NaN where it is not known.
        population: (m,) values that stand for Ω: each sequence once, or a sample.
        mean: over Ω.
        std: over Ω, population; 0 if the predictor tells nothing apart.
        sign: of the correlation with accuracy that its construction claims, +1 or -1; None if none.
    """

    name: str
    values: Callable[[Sequence[ClassSequence]], Floats]
    population: Floats
    mean: float
    std: float
    sign: int | None = None

    def z(self, sequences: Iterable[ClassSequence]) -> Floats:
        """Values in standard deviations from the mean over Ω, shape (n,); 0 if nothing varies."""
        found = self.values(tuple(sequences))
        return (found - self.mean) / self.std if self.std > 0.0 else np.zeros(len(found))

    def levels(self) -> tuple[Floats, Floats]:
        """The distribution of z over Ω as at most 64 levels and their weights.

        Few different values are kept as they are; many are cut into quantiles, scaled so that mean
        and variance stay 0 and 1.
        """
        if self.std == 0.0:
            return np.zeros(1), np.ones(1)
        z = (self.population - self.mean) / self.std
        values, counts = np.unique(z.round(12), return_counts=True)
        if len(values) <= _LEVELS:
            return values, counts / counts.sum()
        cut = np.quantile(z, (np.arange(_LEVELS) + 0.5) / _LEVELS)
        return (cut - cut.mean()) / cut.std(), np.full(_LEVELS, 1.0 / _LEVELS)


def objective_predictor(
    similarity: Similarity,
    space: SequenceSpace,
    objective: str | Objective = "adjacent",
    *,
    name: str | None = None,
) -> Predictor:
    """An objective of a similarity (S by default) as a predictor, with its exact moments over Ω.

    Spaces of up to 2,520 sequences are enumerated; 4,096 sequences with a fixed seed stand for a
    larger one.
    """
    chosen = get_objective(objective, space)
    exact = moments(similarity, space, chosen)

    def values(sequences: Sequence[ClassSequence]) -> Floats:
        orders = np.array([sequence.order for sequence in sequences], dtype=np.int64)
        return score_orders(similarity, space, orders.reshape(-1, space.classes), chosen)

    if space.size <= _ENUMERATED:
        population = values(tuple(space.enumerate()))
    else:
        population = sample_scores(similarity, space, _SAMPLED, np.random.default_rng(0), chosen)
    sign = 1 if chosen.hard == "min" else -1
    return Predictor(name or chosen.name, values, population, exact.mean, exact.std, sign)


def tabled_predictor(
    name: str, values: Mapping[ClassSequence, float], drawn: Iterable[ClassSequence]
) -> Predictor:
    """A predictor known for some sequences only.

    Args:
        name: what it is called.
        values: by sequence.
        drawn: those among them that stand for Ω: all of it, or a random sample.
    """
    population = np.array([values[sequence] for sequence in drawn if sequence in values])
    if len(population) < 2:
        raise UsageError(
            f"Predictor {name!r} is known for {len(population)} sequences that stand for the "
            "space; it takes at least 2, from enumerate, random or latin."
        )
    return Predictor(
        name,
        lambda sequences: np.array([values.get(sequence, np.nan) for sequence in sequences]),
        population,
        float(population.mean()),
        float(population.std()),
    )


def column_predictor(table: AccuracyTable, column: str) -> Predictor:
    """A column of the table's file as a predictor: one number per sequence, whatever the method."""
    if not any(column in run.more for run in table.runs):
        raise UsageError(f"There is no predictor and no column {column!r} in the table.")
    found: dict[ClassSequence, list[float]] = {}
    for run in table.runs:
        try:
            number = float(run.more[column])
        except ValueError as error:
            raise UsageError(
                f"Column {column!r} must hold numbers to predict with. Got {run.more[column]!r}."
            ) from error
        if np.isfinite(number):
            found.setdefault(run.sequence, []).append(number)
    values = {sequence: float(np.mean(numbers)) for sequence, numbers in found.items()}
    return tabled_predictor(column, values, unbiased_sequences(table))


def pilot_predictor(pilot: AccuracyTable, method: str) -> Predictor:
    """A pilot's accuracies as a predictor: those of the same method, or of the only one it has."""
    chosen = method if method in pilot.methods else pilot.methods[0]
    if chosen != method and len(pilot.methods) > 1:
        raise UsageError(
            f"The pilot has several methods ({', '.join(pilot.methods)}) but not {method!r}."
        )
    values = pilot.orders(chosen).by_sequence()
    known = tabled_predictor("pilot", values, unbiased_sequences(pilot, chosen))
    return replace(known, sign=1)


def unbiased_sequences(
    table: AccuracyTable, method: str | None = None
) -> tuple[ClassSequence, ...]:
    """The different sequences that a method, or any, ran for protocols that do not look at classes.

    What one method ran blindly another may have run for its extremes: a method's accuracies stand
    for Ω on its own blind sequences alone.
    """
    blind = {name for name in table.protocols if draws_blindly(name)}
    return tuple(
        dict.fromkeys(
            run.sequence
            for run in table.runs
            if run.protocol in blind and method in (None, run.method)
        )
    )


def draws_blindly(protocol: str) -> bool:
    """Whether a protocol's sequences are chosen without a look at the classes.

    A protocol that edgecil does not know counts as one that looks.
    """
    return protocol in PROTOCOLS and not PROTOCOLS[protocol].needs_similarity
