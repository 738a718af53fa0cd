"""What a sequence is worth: its score S, exact z, and how similarity is spread over its tasks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from edgecil.sequences.moments import moments
from edgecil.sequences.objective import (
    adjacent,
    applicable_objectives,
    inter,
    lag,
    task_similarity,
)
from edgecil.sequences.sequence import ClassSequence
from edgecil.sequences.space import SequenceSpace
from edgecil.similarity.matrix import Similarity, check_similarity


@dataclass(frozen=True)
class Profile:
    """A sequence seen through a similarity.

    Attributes:
        score: the paper's S.
        z: exact z-score of S among all sequences with the same task sizes.
        intra: mean similarity of two classes in one task; None if every task has one class.
        lag1: mean similarity of two classes in neighbouring tasks.
        lag2: mean similarity of two classes two tasks apart; None if K = 2.
        inter: mean similarity of two classes in different tasks.
        objectives: each named objective's value and exact z.
    """

    score: float
    z: float
    intra: float | None
    lag1: float
    lag2: float | None
    inter: float
    objectives: dict[str, dict[str, float]]


def score(similarity: Similarity, sequence: ClassSequence) -> float:
    """Return the paper's S: K / ((K-1) N) Σᵢ Σ_{c in task i} Σ_{c' in task i+1} D[c, c'].

    With equal task sizes M this is M times the mean similarity of neighbouring classes.
    """
    check_similarity(similarity)
    return adjacent(SequenceSpace(sequence.sizes)).value(similarity, sequence)


def profile(similarity: Similarity, sequence: ClassSequence) -> Profile:
    """Return the profile of one sequence; K must be at least 2."""
    check_similarity(similarity)
    space = SequenceSpace(sequence.sizes)
    adjacent(space)
    between = task_similarity(similarity, sequence)
    values = {}
    for name, objective in applicable_objectives(space).items():
        value = float(np.sum(objective.weights * between))
        z = moments(similarity, space, objective).z(value)
        values[name] = {"value": value, "z": z}
    neighbours, apart = (
        float(np.sum(objective.weights * between)) for objective in (lag(space, 1), inter(space))
    )
    lag2 = float(np.sum(lag(space, 2).weights * between)) if space.tasks > 2 else None
    return Profile(
        score=values["adjacent"]["value"],
        z=values["adjacent"]["z"],
        intra=values["intra"]["value"] if "intra" in values else None,
        lag1=neighbours,
        lag2=lag2,
        inter=apart,
        objectives=values,
    )
