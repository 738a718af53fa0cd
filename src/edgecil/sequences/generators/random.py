"""Random sequences: the field's usual protocol, in both NumPy streams."""

from __future__ import annotations

import numpy as np

from edgecil.errors import UsageError
from edgecil.sequences.generators.registry import register
from edgecil.sequences.sequence import ClassSequence
from edgecil.sequences.space import SequenceSpace
from edgecil.similarity.matrix import Similarity


@register("random", "random", "a uniform draw: numpy.random.default_rng(seed).permutation")
def uniform(
    similarity: Similarity, space: SequenceSpace, rng: np.random.Generator
) -> ClassSequence:
    """Return a uniformly random sequence."""
    return ClassSequence.from_order(rng.permutation(space.classes), space.sizes)


@register("random-legacy", "random", "the same from numpy.random.seed(seed), as PyCIL draws it")
def legacy(similarity: Similarity, space: SequenceSpace, rng: np.random.Generator) -> ClassSequence:
    """Draw a uniformly random sequence from the legacy stream, seeded by the generator."""
    return seeded(space, int(rng.integers(2**32)), legacy=True)


def seeded(space: SequenceSpace, seed: int, *, legacy: bool = False) -> ClassSequence:
    """Return the sequence that a seed stands for.

    Args:
        space: N classes and their task sizes.
        seed: as people quote it (0, 42, 1993).
        legacy: the permutation after `numpy.random.seed(seed)`, which PyCIL, PILOT and FACIL users
            know, instead of `numpy.random.default_rng(seed).permutation`.
    """
    if not 0 <= seed < (2**32 if legacy else 2**63):
        limit = "2^32, which is all that numpy.random.seed takes" if legacy else "2^63"
        raise UsageError(f"The 'seed' parameter must be 0 or more and below {limit}. Got {seed}.")
    stream = np.random.RandomState(seed) if legacy else np.random.default_rng(seed)
    return ClassSequence.from_order(stream.permutation(space.classes), space.sizes)
