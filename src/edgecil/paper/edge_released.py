"""The orders of the EDGE authors' published code, for comparison with published numbers.

This follows `utils/edge.py` of https://github.com/AIGNLAI/EDGE (commit a60c117) bit for bit on a
given similarity matrix, also where that departs from the paper:

- 200 classes are assumed: with fewer the blocks are too large, with more the program never ends;
- g clusters become g blocks of 200/g classes for g = 10, 20, 50, 100, 200, whose classes are
  divided and passed on in the order of their labels; blocks are ordered from the one that is most
  similar to all others; only then are the classes cut into tasks;
- *hard* is the least S among orders that pack dissimilar classes and go on to the most similar
  block, which the paper wants for *easy*;
- *easy* is always the last candidate, g = 200: a walk from the most central class to the least
  similar one, which resembles the paper's AS baseline for *hard*;
- the number of tasks is computed as if all tasks were as large as the first one.

Similarities are in single precision and their sums in double precision, as the published program
computes them with NumPy 1, which torch 2.0.1, the version that it names, requires. It fails on
negative similarities, which CLIP's texts do not have; here they are shifted for the clustering.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from edgecil.errors import UsageError
from edgecil.io.arrays import Floats
from edgecil.sequences.sequence import ClassSequence
from edgecil.sequences.space import SequenceSpace
from edgecil.similarity.matrix import Similarity

ASSUMED_CLASSES = 200
BLOCK_COUNTS = (10, 20, 50, 100, 200)

Singles = NDArray[np.float32]


def released_sequence(similarity: Similarity, space: SequenceSpace, goal: str) -> ClassSequence:
    """Return an order of the published code.

    Hard has the least mean similarity of neighbouring tasks among blocks of dissimilar classes,
    easy is the last candidate among blocks of similar classes, whatever its score.
    """
    space.require_similarity(similarity)
    first = space.sizes[0]
    if space.classes > ASSUMED_CLASSES or space.classes % first:
        raise UsageError(
            f"The authors' published code supports at most {ASSUMED_CLASSES} classes, and requires "
            "a first task whose size divides their number. Got a first task of "
            f"{first} of {space.classes} classes."
        )
    values = similarity.values.astype(np.float32)
    if goal == "easy":
        order = block_order(values, BLOCK_COUNTS[-1], pack_similar=True)
        return ClassSequence.from_order(order, space.sizes)
    orders = [block_order(values, count, pack_similar=False) for count in BLOCK_COUNTS]
    tasks = space.classes // first  # as the published code computes it
    scores = [_mean_between_neighbours(values, order, tasks) for order in orders]
    return ClassSequence.from_order(orders[int(np.argmin(scores))], space.sizes)


def block_order(values: Singles, count: int, *, pack_similar: bool) -> list[int]:
    """Return the classes in the order of one of the published code's constructors.

    Args:
        values: (N, N) similarities in single precision, zero diagonal.
        count: number of clusters, and of blocks.
        pack_similar: whether similar classes share a block and the least similar block follows;
            else dissimilar ones do and the most similar block follows.
    """
    blocks = _fill(_clusters(1 - values if pack_similar else values, count), count)
    between = _mean_between(values, blocks)
    sequence = [int(np.argmax(np.sum(between, axis=1)))]
    sign = 1.0 if pack_similar else -1.0
    to_chosen = np.zeros(count)
    free = np.ones(count, dtype=np.bool_)
    free[sequence[0]] = False
    while len(sequence) < count:
        to_chosen += between[sequence[-1]]
        following = int(np.argmin(np.where(free, sign * to_chosen, np.inf)))
        sequence.append(following)
        free[following] = False
    order: list[int] = []
    for block in sequence:
        order += blocks[block]
    return order


def _clusters(distances: Singles, count: int) -> list[list[int]]:
    """Return complete-linkage clusters, at most `count`, by size and then in SciPy's order."""
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform

    condensed = squareform(distances, checks=False).astype(np.float64)
    tree = linkage(condensed - min(0.0, condensed.min()), method="complete")
    clusters: list[list[int]] = [[] for _ in range(count)]
    for class_, number in enumerate(fcluster(tree, count, criterion="maxclust").tolist()):
        clusters[number - 1].append(class_)
    return sorted(clusters, key=len, reverse=True)


def _fill(clusters: Sequence[Sequence[int]], count: int) -> list[list[int]]:
    """Return blocks of at most 200/g classes; some are empty with fewer than 200 classes."""
    size = ASSUMED_CLASSES // count
    blocks: list[list[int]] = [[] for _ in range(count)]
    for cluster in clusters:
        for start in range(0, len(cluster), size):
            min(blocks, key=len).extend(cluster[start : start + size])
    for block in blocks:
        while len(block) > size:
            class_ = block.pop()
            min(blocks, key=len).append(class_)
    return blocks


def _mean_between(values: Singles, blocks: Sequence[Sequence[int]]) -> Floats:
    """Return the mean similarity between blocks (g, g); 0 for empty blocks and on the diagonal."""
    between = np.zeros((len(blocks), len(blocks)))
    for i, first in enumerate(blocks):
        rows = values[np.array(first, dtype=np.int64)]
        for j, second in enumerate(blocks):
            if i != j and first and second:
                between[i, j] = _running_sum(rows[:, second]) / (len(first) * len(second))
    return between


def _mean_between_neighbours(values: Singles, order: Sequence[int], tasks: int) -> float:
    size = len(order) // tasks
    chunks = [np.array(order[start : start + size]) for start in range(0, tasks * size, size)]
    products = [values[np.ix_(chunks[i], chunks[i + 1])].ravel() for i in range(tasks - 1)]
    if not products:
        raise UsageError("The score S compares neighbouring tasks and needs K >= 2. Got K = 1.")
    joined = np.concatenate(products)
    return _running_sum(joined) / len(joined)


def _running_sum(values: Singles) -> float:
    """Return the sum from left to right in double precision, as a plain loop computes it."""
    return float(np.add.accumulate(values.ravel(), dtype=np.float64)[-1])
