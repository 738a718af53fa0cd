"""The extremes of an objective, with a certificate of how much could be left.

Small spaces are solved exactly by dynamic programming over sets of classes. Larger ones by
multi-start simulated annealing on swaps, swap descent, and a rearrangement of whole tasks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import ArrayLike

from edgecil.io.arrays import Floats, Ints
from edgecil.sequences.canonical import construct
from edgecil.sequences.certificate import Bounds, bounds
from edgecil.sequences.edge import edge_sequence
from edgecil.sequences.exact import solve_exactly
from edgecil.sequences.objective import Objective, get_objective
from edgecil.sequences.scores import moments
from edgecil.sequences.sequence import ClassSequence
from edgecil.sequences.space import SequenceSpace
from edgecil.sequences.swaps import Swaps, rearrange
from edgecil.similarity.matrix import Similarity, group_similarity

_STARTS = 16
_SWEEPS = 30
_WORK = 10**9  # entries of the pull that annealing may change
_COOLING = (0.5, 0.01)


@dataclass(frozen=True)
class Certificate:
    """How close a sequence is to the extreme of an objective.

    Attributes:
        objective: the name of the objective.
        source: where the similarity comes from.
        value: the objective of the sequence.
        z: standard deviations of the value above the mean over all sequences of the space.
        bound: a value that no sequence of the space can pass; equal to `value` if `exact`.
        gap: distance between value and bound, as a share of the distance between both bounds.
        exact: whether the value is proved optimal.
    """

    objective: str
    source: Mapping[str, str]
    value: float
    z: float
    bound: float
    gap: float
    exact: bool


@dataclass(frozen=True)
class Optimum(Certificate):
    """An extreme sequence of an objective, with its certificate."""

    sequence: ClassSequence

    @property
    def certificate(self) -> Certificate:
        """The certificate without the sequence."""
        return Certificate(**{one.name: getattr(self, one.name) for one in fields(Certificate)})


def find_optimum(
    similarity: Similarity,
    space: SequenceSpace,
    goal: str,
    *,
    objective: str | Objective | ArrayLike = "adjacent",
    rng: np.random.Generator | None = None,
) -> Optimum:
    """Return the hard or easy end of an objective, with its certificate.

    Args:
        similarity: over N classes.
        space: the sequences to search.
        goal: `hard` or `easy`; which of them is the minimum is the objective's to say.
        objective: a name, an :class:`Objective`, or (K, K) weights.
        rng: for the annealing starts; seed 0 by default. Exact solutions do not use it.
    """
    chosen = get_objective(objective, space)
    direction = chosen.direction(goal)
    exact = False

    def build(own: Similarity) -> ClassSequence:
        nonlocal exact
        solution = solve_exactly(own, space, chosen, direction)
        exact = solution is not None
        sign = 1.0 if direction == "min" else -1.0
        stream = np.random.default_rng(0) if rng is None else rng
        return solution or search(own, space, sign * chosen.weights, stream)

    sequence = construct(similarity, space, build)
    value = chosen.value(similarity, sequence)
    limits = Bounds(value, value) if exact else bounds(similarity, space, chosen)
    return Optimum(
        chosen.name,
        similarity.source,
        value,
        z=moments(similarity, space, chosen).z(value),
        bound=limits.of(direction),
        gap=limits.gap(value, direction),
        exact=exact,
        sequence=sequence,
    )


def search(
    similarity: Similarity, space: SequenceSpace, weights: Floats, rng: np.random.Generator
) -> ClassSequence:
    """Return the sequence of least weighted similarity that annealing or EDGE leads to."""
    classes, tasks = space.classes, space.tasks
    values, sizes = similarity.values, np.array(space.sizes)
    places = np.repeat(np.arange(tasks), sizes)
    starts = max(1, min(_STARTS, _WORK // (_SWEEPS * classes**2 * tasks)))
    annealed = Swaps(values, weights, np.array([rng.permutation(places) for _ in range(starts)]))
    annealed.anneal(min(_SWEEPS * classes, _WORK // (classes * tasks)), *_COOLING, rng)
    edges = [edge_sequence(similarity, space, goal).task_of() for goal in ("hard", "easy")]
    task = np.vstack([annealed.task, *edges])
    improved = True
    while improved:
        Swaps(values, weights, task).descend()
        before = task.copy()
        for row in task:  # whole tasks in a better order
            row[:] = rearrange(group_similarity(similarity, row, tasks), weights, sizes)[row]
        improved = not np.array_equal(task, before)

    def value(row: Ints) -> float:
        return float(np.sum(weights * group_similarity(similarity, row, tasks)))

    best = min(task, key=value)
    return ClassSequence(np.flatnonzero(best == place).tolist() for place in range(tasks))
