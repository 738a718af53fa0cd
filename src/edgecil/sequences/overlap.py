"""How far class orders agree on the positions of classes."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from edgecil.io.arrays import Floats, Ints
from edgecil.sequences.sequence import ClassSequence


def unevenness(sequences: Collection[ClassSequence]) -> tuple[float, float]:
    """Return how unevenly classes visit the positions over n orders of two tasks or more.

    It is the chi-square statistic of the numbers of visits over its mean: 1 on average over random
    orders, 0 if each class visits all positions in proportion to their sizes.

    Returns:
        The ratio, and its standard deviation over random orders.
    """
    first = next(iter(sequences))
    classes = sorted(first.order)
    column = {class_: place for place, class_ in enumerate(classes)}
    visits = np.zeros((len(classes), len(first)))
    for sequence in sequences:
        for number, members in enumerate(sequence.tasks):
            visits[[column[class_] for class_ in members], number] += 1.0
    expected = len(sequences) * np.array(first.sizes) / len(classes)
    freedom = len(classes) * (len(first) - 1)
    return float(((visits - expected) ** 2 / expected).sum()) / freedom, (2.0 / freedom) ** 0.5


def position_overlap(sequences: Sequence[ClassSequence]) -> Floats:
    """Return how far pairs of orders agree on the positions of classes and of pairs, beyond chance.

    kᵢⱼ is the mean of two agreements: of the number of classes that are in the same task in both
    orders, and of the number of pairs of classes that are together in the same task in both. Each
    is (shared - e) / (most - e), with its mean e over all orders and its value for equal orders. k
    is 1 on the diagonal, 0 on average over random pairs, and negative where a Latin design keeps
    classes from returning to a position. Tasks of one class have no pairs; then classes count.

    Returns:
        shape (n, n).
    """
    classes = sorted(sequences[0].order)
    column = {class_: place for place, class_ in enumerate(classes)}
    task = np.empty((len(sequences), len(classes)), dtype=np.int64)
    for row, sequence in enumerate(sequences):
        for number, members in enumerate(sequence.tasks):
            task[row, [column[class_] for class_ in members]] = number
    if len(sequences[0].sizes) == 1:  # there is one order
        return np.eye(len(sequences))
    return task_overlap(task, task, sequences[0].sizes)


def task_overlap(rows: Ints, columns: Ints, sizes: Sequence[int]) -> Floats:
    """Return :func:`position_overlap` between orders of two lists, for two tasks and more.

    Args:
        rows: (n, N) the task of every class.
        columns: (m, N) the same of other orders.
        sizes: (K,) classes per task.

    Returns:
        shape (n, m).
    """
    most = np.array(sizes, dtype=np.float64)
    classes = rows.shape[1]
    singles, pairs = np.zeros((2, len(rows), len(columns)))
    for number in range(len(most)):
        shared = (rows == number).astype(np.float64) @ (columns == number).astype(np.float64).T
        singles += shared
        pairs += shared * (shared - 1.0) / 2.0
    together, count = most * (most - 1.0) / 2.0, classes * (classes - 1.0) / 2.0
    overlap = _beyond_chance(singles, float(most @ most) / classes, classes)
    if together.any():
        expected = float(together @ together) / count
        overlap = (overlap + _beyond_chance(pairs, expected, float(together.sum()))) / 2.0
    return overlap


def _beyond_chance(shared: Floats, expected: float, most: float) -> Floats:
    return np.asarray((shared - expected) / (most - expected))
