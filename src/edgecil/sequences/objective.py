"""Objectives: one mechanism for every number that a similarity gives to a sequence.

An objective is a symmetric K x K matrix A of task weights. Its value on a sequence is

    Σᵢⱼ Aᵢⱼ Σ_{c in task i} Σ_{c' in task j, c' ≠ c} D[c, c'].

Scores, exact moments over the space, optimisation and certificates are written once, for any A.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from edgecil.errors import UsageError, format_value
from edgecil.io.arrays import Floats
from edgecil.registry import Registry
from edgecil.sequences.sequence import ClassSequence
from edgecil.sequences.space import SequenceSpace
from edgecil.similarity.matrix import Similarity, group_similarity

Direction = Literal["min", "max"]
OVERPARAMETERIZATION = 0.3


@dataclass(frozen=True, eq=False)
class Objective:
    """A weighting of task pairs.

    Attributes:
        name: what it is called.
        weights: (K, K) symmetric.
        hard: which end is called hard: `min` where smaller values should be harder, else `max`.
    """

    name: str
    weights: Floats
    hard: Direction = "min"

    def __post_init__(self) -> None:
        weights = np.array(self.weights, dtype=np.float64)
        if weights.ndim != 2 or weights.shape[0] != weights.shape[1]:
            raise UsageError(
                f"Objective weights must be a K x K matrix. Got shape {weights.shape} instead."
            )
        tolerance = 1e-5 * np.abs(weights).max(initial=0.0)
        if not np.isfinite(weights).all() or not np.allclose(weights, weights.T, 0.0, tolerance):
            raise UsageError("Objective weights must be finite and symmetric.")
        weights = (weights + weights.T) / 2
        weights.setflags(write=False)
        object.__setattr__(self, "weights", weights)

    def direction(self, goal: str) -> Direction:
        """Return whether the sequence called `goal` (hard or easy) minimises or maximises this."""
        if goal not in ("hard", "easy"):
            raise UsageError(f"`goal` must be 'hard' or 'easy'. Got {format_value(goal)}.")
        if goal == "hard":
            return self.hard
        return "max" if self.hard == "min" else "min"

    def value(self, similarity: Similarity, sequence: ClassSequence) -> float:
        """Return the objective of one sequence."""
        return float(np.sum(self.weights * task_similarity(similarity, sequence)))


def task_similarity(similarity: Similarity, sequence: ClassSequence) -> Floats:
    """Return the summed similarity between the classes of two tasks, c ≠ c': shape (K, K)."""
    SequenceSpace(sequence.sizes).require_similarity(similarity)
    return group_similarity(similarity, sequence.task_of(), len(sequence))


def pair_counts(sizes: Sequence[int]) -> Floats:
    """Return the number of ordered class pairs c ≠ c' between two tasks, shape (K, K)."""
    size = np.asarray(sizes, dtype=np.float64)
    return np.outer(size, size) - np.diag(size)


def adjacent(space: SequenceSpace) -> Objective:
    """Return the paper's S: K / ((K-1) N) times the similarity of neighbouring tasks."""
    if space.tasks < 2:
        raise UsageError("The score S compares neighbouring tasks and needs K >= 2. Got K = 1.")
    scale = space.tasks / ((space.tasks - 1) * space.classes)
    return Objective("adjacent", scale * neighbours(space.tasks, 1), hard="min")


def intra(space: SequenceSpace) -> Objective:
    """Return the mean similarity of two classes in one task; hard: similar classes together."""
    return Objective("intra", _mean_over(np.eye(space.tasks), space, "intra"), hard="max")


def to_last(space: SequenceSpace) -> Objective:
    """Return the mean similarity between a class of the last task and an earlier one."""
    with_last = np.zeros((space.tasks, space.tasks))
    with_last[-1, :-1] = with_last[:-1, -1] = 1.0
    return Objective("to-last", _mean_over(with_last, space, "to-last"), hard="min")


def generalization(space: SequenceSpace, ratio: float = OVERPARAMETERIZATION) -> Objective:
    """Return the expected generalisation error of linear continual learning, up to a constant.

    Lin et al. (2023), the paper's Lemma 3, kept whole: with a task's optimum wᵢ the sum of its
    class vectors, r^K/K Σᵢ ‖wᵢ‖² + (1-r)/K Σᵢ r^(K-i) Σₖ ‖wₖ - wᵢ‖². Self-similarities and the
    noise term are the same for every sequence of a space and left out. Not symmetric under
    reversal: later tasks weigh more. (The paper stops the norm term at K-1; the derivation, and a
    simulation in the tests, sum it over all K tasks.)

    Args:
        space: the sequences it is for.
        ratio: r = 1 - n/p, the overparameterisation ratio, in (0, 1).
    """
    if not 0.0 < ratio < 1.0:
        raise UsageError(f"`ratio` must be in (0, 1). Got {ratio} instead.")
    K = space.tasks
    recency = ratio ** np.arange(K - 1, -1, -1.0)
    weights = -(recency[:, None] + recency[None, :])
    weights += np.diag(K * recency + recency.sum())
    weights = (1.0 - ratio) / K * weights + ratio**K / K * np.eye(K)
    return Objective("generalization", weights, hard="max")


OBJECTIVES: Registry[Callable[[SequenceSpace], Objective]] = Registry(
    "objective",
    {"adjacent": adjacent, "intra": intra, "to-last": to_last, "generalization": generalization},
)
"""Every named objective; each builds its weights for a space."""


def get_objective(objective: str | Objective | ArrayLike, space: SequenceSpace) -> Objective:
    """Return a named objective on a space, or your own K x K weights (its hard end is `min`)."""
    if isinstance(objective, str):
        return OBJECTIVES[objective](space)
    chosen = objective if isinstance(objective, Objective) else Objective("custom", objective)  # type: ignore[arg-type]
    if len(chosen.weights) != space.tasks:
        raise UsageError(
            f"Objective weights must be {space.tasks} x {space.tasks} for {space.tasks} tasks. "
            f"Got {chosen.weights.shape} instead."
        )
    return chosen


def applicable_objectives(space: SequenceSpace) -> dict[str, Objective]:
    """Return every named objective that is defined on the space, by name."""
    objectives = {}
    for name, build in OBJECTIVES.items():
        with suppress(UsageError):
            objectives[name] = build(space)
    return objectives


def neighbours(tasks: int, distance: int) -> Floats:
    """Return weights of ½ for two tasks that are `distance` apart, shape (K, K)."""
    return (np.eye(tasks, k=distance) + np.eye(tasks, k=-distance)) / 2.0


def _mean_over(pattern: Floats, space: SequenceSpace, name: str) -> Floats:
    """Return the pattern's weights, scaled so that the value is a mean over class pairs."""
    pairs = float(np.sum(pattern * pair_counts(space.sizes)))
    if pairs == 0.0:
        raise UsageError(
            f"Objective {name!r} has no class pairs to look at with task sizes {list(space.sizes)}."
        )
    return pattern / pairs
