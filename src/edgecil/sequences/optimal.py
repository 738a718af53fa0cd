"""The extremes of an objective, with a certificate of how much could be left.

Small spaces are solved exactly: by dynamic programming over sets of classes for objectives that are
chains (every named one is), by looking at all sequences for others. Larger ones by multi-start
simulated annealing on swaps, swap descent, and a rearrangement of whole tasks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from itertools import combinations, pairwise
from math import comb

import numpy as np
from numpy.typing import ArrayLike

from edgecil.io.arrays import Floats, Ints
from edgecil.sequences.canonical import construct
from edgecil.sequences.certificate import Bounds, bounds
from edgecil.sequences.edge import edge_sequence
from edgecil.sequences.objective import Objective, get_objective
from edgecil.sequences.scores import moments, weighted_sums
from edgecil.sequences.sequence import ClassSequence
from edgecil.sequences.space import SequenceSpace
from edgecil.sequences.swaps import Swaps, rearrange
from edgecil.similarity.matrix import Similarity, group_similarity

_STARTS = 16
_SWEEPS = 30
_WORK = 10**9  # entries of the pull that annealing may change
_COOLING = (0.5, 0.01)
_MOST_CLASSES = 20
_MOST_TRANSITIONS = 30_000_000
_ENUMERABLE = 20_000
_AT_ONCE = 2_000_000


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
        weights = chosen.weights if direction == "min" else -chosen.weights
        solution = solve_exactly(own, space, weights)
        exact = solution is not None
        stream = np.random.default_rng(0) if rng is None else rng
        return solution or search(own, space, weights, stream)

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


def solve_exactly(
    similarity: Similarity, space: SequenceSpace, weights: Floats
) -> ClassSequence | None:
    """Return a sequence of least weighted similarity; None if the space is too large."""
    chain = _chain(weights, space)
    if chain is None and space.size > _ENUMERABLE:
        return None
    values = similarity.submatrix(np.arange(space.classes))
    if chain is not None:
        return _solve(values, space, *chain)
    orders = np.array([sequence.order for sequence in space.enumerate()])
    best = int(np.argmin(weighted_sums(values, space, orders, weights)))
    return ClassSequence.from_order(orders[best].tolist(), space.sizes)


def _chain(weights: Floats, space: SequenceSpace) -> tuple[Floats, Floats, Floats] | None:
    """Return the weights as (own, reach, link) of a chain, if it is one that can be solved.

    Off the diagonal a chain weighs two tasks as reach[i] + reach[j], plus link[i] for neighbours;
    every named objective has that form, and every objective on up to four tasks.
    """
    if space.classes > _MOST_CLASSES or _transitions(space.sizes) > _MOST_TRANSITIONS:
        return None
    K = space.tasks
    above = np.triu_indices(K, 1)
    design = np.zeros((len(above[0]), 2 * K - 1))
    for row, (i, j) in enumerate(zip(*above, strict=True)):
        design[row, [i, j]] = 1.0
        if j == i + 1:
            design[row, K + i] = 1.0
    wanted = weights[above]
    solution: Floats = np.linalg.lstsq(design, wanted, rcond=None)[0].astype(np.float64)
    error = np.abs(design @ solution - wanted).max(initial=0.0)
    if error > 1e-12 * np.abs(wanted).max(initial=0.0):
        return None
    return np.diag(weights), solution[:K], solution[K:]


def _transitions(sizes: tuple[int, ...]) -> int:
    """Return how many steps from one state to the next the dynamic programme takes."""
    total, used, classes = 0, 0, sum(sizes)
    for size, following in pairwise(sizes):
        used += size
        total += comb(classes, used) * comb(used, size) * comb(classes - used, following)
    return total


def _solve(
    values: Floats, space: SequenceSpace, own: Floats, reach: Floats, link: Floats
) -> ClassSequence:
    """Minimise Σᵢ own[i] W(i, i) + 2 reach[i] W(i, all others) + 2 link[i] W(i, i+1).

    W sums the similarities between two tasks. A state is the set of classes used so far and the set
    of the last task; sets are bit masks.
    """
    inner, total = _set_sums(values)
    rank = np.zeros(len(inner), dtype=np.int64)  # of a used set among those of its size
    best, last = np.zeros((1, 1)), np.zeros((1, 1), dtype=np.int64)
    layers = []
    used = 0
    for t, size in enumerate(space.sizes):
        used += size
        bits = 1 << np.array(list(combinations(range(space.classes), used)))
        new = np.array(list(combinations(range(used), size)))
        sets, new_sets = bits.sum(axis=1), bits[:, new].sum(axis=2)
        cost = own[t] * inner[new_sets] + 2.0 * reach[t] * (total[new_sets] - inner[new_sets])
        before = rank[sets[:, None] ^ new_sets]
        came_from = np.zeros(cost.shape, dtype=np.int64)
        if t > 0:
            rows = max(1, _AT_ONCE // (new_sets.shape[1] * last.shape[1]))
            for begin in range(0, len(sets), rows):
                part = slice(begin, begin + rows)
                earlier, later = last[before[part]], new_sets[part, :, None]
                joint = inner[earlier | later] - inner[earlier] - inner[later]
                ways = best[before[part]] + link[t - 1] * joint
                came_from[part] = ways.argmin(axis=2)
                cost[part] += ways.min(axis=2)
        layers.append((new_sets, before, came_from))
        rank[sets] = np.arange(len(sets))
        best, last = cost, new_sets
    row, column = 0, int(best[0].argmin())
    answer = []
    for new_sets, before, came_from in reversed(layers):
        answer.append(int(new_sets[row, column]))
        row, column = int(before[row, column]), int(came_from[row, column])
    return ClassSequence(
        [class_ for class_ in range(space.classes) if mask >> class_ & 1] for mask in answer[::-1]
    )


def _set_sums(values: Floats) -> tuple[Floats, Floats]:
    """Return the similarity inside every set of classes, and that of its members to all classes."""
    classes = len(values)
    inner, total = np.zeros(1 << classes), np.zeros(1 << classes)
    rows = values.sum(axis=1)
    for low in range(classes - 1, -1, -1):
        rest = np.arange(0, 1 << classes, 2 << low)  # sets of later classes
        total[rest | 1 << low] = total[rest] + rows[low]
        sums = inner[rest]
        for other in range(low + 1, classes):
            sums[rest >> other & 1 == 1] += 2.0 * values[low, other]
        inner[rest | 1 << low] = sums
    return inner, total


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
