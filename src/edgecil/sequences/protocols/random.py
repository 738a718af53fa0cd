"""Uniformly random sequences (RS), from either of NumPy's streams, and all sequences."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain, count, islice

import numpy as np

from edgecil.errors import UsageError
from edgecil.sequences.protocols.protocol import MOST_SEQUENCES, LabelledSequence, Protocol, Request
from edgecil.sequences.sequence import ClassSequence
from edgecil.sequences.space import SequenceSpace, count_text

PAPER_SEEDS = (0, 42, 1993)


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
        raise UsageError(f"`seed` must be 0 or more and below {limit}. Got {seed}.")
    stream = np.random.RandomState(seed) if legacy else np.random.default_rng(seed)
    return ClassSequence.from_order(stream.permutation(space.classes), space.sizes)


class Random(Protocol):
    """One sequence per seed: the paper's 0, 42 and 1993, then 1, 2, …, or from the user's seed on.

    Args:
        name: of the protocol.
        summary: one line.
        legacy: use NumPy's legacy stream, see :func:`seeded`.
        every_seed: take every seed, also where two give the same order; else a seed whose order was
            drawn before is left out.
    """

    constructed = ()
    calibration = "random"

    def __init__(
        self, name: str, summary: str, *, legacy: bool = False, every_seed: bool = False
    ) -> None:
        self.name, self.summary = name, summary
        self._legacy, self._every_seed = legacy, every_seed

    def objection(self, runs: Sequence[LabelledSequence]) -> str | None:
        """Object to sequences that are much more alike than random draws."""
        sequences = {run.sequence for run in runs}
        if len(sequences) < 3 or len(runs[0].sequence) < 2:
            return None
        ratio, error = unevenness(sequences)
        if ratio <= 1.0 + 6.0 * error:
            return None
        return "classes keep their positions far more often than in random orders"

    def choose(self, request: Request) -> Iterator[LabelledSequence]:
        """Return one sequence per seed; the label names the seed."""
        return islice(self._endless(request), request.budget)

    def _endless(self, request: Request) -> Iterator[LabelledSequence]:
        further = (seed for seed in count(1) if seed not in PAPER_SEEDS)
        seeds: Iterable[int] = chain(PAPER_SEEDS, further)
        if request.order_seed is not None:
            seeds = count(request.order_seed)
        seen: set[ClassSequence] = set()
        for seed in seeds:
            sequence = seeded(request.space, seed, legacy=self._legacy)
            if self._every_seed or sequence not in seen or len(seen) >= request.space.size:
                seen.add(sequence)
                yield LabelledSequence(f"seed-{seed}", sequence)


def unevenness(sequences: Collection[ClassSequence]) -> tuple[float, float]:
    """Return how unevenly classes visit the positions over n orders of two tasks or more.

    It is the chi-square statistic of the numbers of visits over its mean: 1 on average over random
    orders, 0 if each class visits all positions in proportion to their sizes. The second number is
    its standard deviation over random orders.
    """
    first = next(iter(sequences))
    orders = np.array([sequence.sorted_order for sequence in sequences])  # (n, N)
    classes = np.sort(orders[0])
    rows = np.searchsorted(classes, orders)
    positions = np.repeat(np.arange(len(first)), first.sizes)
    cells = rows * len(first) + positions
    visits = np.bincount(cells.ravel(), minlength=len(classes) * len(first))
    visits = visits.reshape(len(classes), len(first))
    expected = len(sequences) * np.array(first.sizes) / len(classes)
    freedom = len(classes) * (len(first) - 1)
    return float(((visits - expected) ** 2 / expected).sum()) / freedom, (2.0 / freedom) ** 0.5


class Enumerate(Protocol):
    """All of Ω in a fixed order: complete it is the truth, incomplete it is not a random sample."""

    name = "enumerate"
    summary = "every sequence: the truth"
    exhaustive = True
    calibration = Random.calibration  # all orders are as representative as random ones

    def check_budget(self, budget: int | None, space: SequenceSpace) -> int:
        """Return the size of the space."""
        if space.size > MOST_SEQUENCES:
            raise UsageError(
                f"The space has {count_text(space.size)} sequences, too many to enumerate; "
                "use fewer classes or another protocol."
            )
        if budget is not None:
            raise UsageError(
                f"Protocol {self.name!r} runs every sequence and has no `budget`; leave it out."
            )
        return space.size

    def choose(self, request: Request) -> Iterator[LabelledSequence]:
        """Yield every sequence."""
        for index, sequence in enumerate(request.space.enumerate()):
            yield LabelledSequence(f"all-{index + 1}", sequence)


RANDOM = Random("random", "uniformly random orders")
RS = Random(
    "rs",
    "the paper's random sampling: seeds 0, 42 and 1993, also where two give one order",
    every_seed=True,
)
RANDOM_LEGACY = Random(
    "random-legacy",
    "uniformly random orders from numpy.random.seed, as PyCIL and PILOT draw them",
    legacy=True,
    every_seed=True,
)
ENUMERATE = Enumerate()
