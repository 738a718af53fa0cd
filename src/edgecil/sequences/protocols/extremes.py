"""Constructed sequences: a hard and an easy one (EDGE, `optimal`), and the two probes.

The constructions are imported where they are used: an analysis asks these protocols what their
orders may claim, and constructs none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from types import MappingProxyType

import numpy as np

from edgecil.sequences.objective import get_objective
from edgecil.sequences.protocols.protocol import LabelledSequence, Protocol, Request
from edgecil.sequences.protocols.random import PAPER_SEEDS, seeded
from edgecil.sequences.sequence import ClassSequence
from edgecil.sequences.space import SequenceSpace
from edgecil.similarity.matrix import Similarity

GOALS = ("hard", "easy")
PAPER_ENCODER = "clip-vit-b-16"
_LABELS = r"hard|easy|median|random-\d+"
Build = Callable[[Similarity, SequenceSpace, str, np.random.Generator], ClassSequence]


class Extremes(Protocol):
    """A hard and an easy sequence, and random ones up to the budget.

    A subclass sets `build`, which makes the hard or the easy sequence of classes in canonical
    order, or overrides :meth:`construct`.
    """

    build: Build

    constructed: tuple[str, ...] | None = GOALS
    needs_similarity = True
    least_budget = 2

    def choose(self, request: Request) -> Iterator[LabelledSequence]:
        """Yield hard, then random ones (called median if there is only one), then easy."""
        rng = request.rng()
        hard = self.extreme("hard", request, rng)
        easy = self.extreme("easy", request, rng)
        between = _unseen(request.space, {hard.sequence, easy.sequence}, rng)
        random_count = request.budget - len(GOALS)
        labels = [f"random-{index + 1}" for index in range(random_count)]
        if random_count == 1:
            labels = ["median"]
        yield hard
        for label in labels:
            yield LabelledSequence(label, next(between))
        yield easy

    def objection(self, runs: Sequence[LabelledSequence]) -> str | None:
        """Object to a label that the protocol does not give."""
        other_labels = [run.label for run in runs if not re.fullmatch(_LABELS, run.label)]
        return f"it calls none of them {other_labels[0]!r}" if other_labels else None

    def extreme(self, goal: str, request: Request, rng: np.random.Generator) -> LabelledSequence:
        """Return the hard or the easy sequence with its label."""
        assert request.similarity is not None
        sequence = self.construct(request.similarity, request.space, goal, rng)
        return LabelledSequence(goal, sequence)

    def construct(
        self, similarity: Similarity, space: SequenceSpace, goal: str, rng: np.random.Generator
    ) -> ClassSequence:
        """Return the hard or the easy sequence; the numbers of the classes do not matter."""
        from edgecil.sequences import canonical

        def build(renumbered: Similarity) -> ClassSequence:
            return self.build(renumbered, space, goal, rng)

        return canonical.construct(similarity, space, build)


class Edge(Extremes):
    """See :mod:`edgecil.sequences.edge`."""

    name = "edge"
    summary = "the paper's EDGE: hard, median, easy; a larger budget adds random orders"
    encoder = PAPER_ENCODER

    @staticmethod
    def build(
        similarity: Similarity, space: SequenceSpace, goal: str, rng: np.random.Generator
    ) -> ClassSequence:
        """Return the hard or the easy sequence of the paper's construction."""
        from edgecil.sequences.edge import edge_sequence

        return edge_sequence(similarity, space, goal, rng)


class Optimal(Extremes):
    """Both ends of an objective, each with a certificate; in large spaces found by annealing."""

    name = "optimal"
    summary = "both extremes of an objective, with a certificate, and a median"
    seeded = True
    objective = "adjacent"
    takes_objective = True

    def extreme(self, goal: str, request: Request, rng: np.random.Generator) -> LabelledSequence:
        """Return one end of the objective with its certificate."""
        from edgecil.sequences.optimal import find_optimum

        assert request.similarity is not None
        optimum = find_optimum(
            request.similarity, request.space, goal, objective=request.objective, rng=rng
        )
        return LabelledSequence(goal, optimum.sequence, optimum)


class Probes(Protocol):
    """Two orders that random ones hardly ever resemble: similar classes in one task, or in many.

    Both are ends of an objective that rewards similar classes in one task. Only the runs of a
    learner show which of them is harder for it. The search starts from fixed seeds, so that there
    is one pair of probes for a similarity and task sizes.

    Args:
        objective: `generalization` or `intra`; its maximum groups similar classes.
    """

    name = "probes"
    summary = "similar classes grouped into one task, and spread over the tasks"
    constructed = ("grouped", "spread")
    meanings = MappingProxyType(
        {
            "grouped": "when similar classes arrive together",
            "spread": "when they are spread over tasks",
        }
    )
    needs_similarity = by_inputs = True
    default_budget = least_budget = most_budget = 2

    def __init__(self, objective: str = "generalization") -> None:
        self.objective = objective

    def choose(self, request: Request) -> Iterator[LabelledSequence]:
        """Yield both ends, each with its certificate."""
        from edgecil.sequences.optimal import find_optimum

        assert request.similarity is not None
        objective = get_objective(request.objective, request.space)
        goals = GOALS if objective.hard == "max" else GOALS[::-1]
        for label, goal in zip(self.constructed, goals, strict=True):
            optimum = find_optimum(request.similarity, request.space, goal, objective=objective)
            yield LabelledSequence(label, optimum.sequence, optimum)


def _unseen(
    space: SequenceSpace, taken: set[ClassSequence], rng: np.random.Generator
) -> Iterator[ClassSequence]:
    """Yield random sequences without repeats, extremes, and sequences of the random protocol.

    In a space too small for that, only the extremes are avoided, then nothing.
    """
    paper_sequences = set()
    for seed in PAPER_SEEDS:
        paper_sequences |= {seeded(space, seed), seeded(space, seed, legacy=True)}
    avoid = taken | paper_sequences
    while True:
        if len(taken) >= space.size:
            avoid = set()
        elif len(avoid) >= space.size:
            avoid = set(taken)
        drawn = ClassSequence.from_order(rng.permutation(space.classes), space.sizes)
        if drawn not in avoid:
            taken.add(drawn)
            avoid.add(drawn)
            yield drawn


EDGE = Edge()
OPTIMAL = Optimal()
PROBES = Probes()
