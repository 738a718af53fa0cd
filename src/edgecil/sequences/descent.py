"""Descent of an objective: swaps of two classes, and other orders of whole tasks.

A partition is the task of each class, shape (N,); it is changed in place.
"""

from __future__ import annotations

import numpy as np

from edgecil.io.arrays import Floats, Ints
from edgecil.sequences.inner_loops import fast
from edgecil.sequences.kernels import descend_swaps, order_tasks
from edgecil.sequences.space import SequenceSpace
from edgecil.similarity.matrix import Similarity, group_similarity

_NEGLIGIBLE = 1e-10
_SWEEPS = 10  # roughly as many as a descent takes


def descend(similarity: Similarity, space: SequenceSpace, weights: Floats, partition: Ints) -> None:
    """Lower the weighted similarity by swaps and rearrangements until neither helps.

    Args:
        similarity: over N classes.
        space: whose sequences the partition describes.
        weights: (K, K) objective to minimise.
        partition: (N,) task of each class, changed in place.
    """
    values = similarity.submatrix(np.arange(space.classes))
    least = _NEGLIGIBLE * float(np.abs(weights).max() * np.abs(values).max())
    improved = True
    while improved:
        field = pull(similarity, space, weights, partition)
        swaps = fast(descend_swaps, _SWEEPS * len(values) ** 2)
        swaps(values, weights, partition, field, least)
        improved = rearrange(similarity, space, weights, partition)


def rearrange(
    similarity: Similarity, space: SequenceSpace, weights: Floats, partition: Ints
) -> bool:
    """Put whole tasks in a better order; return whether there is one. Arguments as above."""
    between = group_similarity(similarity, partition, space.tasks)
    least = _NEGLIGIBLE * float(np.abs(weights).max() * np.abs(between).max())
    order = np.arange(space.tasks)
    move = fast(order_tasks, _SWEEPS * space.tasks**2)
    change = move(between, weights, np.array(space.sizes), order, least)
    partition[:] = np.argsort(order)[partition]
    return change < 0.0


def pull(
    similarity: Similarity,
    space: SequenceSpace,
    weights: Floats,
    partition: Ints,
    block: Ints | None = None,
) -> Floats:
    """Return half the derivative of the objective to each class (of a block), shape (K, n)."""
    return weights @ similarity.to_groups(partition, space.tasks, block).T
