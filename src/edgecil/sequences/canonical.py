"""A numbering of the classes that depends on their similarities alone.

Generators work on classes in this order and translate back, so relabelling a dataset relabels
the sequences and changes nothing else: ties, seeds and rounding cannot see the labels.
"""

from __future__ import annotations

import numpy as np

from edgecil.similarity.matrix import Floats, Ints, Similarity


def canonical_order(similarity: Similarity) -> Ints:
    """Class ids, shape (N,), sorted by what distinguishes the classes, not by their labels.

    Classes are told apart by their sorted similarities to all others, then by which classes those
    similarities lead to (colour refinement), and only as a last resort, when a symmetry of the
    matrix makes them interchangeable, by name.
    """
    count = len(similarity)
    colours, found = np.zeros(count, dtype=np.int64), 0
    while found < colours.max() + 1 <= count:
        found = int(colours.max()) + 1
        keys = similarity.sort_keys(colours)
        colours = _ranks(np.column_stack([colours, keys]))
    return np.lexsort((np.array(similarity.names), colours)).astype(np.int64)


def _ranks(rows: Floats) -> Ints:
    """Rank of each row in lexicographic order, shape (N,); equal rows share a rank."""
    for width in (8, rows.shape[1]):
        head = rows[:, :width]
        order = np.lexsort(head.T[::-1])
        step = np.any(head[order[1:]] != head[order[:-1]], axis=1)
        if step.all():
            break
    ranks = np.empty(len(rows), dtype=np.int64)
    ranks[order] = np.concatenate([[0], np.cumsum(step)])
    return ranks
