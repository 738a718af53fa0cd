"""The paper's baselines: adversarial sampling (AS), and max-cover sampling (MS)."""

from __future__ import annotations

import numpy as np

from edgecil.sequences.generators.registry import MOST_CLASSES, Goal, register
from edgecil.sequences.profile import score
from edgecil.sequences.sequence import ClassSequence
from edgecil.sequences.space import SequenceSpace
from edgecil.similarity.matrix import Similarity

POOL = 200
COVER = 20
_EXTREMES: dict[Goal, tuple[str, str, float]] = {
    "hard": ("least", "lowest", 1.0),
    "easy": ("most", "highest", -1.0),
}


def _register(goal: Goal, similar: str, end: str, sign: float) -> None:
    @register(
        "adversarial",
        goal,
        f"from a seed class, always add the {similar} similar class (AS)",
        most_classes=MOST_CLASSES,
    )
    def walk(
        similarity: Similarity, space: SequenceSpace, rng: np.random.Generator
    ) -> ClassSequence:
        """Start from a class; add the one that is least (or most) similar to all chosen so far."""
        values = similarity.submatrix(np.arange(space.classes))
        order = [int(rng.integers(space.classes))]
        to_chosen = np.zeros(space.classes)
        while len(order) < space.classes:
            to_chosen += sign * values[order[-1]]
            to_chosen[order[-1]] = np.inf
            order.append(int(np.argmin(to_chosen)))
        return ClassSequence.from_order(order, space.sizes)

    about = f"{end} S of {COVER} sequences that cover a pool of {POOL} random ones (MS)"

    @register("maxcover", goal, about)
    def covering(
        similarity: Similarity, space: SequenceSpace, rng: np.random.Generator
    ) -> ClassSequence:
        """Return the covering sequence with the lowest (or highest) S."""
        return min(cover(space, COVER, rng), key=lambda one: sign * score(similarity, one))


for _goal, _words in _EXTREMES.items():
    _register(_goal, *_words)


def cover(space: SequenceSpace, count: int, rng: np.random.Generator) -> list[ClassSequence]:
    """`count` sequences of a random pool, each as far as possible from those before it.

    Two sequences are as far apart as their classes' task indices are, on average.
    """
    pool = space.sample(min(max(POOL, count), space.size), rng)
    places = np.array([sequence.task_of() for sequence in pool])
    chosen = [0]
    distance = np.full(len(pool), np.inf)
    while len(chosen) < min(count, len(pool)):
        distance = np.minimum(distance, np.abs(places - places[chosen[-1]]).mean(axis=1))
        distance[chosen] = -1.0
        chosen.append(int(np.argmax(distance)))
    return [pool[index] for index in chosen]
