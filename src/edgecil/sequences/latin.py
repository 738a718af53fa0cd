"""Latin sequences: every class visits the positions evenly and shares tasks with new partners.

They need no similarity. Over L sequences a class is at a position with m of the N places either
⌊Lm/N⌋ or ⌈Lm/N⌉ times; over K sequences of equal tasks, exactly once. Among such designs, annealing
looks for one in which classes share a task with as many different others as possible. From six
sequences on, partners in the first and in the last task count once more, so that these two tasks,
which influence accuracies most, differ from sequence to sequence. In small spaces two sequences
with the same tasks in another order count as near repeats, because their accuracies are similar;
a design has as few of them as possible.
"""

from __future__ import annotations

import math
from collections import Counter

import numpy as np

from edgecil.errors import UsageError
from edgecil.io.arrays import Floats, Ints
from edgecil.sequences.inner_loops import fast
from edgecil.sequences.latin_kernels import change_partners
from edgecil.sequences.sequence import ClassSequence
from edgecil.sequences.space import SequenceSpace

_MOVES_PER_PLACE = 400
_MOVES = 200_000
_SHUFFLES_PER_PLACE = 8
_COUNT_MEETINGS_UP_TO = 4000
_SEPARATIONS = 500
_VARY_ENDS_FROM = 6
_VARY_ENDS_UP_TO = 1000
_TOGETHER = 1000
_PART = 200


def latin(space: SequenceSpace, budget: int, rng: np.random.Generator) -> list[ClassSequence]:
    """`budget` sequences with balanced positions and changing partners, for any task sizes.

    No sequence occurs twice while the space has others; of more than 1,000, a few may. Beyond 4,000
    classes partners change at random instead of as much as possible; beyond 1,000 the first and
    last task do not count more.
    """
    if budget < 1:
        raise UsageError(f"The 'budget' parameter must be an int >= 1. Got {budget} instead.")
    rounds, rest = divmod(budget, space.size)
    whole = list(space.enumerate()) * rounds if rounds else []
    if 2 * rest > space.size:
        left_out = set(latin(space, space.size - rest, rng))
        others = [sequence for sequence in space.enumerate() if sequence not in left_out]
        return whole + [others[place] for place in rng.permutation(rest)]
    parts = _parts(rest, space)
    place = np.concatenate([_design(space, runs, rng, _MOVES // len(parts)) for runs in parts])
    _separate(place, space, rng)
    return whole + [
        ClassSequence(np.flatnonzero(row == task).tolist() for task in range(space.tasks))
        for row in place
    ]


def _parts(runs: int, space: SequenceSpace) -> list[int]:
    """Divide very many runs, because the time of a design grows with the square of its runs.

    The parts but the last are multiples of N, so that each is balanced exactly.
    """
    part = max(1, _PART // space.classes) * space.classes
    if runs <= max(_TOGETHER, part) or space.size < 100 * runs:
        return [runs]
    count, last = divmod(runs, part)
    return [part] * count + [last] * (last > 0)


def _design(space: SequenceSpace, runs: int, rng: np.random.Generator, most_moves: int) -> Ints:
    """Return positions, shape (L, N), of one design."""
    place = _evenly_shifted(space, runs, rng)
    if space.tasks > 1 and runs > 1:
        _change_partners(place, space, rng, most_moves)
    return place


def _evenly_shifted(space: SequenceSpace, runs: int, rng: np.random.Generator) -> Ints:
    """Return positions, shape (L, N): classes sit in a circle that turns by N/L from run to run.

    An arc of m seats then passes any class ⌊Lm/N⌋ or ⌈Lm/N⌉ times, whatever the sizes.
    """
    N = space.classes
    seat = rng.permutation(N)
    turn = np.arange(runs) * N // max(runs, 1)
    position = np.repeat(np.arange(space.tasks), space.sizes)
    place: Ints = position[(seat[None, :] + turn[:, None]) % N]
    return place


def _groupings(space: SequenceSpace) -> int:
    """Return the number of ways to divide the classes into tasks, in whatever order these come."""
    alike = Counter(space.sizes).values()
    return space.size // math.prod(math.factorial(count) for count in alike)


def _change_partners(
    place: Ints, space: SequenceSpace, rng: np.random.Generator, most_moves: int
) -> None:
    """Break the pattern of the start at random, then let classes meet as many as possible."""
    runs, classes = place.shape
    _move(place, space, rng, np.ones(_SHUFFLES_PER_PLACE * runs * classes), count=False)
    if classes <= _COUNT_MEETINGS_UP_TO:
        moves = min(_MOVES_PER_PLACE * runs * classes, most_moves)
        ways = _groupings(space)
        near = ways if ways <= runs**2 else 0  # else no grouping is likely to recur
        _move(place, space, rng, np.geomspace(2.0, 0.05, moves), count=True, groupings=near)


def _separate(place: Ints, space: SequenceSpace, rng: np.random.Generator) -> None:
    """Change runs that came out alike, as long as that leads to more different ones."""
    for _ in range(_SEPARATIONS):
        different = len(np.unique(place, axis=0))
        if different == len(place):
            return
        changed = place.copy()
        _move(changed, space, rng, np.ones(1), count=False)
        if len(np.unique(changed, axis=0)) >= different:
            place[:] = changed


def _move(
    place: Ints,
    space: SequenceSpace,
    rng: np.random.Generator,
    temperatures: Floats,
    *,
    count: bool,
    groupings: int = 0,
) -> None:
    runs, classes = place.shape
    sizes = np.array(space.sizes)
    low, high = runs * sizes // classes, -(-runs * sizes // classes)
    seed = int(rng.integers(2**32))
    ends = runs >= _VARY_ENDS_FROM and classes <= _VARY_ENDS_UP_TO
    change = fast(change_partners, len(temperatures) * runs * space.classes / space.tasks)
    # In Python the inner loop draws from NumPy's global state, which is not ours to change.
    state = np.random.get_state()
    try:
        change(place, sizes, low, high, seed, temperatures, count, ends, groupings)
    finally:
        np.random.set_state(state)
