"""The paper's baselines (AS, MS, LLM-1, LLM-5) and the orders of its authors' code."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from edgecil.paper.edge_released import released_sequence
from edgecil.paper.language_model import Conversation, LanguageModel
from edgecil.paper.llm import propose
from edgecil.sequences import canonical
from edgecil.sequences.protocols.extremes import GOALS, PAPER_ENCODER, Extremes
from edgecil.sequences.protocols.protocol import LabelledSequence, Request
from edgecil.sequences.protocols.random import PAPER_SEEDS, seeded
from edgecil.sequences.scores import score
from edgecil.sequences.sequence import ClassSequence
from edgecil.sequences.space import SequenceSpace
from edgecil.similarity.matrix import Similarity

POOL = 200
COVER = 20
_SIGNS = {"hard": 1.0, "easy": -1.0}


def greedy_walk(
    similarity: Similarity, space: SequenceSpace, goal: str, rng: np.random.Generator
) -> ClassSequence:
    """Start from a random class; add the least (or most) similar one to all chosen so far."""
    order = [int(rng.integers(space.classes))]
    to_chosen = np.zeros(space.classes)
    while len(order) < space.classes:
        to_chosen += _SIGNS[goal] * similarity.values[order[-1]]
        to_chosen[order[-1]] = np.inf
        order.append(int(np.argmin(to_chosen)))
    return ClassSequence.from_order(order, space.sizes)


def covering_extreme(
    similarity: Similarity, space: SequenceSpace, goal: str, rng: np.random.Generator
) -> ClassSequence:
    """Return the covering sequence with the lowest (or highest) S."""

    def signed_score(sequence: ClassSequence) -> float:
        return _SIGNS[goal] * score(similarity, sequence)

    return min(covering_sequences(space, COVER, rng), key=signed_score)


def covering_sequences(
    space: SequenceSpace, count: int, rng: np.random.Generator
) -> list[ClassSequence]:
    """Return `count` sequences of a random pool, each as far as possible from the earlier ones.

    The distance of two sequences is the mean difference between their classes' task indices.
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


class Released(Extremes):
    """The published code's three runs, in its order: the third is the first of `rs`."""

    name = "edge-released"
    summary = "the orders of the EDGE authors' published code, which departs from the paper"
    encoder = PAPER_ENCODER
    constructed = (*GOALS, "median")  # the median, too, is the same in every draw
    least_budget = most_budget = 3

    def choose(self, request: Request) -> Iterator[LabelledSequence]:
        """Yield hard, easy and median."""
        rng = request.rng()
        for goal in GOALS:
            yield self.extreme(goal, request, rng)
        yield LabelledSequence("median", seeded(request.space, PAPER_SEEDS[0]))

    def construct(
        self, similarity: Similarity, space: SequenceSpace, goal: str, rng: np.random.Generator
    ) -> ClassSequence:
        """Return an order that depends on how the classes are numbered, as the authors' does."""
        return released_sequence(similarity, space, goal)


class Adversarial(Extremes):
    """A walk from a random class to the class least (or most) similar to all chosen ones."""

    name = "adversarial"
    summary = "greedy walks over the classes (AS), and a median"
    seeded = True
    build = staticmethod(greedy_walk)


class MaxCover(Extremes):
    """The covering sequences with the lowest and the highest S."""

    name = "maxcover"
    summary = "the extremes of a covering set of random sequences (MS), and a median"
    seeded = True
    build = staticmethod(covering_extreme)


class Asked(Extremes):
    """Extremes that a language model proposes, with the conversation.

    Args:
        name: of the protocol.
        summary: one line.
        rounds: number of answers, of which the last one counts.
    """

    asks_model = True

    def __init__(self, name: str, summary: str, rounds: int) -> None:
        self.name = name
        self.summary = summary
        self._rounds = rounds

    def extreme(self, goal: str, request: Request, rng: np.random.Generator) -> LabelledSequence:
        """Return the model's answer with the conversation, or the answer it gave earlier."""
        answered = request.answered.get(goal)
        if answered is not None and answered in request.space:
            return LabelledSequence(goal, answered)
        assert request.similarity is not None
        conversation = Conversation(LanguageModel.from_environment())

        def build(renumbered: Similarity) -> ClassSequence:
            return propose(renumbered, request.space, goal, self._rounds, conversation)

        sequence = canonical.construct(
            request.similarity, request.space, build, keep_arrangement=True
        )
        return LabelledSequence(goal, sequence, transcript=conversation.record())


EDGE_RELEASED = Released()
ADVERSARIAL = Adversarial()
MAXCOVER = MaxCover()
LLM_1 = Asked("llm-1", "a language model's hard and easy sequence, and a median", 1)
LLM_5 = Asked("llm-5", "the same after four rounds of feedback on S", 5)
