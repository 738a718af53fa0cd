"""Adversarial sampling (the paper's AS baseline): a greedy walk over the classes.

Start from a class; always add the class that is the most dissimilar from all chosen so far. The
easy twin adds the most similar one. The resulting order is cut into tasks.
"""

from __future__ import annotations

import numpy as np

from edgecil.sequences.generators.registry import MOST_CLASSES, register
from edgecil.sequences.sequence import ClassSequence
from edgecil.sequences.space import SequenceSpace
from edgecil.similarity.matrix import Similarity


@register(
    "adversarial",
    "hard",
    "from a seed class, always add the least similar class (AS)",
    most_classes=MOST_CLASSES,
)
def adversarial_hard(
    similarity: Similarity, space: SequenceSpace, rng: np.random.Generator
) -> ClassSequence:
    """Return a walk to ever less similar classes."""
    return _walk(similarity, space, rng, sign=1.0)


@register(
    "adversarial",
    "easy",
    "from a seed class, always add the most similar class",
    most_classes=MOST_CLASSES,
)
def adversarial_easy(
    similarity: Similarity, space: SequenceSpace, rng: np.random.Generator
) -> ClassSequence:
    """Return a walk to ever more similar classes."""
    return _walk(similarity, space, rng, sign=-1.0)


def _walk(
    similarity: Similarity, space: SequenceSpace, rng: np.random.Generator, sign: float
) -> ClassSequence:
    values = similarity.submatrix(np.arange(space.classes))
    order = [int(rng.integers(space.classes))]
    to_chosen = np.zeros(space.classes)
    while len(order) < space.classes:
        to_chosen += sign * values[order[-1]]
        to_chosen[order[-1]] = np.inf
        order.append(int(np.argmin(to_chosen)))
    return ClassSequence.from_order(order, space.sizes)
