"""Latin designs: every class visits the positions evenly and shares tasks with new partners.

They need no similarity. Over L sequences a class is at a position with m of the N places either
⌊Lm/N⌋ or ⌈Lm/N⌉ times; over K sequences of equal tasks, exactly once. Exchanges between sequences
keep that. An exchange is made if classes then share tasks, above all the first and the last one,
with other classes more evenly.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from edgecil.io.arrays import Floats, Ints
from edgecil.sequences.protocols.protocol import LabelledSequence, Protocol, Request
from edgecil.sequences.protocols.random import unevenness
from edgecil.sequences.sequence import ClassSequence
from edgecil.sequences.space import SequenceSpace

_SHUFFLES_PER_RUN = 4
_MOST_TRIES = 1000
_WORK = 3_000_000  # pairs of classes that are compared in all tries together


class Latin(Protocol):
    """Random sequences that are balanced against each other.

    Each sequence is a uniform draw, but all are drawn together: a class avoids the positions that
    it has in the others, so that the mean over a design varies less than over independent draws.
    """

    name = "latin"
    summary = "every class takes all positions equally often, with changing neighbours"
    constructed = ()
    joint = True
    calibration = "latin"

    def choose(self, request: Request) -> Iterator[LabelledSequence]:
        """Yield the sequences of one design."""
        sequences = latin(request.space, request.budget, request.rng())
        for index, sequence in enumerate(sequences):
            yield LabelledSequence(f"latin-{index + 1}", sequence)

    def design(
        self, space: SequenceSpace, budget: int, rng: np.random.Generator
    ) -> list[ClassSequence]:
        """Return the sequences of one design."""
        return latin(space, budget, rng)

    def objection(self, runs: Sequence[LabelledSequence]) -> str | None:
        """Object to positions that are as uneven as in independent draws."""
        sequences = {run.sequence for run in runs}
        tasks = len(runs[0].sequence)
        if len(sequences) < 2 or tasks < 2:
            return None
        even = max(0.0, (tasks - len(sequences)) / (tasks - 1.0))  # what a design has
        if unevenness(sequences)[0] <= (1.0 + even) / 2.0:
            return None
        return "classes do not visit the positions evenly"


def latin(space: SequenceSpace, budget: int, rng: np.random.Generator) -> list[ClassSequence]:
    """Return `budget` sequences with balanced positions and changing partners, of any task sizes.

    No sequence occurs twice while the space has others; of more than 1,000, a few may.
    """
    rounds, rest = divmod(budget, space.size)
    sequences = list(space.enumerate()) * rounds if rounds else []
    if 2 * rest > space.size:
        left_out = set(latin(space, space.size - rest, rng))
        remaining = [sequence for sequence in space.enumerate() if sequence not in left_out]
        return sequences + [remaining[place] for place in rng.permutation(rest)]
    for task_of_class in _design(space, rest, rng):
        tasks = [np.flatnonzero(task_of_class == task).tolist() for task in range(space.tasks)]
        sequences.append(ClassSequence(tasks))
    return sequences


def _design(space: SequenceSpace, runs: int, rng: np.random.Generator) -> Ints:
    """Return the task of each class in each run, shape (L, N).

    The classes sit in a circle that turns by N/L from run to run: an arc of m seats then passes any
    class ⌊Lm/N⌋ or ⌈Lm/N⌉ times, whatever the sizes. Exchanges between runs change the partners.
    """
    seat = rng.permutation(space.classes)
    turn = np.arange(runs) * space.classes // max(runs, 1)
    position = np.repeat(np.arange(space.tasks), space.sizes)
    place: Ints = position[(seat + turn[:, None]) % space.classes]
    if runs < 2 or space.tasks < 2:
        return place
    share = runs * np.array(space.sizes) / space.classes
    limits = np.floor(share), np.ceil(share)
    for _ in range(_SHUFFLES_PER_RUN * runs):
        place = _exchange(place, rng)
    for _ in range(_SHUFFLES_PER_RUN * place.size):
        place = _swap(place, *limits, rng)
    for _ in range(_MOST_TRIES):
        _, kept = np.unique(place, axis=0, return_index=True)
        if len(kept) == runs:
            break
        again = np.delete(np.arange(runs), kept)  # runs that came before
        changed = _exchange(place, rng, run=int(again[0]))
        if len(np.unique(changed, axis=0)) >= len(kept):
            place = changed
    tries = min(_MOST_TRIES, _WORK // (runs * space.classes**2))
    cost = _repeats(place) if tries else (0, 0)
    for number in range(tries):
        changed = _exchange(place, rng) if number % 2 else _swap(place, *limits, rng)
        if changed is not place and (changed_cost := _repeats(changed)) <= cost:
            place, cost = changed, changed_cost
    return place


def _swap(place: Ints, low: Floats, high: Floats, rng: np.random.Generator) -> Ints:
    """Let two classes exchange their tasks in one run, if their visits stay within the limits."""
    run = rng.integers(len(place))
    first, second = rng.choice(place.shape[1], 2, replace=False)
    changed = place.copy()
    changed[run, [first, second]] = place[run, [second, first]]
    for class_ in (first, second):
        visits = np.bincount(changed[:, class_], minlength=len(low))
        if (visits < low).any() or (visits > high).any():
            return place
    return changed


def _exchange(place: Ints, rng: np.random.Generator, run: int | None = None) -> Ints:
    """Let some classes exchange their tasks in two runs, so that both runs keep their task sizes.

    Each class is an edge from its task in one run to its task in the other. Along a closed walk
    over edges, all classes may exchange their tasks.
    """
    place = place.copy()
    run = int(rng.integers(len(place))) if run is None else run
    other = (run + int(rng.integers(1, len(place)))) % len(place)
    leaving: dict[int, list[int]] = {}
    for class_ in rng.permutation(place.shape[1]).tolist():
        leaving.setdefault(int(place[run, class_]), []).append(class_)
    for start in leaving:
        while leaving[start]:
            walk: list[int] = []
            task = start
            while not walk or task != start:
                walk.append(leaving[task].pop())
                task = int(place[other, walk[-1]])
            if rng.random() < 0.5:
                place[run, walk], place[other, walk] = place[other, walk], place[run, walk]
    return place


def _repeats(place: Ints) -> tuple[int, int]:
    """Return the number of repeated runs, and the summed squares of meetings of two classes.

    Classes meet when they share a task; meetings in the first and in the last task count twice.
    """
    meets = place[:, :, None] == place[:, None, :]  # (L, N, N)
    is_at_end = (place == 0) | (place == place.max())
    meets_at_end = meets & is_at_end[:, :, None]
    squares = int(np.square(meets.sum(axis=0)).sum())
    squares_at_ends = int(np.square(meets_at_end.sum(axis=0)).sum())
    different_runs = {row.tobytes() for row in place}
    return len(place) - len(different_runs), squares + squares_at_ends


LATIN = Latin()
