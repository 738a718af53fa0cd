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
from edgecil.sequences.certificate import Bounds, bounds
from edgecil.sequences.exact import is_solvable, solve_exactly
from edgecil.sequences.generators.edge import edge_easy, edge_hard
from edgecil.sequences.generators.registry import MOST_CLASSES, Goal, get_generator, register
from edgecil.sequences.moments import moments
from edgecil.sequences.objective import Objective, get_objective
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
    rng = np.random.default_rng(0) if rng is None else rng
    sequence = get_generator("optimal", goal)(similarity, space, rng, objective=chosen)
    value = chosen.value(similarity, sequence)
    exact = is_solvable(space, chosen)
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


def _register(goal: Goal) -> None:
    """Register the search for one end of an objective as a generator."""

    def build(
        similarity: Similarity,
        space: SequenceSpace,
        rng: np.random.Generator,
        *,
        objective: str | Objective | ArrayLike = "adjacent",
    ) -> ClassSequence:
        chosen = get_objective(objective, space)
        direction = chosen.direction(goal)
        solution = solve_exactly(similarity, space, chosen, direction)
        if solution is not None:
            return solution
        sign = 1.0 if direction == "min" else -1.0
        return _Search(similarity, space, sign * chosen.weights, rng).run()

    about = f"the {goal} end of an objective (default S), with a certificate"
    register("optimal", goal, about, most_classes=MOST_CLASSES)(build)


_register("hard")
_register("easy")


class _Search:
    """Multi-start local search for the least weighted similarity."""

    def __init__(
        self,
        similarity: Similarity,
        space: SequenceSpace,
        weights: Floats,
        rng: np.random.Generator,
    ) -> None:
        self.similarity, self.space, self.weights, self.rng = similarity, space, weights, rng

    def run(self) -> ClassSequence:
        """Return the best sequence that annealing or EDGE leads to."""
        classes, tasks = self.space.classes, self.space.tasks
        places = np.repeat(np.arange(tasks), self.space.sizes)
        values = self.similarity.submatrix(np.arange(classes))
        starts = max(1, min(_STARTS, _WORK // (_SWEEPS * classes**2 * tasks)))
        search = Swaps(
            values, self.weights, np.array([self.rng.permutation(places) for _ in range(starts)])
        )
        steps = min(_SWEEPS * classes, _WORK // (classes * tasks))
        search.anneal(steps, *_COOLING, self.rng)
        edges = [edge(self.similarity, self.space, self.rng) for edge in (edge_hard, edge_easy)]
        task = np.vstack([search.task, *(sequence.task_of() for sequence in edges)])
        improved = True
        while improved:
            Swaps(values, self.weights, task).descend()
            before = task.copy()
            for row in task:
                self._rearrange(row)
            improved = not np.array_equal(task, before)
        return self._sequence(min(task, key=self._value))

    def _sequence(self, task: Ints) -> ClassSequence:
        return ClassSequence(
            np.flatnonzero(task == place).tolist() for place in range(self.space.tasks)
        )

    def _value(self, task: Ints) -> float:
        between = group_similarity(self.similarity, task, self.space.tasks)
        return float(np.sum(self.weights * between))

    def _rearrange(self, task: Ints) -> None:
        """Put whole tasks in a better order, in place."""
        between = group_similarity(self.similarity, task, self.space.tasks)
        task[:] = rearrange(between, self.weights, np.array(self.space.sizes))[task]
