"""Max-cover sampling (the paper's MS baseline): spread out over a pool of random sequences.

Of a random pool, keep the sequences that cover it best (farthest-first traversal), then take
those that rank lowest or highest in S.
"""

from __future__ import annotations

import numpy as np

from edgecil.sequences.generators.registry import register
from edgecil.sequences.profile import score
from edgecil.sequences.sequence import ClassSequence
from edgecil.sequences.space import SequenceSpace
from edgecil.similarity.matrix import Similarity

POOL = 200
COVER = 20


@register("maxcover", "hard", "lowest S of 20 sequences that cover a pool of 200 random ones (MS)")
def maxcover_hard(
    similarity: Similarity, space: SequenceSpace, rng: np.random.Generator
) -> ClassSequence:
    """Return the covering sequence with the lowest S."""
    return min(cover(space, COVER, rng), key=lambda sequence: score(similarity, sequence))


@register("maxcover", "easy", "highest S of 20 sequences that cover a pool of 200 random ones")
def maxcover_easy(
    similarity: Similarity, space: SequenceSpace, rng: np.random.Generator
) -> ClassSequence:
    """Return the covering sequence with the highest S."""
    return max(cover(space, COVER, rng), key=lambda sequence: score(similarity, sequence))


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
