"""How far class orders agree on the positions of classes."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

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


def position_overlap(first: ClassSequence, second: ClassSequence) -> float:
    """Return how far two orders agree on the positions of classes and of pairs, beyond chance.

    It is the mean of two agreements: of the number of classes that are in the same task in both
    orders, and of the number of pairs of classes that are together in the same task in both. Each
    is (shared - e) / (most - e), with its mean e over all orders and its value for equal orders, so
    that it is 1 for equal orders and 0 on average over random ones. Some task must have a pair.
    """
    tasks = zip(first.tasks, second.tasks, strict=True)
    shared = np.array([len(set(one) & set(other)) for one, other in tasks])
    sizes = np.array(first.sizes)
    classes, pairs = sizes.sum(), sizes * (sizes - 1.0) / 2.0
    by_chance = sizes @ sizes / classes
    of_classes = (shared.sum() - by_chance) / (classes - by_chance)
    by_chance = pairs @ pairs / (classes * (classes - 1.0) / 2.0)
    of_pairs = ((shared * (shared - 1.0) / 2.0).sum() - by_chance) / (pairs.sum() - by_chance)
    return float((of_classes + of_pairs) / 2.0)
