"""The exact extreme of an objective, where the space is small enough to be solved.

By dynamic programming over sets of classes for objectives that are chains (every named one is), by
looking at all sequences for others.
"""

from __future__ import annotations

from itertools import combinations, pairwise
from math import comb

import numpy as np

from edgecil.io.arrays import Floats
from edgecil.sequences.objective import Direction, Objective
from edgecil.sequences.sampling import score_orders
from edgecil.sequences.sequence import ClassSequence
from edgecil.sequences.space import SequenceSpace
from edgecil.similarity.matrix import Similarity

_MOST_CLASSES = 20
_MOST_TRANSITIONS = 30_000_000
_ENUMERABLE = 20_000
_AT_ONCE = 2_000_000


def solve_exactly(
    similarity: Similarity, space: SequenceSpace, objective: Objective, direction: Direction
) -> ClassSequence | None:
    """Return a sequence with the least or greatest objective; None if the space is too large."""
    sign = 1.0 if direction == "min" else -1.0
    chain = _chain(objective, space)
    if chain is not None:
        own, reach, link = (sign * part for part in chain)
        return _solve(similarity, space, own, reach, link)
    if space.size <= _ENUMERABLE:
        orders = np.array([sequence.order for sequence in space.enumerate()])
        best = int(np.argmin(sign * score_orders(similarity, space, orders, objective)))
        return ClassSequence.from_order(orders[best].tolist(), space.sizes)
    return None


def _chain(objective: Objective, space: SequenceSpace) -> tuple[Floats, Floats, Floats] | None:
    """Return the objective as (own, reach, link) of a chain, if it is one that can be solved.

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
    wanted = objective.weights[above]
    solution: Floats = np.linalg.lstsq(design, wanted, rcond=None)[0].astype(np.float64)
    error = np.abs(design @ solution - wanted).max(initial=0.0)
    if error > 1e-12 * np.abs(wanted).max(initial=0.0):
        return None
    return np.diag(objective.weights).copy(), solution[:K], solution[K:]


def _transitions(sizes: tuple[int, ...]) -> int:
    """Return how many steps from one state to the next the dynamic programme takes."""
    total, used, classes = 0, 0, sum(sizes)
    for size, following in pairwise(sizes):
        used += size
        total += comb(classes, used) * comb(used, size) * comb(classes - used, following)
    return total


def _solve(
    similarity: Similarity, space: SequenceSpace, own: Floats, reach: Floats, link: Floats
) -> ClassSequence:
    """Minimise Σᵢ own[i] W(i, i) + 2 reach[i] W(i, all others) + 2 link[i] W(i, i+1).

    W sums the similarities between two tasks. A state is the set of classes used so far and the set
    of the last task; sets are bit masks.
    """
    inner, total = _set_sums(similarity.submatrix(np.arange(space.classes)))
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
