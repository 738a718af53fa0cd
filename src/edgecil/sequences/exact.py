"""The exact extreme of an objective, where the space is small enough to be solved.

By dynamic programming over sets of classes for objectives that are chains (every named one is), by
looking at all sequences for others.
"""

from __future__ import annotations

from itertools import pairwise
from math import comb

import numpy as np

from edgecil.io.arrays import Floats
from edgecil.sequences.inner_loops import fast
from edgecil.sequences.kernels import solve_chain
from edgecil.sequences.objective import Direction, Objective
from edgecil.sequences.sampling import score_orders
from edgecil.sequences.sequence import ClassSequence
from edgecil.sequences.space import SequenceSpace
from edgecil.similarity.matrix import Similarity

_MOST_CLASSES = 20
_MOST_TRANSITIONS = 30_000_000
_ENUMERABLE = 20_000


def is_solvable(space: SequenceSpace, objective: Objective) -> bool:
    """Return whether :func:`solve_exactly` finds the extremes of the objective on the space."""
    return _chain(objective, space) is not None or _is_enumerable(space)


def solve_exactly(
    similarity: Similarity, space: SequenceSpace, objective: Objective, direction: Direction
) -> ClassSequence | None:
    """Return a sequence with the least or greatest objective; None if the space is too large."""
    sign = 1.0 if direction == "min" else -1.0
    chain = _chain(objective, space)
    if chain is not None:
        own, reach, link = (sign * part for part in chain)
        return _solve(similarity, space, own, reach, link)
    if _is_enumerable(space):
        return _best_of_all(similarity, space, objective, sign)
    return None


def _is_enumerable(space: SequenceSpace) -> bool:
    return bool(space.ln_size < np.log(_ENUMERABLE) + 1.0 and space.size <= _ENUMERABLE)


def _best_of_all(
    similarity: Similarity, space: SequenceSpace, objective: Objective, sign: float
) -> ClassSequence:
    orders = np.array([sequence.order for sequence in space.enumerate()])
    best = int(np.argmin(sign * score_orders(similarity, space, orders, objective)))
    return ClassSequence.from_order(orders[best].tolist(), space.sizes)


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
    values = similarity.submatrix(np.arange(space.classes))
    solve = fast(solve_chain, 2.0**space.classes * space.classes + _transitions(space.sizes))
    masks = solve(values, np.array(space.sizes), own, reach, link).tolist()
    return ClassSequence(
        [class_ for class_ in range(space.classes) if mask >> class_ & 1] for mask in masks
    )
