"""The extremes of an objective, with a certificate of how far from optimal they can be.

Small spaces are solved exactly: by dynamic programming over sets of classes for objectives that are
chains (every named one is), by looking at all sequences for others. Larger ones by multi-start
simulated annealing on swaps, swap descent, and a rearrangement of whole tasks.
"""

from __future__ import annotations

from itertools import combinations, pairwise
from math import comb

import numpy as np
from numpy.typing import ArrayLike

from edgecil.io.arrays import Floats, Ints
from edgecil.sequences.canonical import construct
from edgecil.sequences.certificate import Bounds, bounds
from edgecil.sequences.edge import edge_sequence
from edgecil.sequences.objective import Objective, get_objective
from edgecil.sequences.optimum import Optimum
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
        goal: `hard` or `easy`; the objective says which of them is the minimum.
        objective: a name, an :class:`Objective`, or (K, K) weights.
        rng: for the annealing starts; seed 0 by default. Exact solutions do not use it.
    """
    chosen = get_objective(objective, space)
    direction = chosen.direction(goal)
    exact = False

    def build(renumbered: Similarity) -> ClassSequence:
        nonlocal exact
        weights = chosen.weights if direction == "min" else -chosen.weights
        solution = solve_exactly(renumbered, space, weights)
        exact = solution is not None
        stream = np.random.default_rng(0) if rng is None else rng
        return solution or search(renumbered, space, weights, stream)

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
    """Return the weights as (inside, reach, link) of a chain; None if it cannot be solved.

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
    between_tasks = weights[above]
    solution: Floats = np.linalg.lstsq(design, between_tasks, rcond=None)[0].astype(np.float64)
    error = np.abs(design @ solution - between_tasks).max(initial=0.0)
    if error > 1e-12 * np.abs(between_tasks).max(initial=0.0):
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
    values: Floats, space: SequenceSpace, inside: Floats, reach: Floats, link: Floats
) -> ClassSequence:
    """Minimise Σᵢ inside[i] W(i, i) + 2 reach[i] W(i, all others) + 2 link[i] W(i, i+1).

    W sums the similarities between two tasks. A state is the set of classes used so far and the set
    of the last task; sets are bit masks.
    """
    inner, total = _set_sums(values)
    rank = np.zeros(len(inner), dtype=np.int64)  # of a used set among the sets of its size
    best = np.zeros((1, 1))  # the least cost that leads to (used set, last task)
    last_tasks = np.zeros((1, 1), dtype=np.int64)
    layers = []
    used = 0
    for t, size in enumerate(space.sizes):
        used += size
        # Rows are the used sets of this size, columns the ways to take the last task from one.
        bits = 1 << np.array(list(combinations(range(space.classes), used)))
        choices = np.array(list(combinations(range(used), size)))
        used_sets = bits.sum(axis=1)
        new_tasks = bits[:, choices].sum(axis=2)
        to_others = total[new_tasks] - inner[new_tasks]
        cost = inside[t] * inner[new_tasks] + 2.0 * reach[t] * to_others
        row_before = rank[used_sets[:, None] ^ new_tasks]
        column_before = np.zeros(cost.shape, dtype=np.int64)
        if t > 0:
            batch_size = max(1, _AT_ONCE // (new_tasks.shape[1] * last_tasks.shape[1]))
            for begin in range(0, len(used_sets), batch_size):
                part = slice(begin, begin + batch_size)
                earlier = last_tasks[row_before[part]]
                later = new_tasks[part, :, None]
                joint = inner[earlier | later] - inner[earlier] - inner[later]
                costs_before = best[row_before[part]] + link[t - 1] * joint
                column_before[part] = costs_before.argmin(axis=2)
                cost[part] += costs_before.min(axis=2)
        layers.append((new_tasks, row_before, column_before))
        rank[used_sets] = np.arange(len(used_sets))
        best, last_tasks = cost, new_tasks
    row, column = 0, int(best[0].argmin())
    task_masks = []  # the last task first
    for new_tasks, row_before, column_before in reversed(layers):
        task_masks.append(int(new_tasks[row, column]))
        row, column = int(row_before[row, column]), int(column_before[row, column])
    tasks = []
    for mask in reversed(task_masks):
        tasks.append([class_ for class_ in range(space.classes) if mask >> class_ & 1])
    return ClassSequence(tasks)


def _set_sums(values: Floats) -> tuple[Floats, Floats]:
    """Return, for every set of classes, the similarity inside it and of its members to all."""
    classes = len(values)
    inner, total = np.zeros(1 << classes), np.zeros(1 << classes)
    rows = values.sum(axis=1)
    for lowest in range(classes - 1, -1, -1):
        later_sets = np.arange(0, 1 << classes, 2 << lowest)  # sets of later classes
        sets = later_sets | 1 << lowest
        total[sets] = total[later_sets] + rows[lowest]
        sums = inner[later_sets]
        for other in range(lowest + 1, classes):
            has_other = later_sets >> other & 1 == 1
            sums[has_other] += 2.0 * values[lowest, other]
        inner[sets] = sums
    return inner, total


def search(
    similarity: Similarity, space: SequenceSpace, weights: Floats, rng: np.random.Generator
) -> ClassSequence:
    """Return the sequence of least weighted similarity that annealing or EDGE finds."""
    classes, tasks = space.classes, space.tasks
    values, sizes = similarity.values, np.array(space.sizes)
    places = np.repeat(np.arange(tasks), sizes)
    starts = max(1, min(_STARTS, _WORK // (_SWEEPS * classes**2 * tasks)))
    random_starts = np.array([rng.permutation(places) for _ in range(starts)])
    annealed = Swaps(values, weights, random_starts)
    steps = min(_SWEEPS * classes, _WORK // (classes * tasks))
    annealed.anneal(steps, *_COOLING, rng)
    edges = [edge_sequence(similarity, space, goal).task_of() for goal in ("hard", "easy")]
    task = np.vstack([annealed.task, *edges])  # the task of each class, a row per candidate
    improved = True
    while improved:
        Swaps(values, weights, task).descend()
        before = task.copy()
        for row in task:  # whole tasks in a better order
            between_tasks = group_similarity(similarity, row, tasks)
            row[:] = rearrange(between_tasks, weights, sizes)[row]
        improved = not np.array_equal(task, before)

    def value(row: Ints) -> float:
        return float(np.sum(weights * group_similarity(similarity, row, tasks)))

    best = min(task, key=value)
    return ClassSequence(np.flatnonzero(best == place).tolist() for place in range(tasks))
