"""A numbering of the classes that depends on their similarities alone.

Sequences are constructed of classes in this order and translated back, so relabelling a dataset
relabels the sequences and changes nothing else: ties, seeds and rounding cannot see the labels.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from edgecil.errors import UsageError
from edgecil.io.arrays import Floats, Ints
from edgecil.sequences.sequence import ClassSequence
from edgecil.sequences.space import SequenceSpace
from edgecil.similarity.matrix import Similarity

_MOST_CLASSES = 5000
_READ_AT_MOST = 10_000_000


def construct(
    similarity: Similarity,
    space: SequenceSpace,
    build: Callable[[Similarity], ClassSequence],
    *,
    keep_arrangement: bool = False,
) -> ClassSequence:
    """Return a sequence built of the classes in canonical order, with their own numbers.

    The order inside a task is sorted unless `keep_arrangement`: an algorithm that makes sets of
    classes gives it no meaning.
    """
    space.require_similarity(similarity)
    if space.classes > _MOST_CLASSES:
        raise UsageError(
            f"At most {_MOST_CLASSES:,} classes can be arranged by their similarity. Got "
            f"{space.classes:,}; the protocol 'random' supports any number."
        )
    ids = canonical_order(similarity)
    sequence = build(similarity.take(ids))
    arranged = ClassSequence(ids[list(task)].tolist() for task in sequence.arranged)
    return arranged if keep_arrangement else arranged.without_arrangement()


def canonical_order(similarity: Similarity) -> Ints:
    """Return class ids, shape (N,), sorted by what distinguishes the classes, not by their labels.

    Classes are distinguished by their sorted similarities to all others, then by which classes
    those similarities lead to (colour refinement). Classes that remain equal are distinguished by
    the effect of individualising one of them. The name decides only where a symmetry of the matrix
    makes classes interchangeable (and where the search would take too long).
    """
    ids = np.arange(len(similarity))
    name = np.argsort(np.argsort(np.array(similarity.names), kind="stable"))
    colours = _refined(similarity, np.zeros_like(ids))
    if colours.max() + 1 < len(ids):
        colours = _refined(similarity, _twins_by_name(similarity, colours, name))
    patience = _READ_AT_MOST // len(ids) ** 2
    while colours.max() + 1 < len(ids):
        alike = np.flatnonzero(colours == np.argmax(np.bincount(colours) > 1))
        by_name = alike[np.argsort(name[alike])]
        candidates = by_name if len(alike) < patience / 8 else by_name[:1]
        patience -= len(candidates)
        if patience < 0:
            break
        refinements = [_refined(similarity, 2 * colours - (ids == class_)) for class_ in candidates]
        colours = min(refinements, key=lambda refined: _appearance(similarity, refined))
    return np.lexsort((name, colours)).astype(np.int64)


def _refined(similarity: Similarity, colours: Ints) -> Ints:
    """Return the coarsest refinement in which classes of one colour see the same colours."""
    colours = _ranks(colours[:, None])
    count = 0
    while count < colours.max() + 1 <= len(colours):
        count = int(colours.max()) + 1
        keys = similarity.sort_keys(colours)
        colours = _ranks(np.column_stack([colours, keys]))
    return colours


def _twins_by_name(similarity: Similarity, colours: Ints, name: Ints) -> Ints:
    """Refine colours, so that classes that can be exchanged without moving others differ."""
    finer = colours * len(colours)
    for colour in np.flatnonzero(np.bincount(colours) > 1):
        alike = np.flatnonzero(colours == colour)
        twins = similarity.twins(alike)
        for group in range(twins.max() + 1):
            members = alike[twins == group]
            finer[members] += np.argsort(np.argsort(name[members]))
    return finer


def _appearance(similarity: Similarity, colours: Ints) -> bytes:
    """Return a coloured similarity as bytes that do not depend on the labels."""
    order = np.argsort(colours, kind="stable")
    keys = similarity.sort_keys(colours)[order] + 0.0  # no negative zeros
    return colours[order].tobytes() + keys.tobytes()


def _ranks(rows: Floats | Ints) -> Ints:
    """Return the rank of each row in lexicographic order, shape (N,); equal rows share one."""
    for width in (8, rows.shape[1]):
        head = rows[:, :width]
        order = np.lexsort(head.T[::-1])
        differs_from_previous = np.any(head[order[1:]] != head[order[:-1]], axis=1)
        if differs_from_previous.all():
            break
    ranks = np.empty(len(rows), dtype=np.int64)
    ranks[order] = np.concatenate([[0], np.cumsum(differs_from_previous)])
    return ranks
