"""The paper's baselines (AS, MS, LLM-1, LLM-5) and the orders of its authors' code."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from edgecil.paper import baselines, edge_released, llm  # noqa: F401  (generators)
from edgecil.paper.language_model import Conversation, LanguageModel
from edgecil.sequences.generators import get_generator
from edgecil.sequences.generators.random import seeded
from edgecil.sequences.protocols.extremes import GOALS, PAPER_ENCODER, Extremes
from edgecil.sequences.protocols.protocol import LabelledSequence, Request
from edgecil.sequences.protocols.random import PAPER_SEEDS


class Released(Extremes):
    """The published code's three runs, in its order: the third is the first of `random`."""

    constructed = (*GOALS, "median")  # the median, too, is the same in every draw
    least_budget = most_budget = 3

    def choose(self, request: Request) -> Iterator[LabelledSequence]:
        """Yield hard, easy and median."""
        rng = request.rng()
        for goal in GOALS:
            yield self.extreme(goal, request, rng)
        yield LabelledSequence("median", seeded(request.space, PAPER_SEEDS[0]))


class Asked(Extremes):
    """Extremes that a language model proposes, with the conversation."""

    asks_model = True

    def extreme(self, goal: str, request: Request, rng: np.random.Generator) -> LabelledSequence:
        """Return the model's answer with the conversation, or the answer it gave earlier."""
        answered = request.answered.get(goal)
        if answered is not None and answered in request.space:
            return LabelledSequence(goal, answered)
        assert request.similarity is not None
        conversation = Conversation(LanguageModel.from_environment())
        sequence = get_generator(self.name, goal)(
            request.similarity, request.space, rng, conversation=conversation
        )
        return LabelledSequence(goal, sequence, transcript=conversation.record())


EDGE_RELEASED = Released(
    "edge-released",
    "the orders of the EDGE authors' published code, which departs from the paper",
    encoder=PAPER_ENCODER,
)
ADVERSARIAL = Extremes(
    "adversarial", "greedy walks over the classes (AS), and a median", seeded=True
)
MAXCOVER = Extremes(
    "maxcover", "the extremes of a covering set of random sequences (MS), and a median", seeded=True
)
LLM_1 = Asked("llm-1", "a language model's hard and easy sequence, and a median")
LLM_5 = Asked("llm-5", "the same after four rounds of feedback on S")
