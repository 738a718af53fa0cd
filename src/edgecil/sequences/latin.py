"""Latin sequences: runs in which every class visits the positions evenly, with new partners.

Needs no similarity. Over L runs a class stands at a position with m of the N places either
⌊Lm/N⌋ or ⌈Lm/N⌉ times; over K runs of equal tasks, exactly once. Among such designs, the one
returned makes classes share a task with as many different others as annealing finds.
"""

from __future__ import annotations

import numpy as np

from edgecil.errors import UsageError
from edgecil.sequences.sequence import ClassSequence
from edgecil.sequences.space import SequenceSpace
from edgecil.similarity.matrix import Ints

_MOVES_PER_PLACE = 400
_MOVES = 200_000


def latin(space: SequenceSpace, runs: int, rng: np.random.Generator) -> list[ClassSequence]:
    """`runs` sequences with balanced positions and changing partners, for any task sizes."""
    if runs < 1:
        raise UsageError(f"The 'runs' parameter must be an int >= 1. Got {runs} instead.")
    place = _evenly_shifted(space, runs, rng)
    if space.tasks > 1 and runs > 1:
        _change_partners(place, space, rng)
    return [
        ClassSequence(np.flatnonzero(row == task).tolist() for task in range(space.tasks))
        for row in place
    ]


def _evenly_shifted(space: SequenceSpace, runs: int, rng: np.random.Generator) -> Ints:
    """Positions, shape (L, N): classes sit in a circle that turns by N/L from run to run.

    An arc of m seats then passes any class ⌊Lm/N⌋ or ⌈Lm/N⌉ times, whatever the sizes.
    """
    N = space.classes
    seat = rng.permutation(N)
    turn = np.arange(runs) * N // runs
    position = np.repeat(np.arange(space.tasks), space.sizes)
    place: Ints = position[(seat[None, :] + turn[:, None]) % N]
    return place


def _change_partners(place: Ints, space: SequenceSpace, rng: np.random.Generator) -> None:
    from edgecil.sequences.latin_kernels import change_partners

    runs, classes = place.shape
    visits = runs * np.array(space.sizes)
    moves = min(_MOVES_PER_PLACE * runs * classes, _MOVES)
    change_partners(
        place,
        np.array(space.sizes),
        visits // classes,
        -(-visits // classes),
        int(rng.integers(2**32)),
        np.geomspace(2.0, 0.05, moves),
    )
