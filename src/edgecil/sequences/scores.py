"""What a sequence is worth: its score S, exact z, and how similarity is spread over its tasks.

Mean and variance of an objective over the whole space are exact, without sampling: a uniformly
random sequence assigns classes to N places at random; the objective is then a quadratic assignment
statistic, whose first two moments need only a few sums of D and of A (Mantel 1967, "The detection
of disease clustering and a generalized regression approach").
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from edgecil.io.arrays import Floats
from edgecil.sequences.objective import Objective, adjacent, applicable_objectives, pair_counts
from edgecil.sequences.sequence import ClassSequence
from edgecil.sequences.space import SequenceSpace
from edgecil.similarity.matrix import Similarity, check_similarity


@dataclass(frozen=True)
class Moments:
    """Mean and standard deviation (population) of an objective over all of Ω."""

    mean: float
    std: float

    def z(self, value: float) -> float:
        """Return how many standard deviations `value` lies above the mean; 0 if nothing varies."""
        return (value - self.mean) / self.std if self.std > 0.0 else 0.0


def moments(similarity: Similarity, space: SequenceSpace, objective: Objective) -> Moments:
    """Exact moments of `objective` over every sequence of the space, in O(N²)."""
    space.require_similarity(similarity)
    N = space.classes
    A, sizes, pairs = objective.weights, np.array(space.sizes), pair_counts(space.sizes)
    total = float(np.sum(A * pairs))
    rows = similarity.row_sums()
    mean = float(rows.sum()) / (N * (N - 1))
    deviations = similarity.deviation_sum()
    if deviations == 0.0:
        return Moments(total * mean, 0.0)
    # Around its mean the similarity sums to zero, which spares the difference of large numbers.
    centred = rows - mean * (N - 1)
    spread = _by_overlap(0.0, deviations, float(centred @ centred))
    # The weights are seen as an N x N matrix over places, summed task by task.
    places = float(sizes @ (A @ sizes - np.diag(A)) ** 2)
    weights = _by_overlap(total, float(np.sum(A**2 * pairs)), places)
    ways = N * (N - 1.0) * np.array([2.0, 4.0 * (N - 2), (N - 2.0) * (N - 3)])
    terms = weights * spread / np.maximum(ways, 1.0)
    variance = float(terms.sum())
    rounding = 1e-12 * float(np.abs(terms).sum())
    return Moments(total * mean, float(np.sqrt(variance)) if variance > rounding else 0.0)


def _by_overlap(total: float, squares: float, rows: float) -> Floats:
    """Return sums of products over ordered pairs of pairs that share 2, 1 and 0 members.

    They follow from the sums of all entries, of squares and of squared row sums of a symmetric
    matrix with zero diagonal.
    """
    return np.array([2.0 * squares, 4.0 * (rows - squares), total**2 - 4.0 * rows + 2.0 * squares])


@dataclass(frozen=True)
class Profile:
    """A sequence seen through a similarity.

    Attributes:
        score: the paper's S.
        z: exact z-score of S among all sequences with the same task sizes.
        objectives: each named objective's value and exact z.
    """

    score: float
    z: float
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
    values = {}
    for name, objective in applicable_objectives(space).items():
        value = objective.value(similarity, sequence)
        values[name] = {"value": value, "z": moments(similarity, space, objective).z(value)}
    return Profile(values["adjacent"]["value"], values["adjacent"]["z"], values)
