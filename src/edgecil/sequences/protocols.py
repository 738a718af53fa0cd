"""Protocols: named, labelled lists of the sequences to run a method on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import count, islice
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from edgecil.errors import UsageError
from edgecil.io.language_model import Conversation, LanguageModel
from edgecil.registry import Registry
from edgecil.sequences.counting import count_text
from edgecil.sequences.generators import get_generator
from edgecil.sequences.generators.optimal import Optimum, find_optimum
from edgecil.sequences.generators.random import seeded
from edgecil.sequences.generators.registry import Generator
from edgecil.sequences.latin import latin
from edgecil.sequences.objective import Objective
from edgecil.sequences.sequence import ClassSequence
from edgecil.sequences.space import SequenceSpace
from edgecil.similarity.matrix import Similarity

PAPER_SEEDS = (0, 42, 1993)
DEFAULT_BUDGET = 3
_MOST = 1_000_000
_OWN_STREAM = 0x6564676563696C


@dataclass(frozen=True)
class LabelledSequence:
    """One sequence of a protocol.

    Attributes:
        label: its name within the protocol: hard, median, easy, seed-42, latin-1, …
        sequence: the classes, task by task.
        optimum: the certificate, if the protocol gives one.
        transcript: the conversation with a language model, if there was one.
    """

    label: str
    sequence: ClassSequence
    optimum: Optimum | None = None
    transcript: Mapping[str, Any] | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Request:
    """The arguments of :func:`protocol`, checked."""

    name: str
    space: SequenceSpace
    similarity: Similarity | None
    budget: int | None
    order_seed: int | None
    objective: str | Objective | ArrayLike
    answered: Mapping[str, ClassSequence] = field(default_factory=dict)

    def rng(self) -> np.random.Generator:
        """Return a random stream that differs from every seed of the random protocol."""
        return np.random.default_rng([_OWN_STREAM, self.order_seed or 0])


@dataclass(frozen=True)
class Protocol:
    """A rule that chooses the sequences to run.

    Attributes:
        name: its name in :data:`PROTOCOLS`.
        build: request to labelled sequences, lazily.
        summary: one line for the list of protocols.
        needs_similarity: whether the choice depends on the similarity of the classes.
        asks_model: whether it asks a language model.
        objective: what it optimises, in place of the requested objective; None for most.
    """

    name: str
    build: Callable[[Request], Iterator[LabelledSequence]]
    summary: str
    needs_similarity: bool
    asks_model: bool = False
    objective: str | None = None


def protocol(
    name: str,
    space: SequenceSpace,
    *,
    similarity: Similarity | None = None,
    budget: int | None = None,
    order_seed: int | None = None,
    objective: str | Objective | ArrayLike = "adjacent",
    answered: Mapping[str, ClassSequence] | None = None,
) -> list[LabelledSequence]:
    """Return the sequences of a protocol, with their labels.

    Args:
        name: one of :data:`PROTOCOLS`.
        space: N classes and their task sizes.
        similarity: over the same N classes; only protocols with extreme sequences need it.
        budget: number of sequences L, 3 by default; `enumerate` takes all of Ω and no budget.
        order_seed: seed for choosing class orders. `random` uses the paper's seeds 0, 42, 1993
            (then 1, 2, …) unless a seed is given, and counts up from it otherwise.
        objective: what `optimal` optimises; `optimal-generalization` has its own.
        answered: earlier answers of a language model by label; it is not asked again for these.
    """
    chosen = PROTOCOLS[name]
    if chosen.needs_similarity and similarity is None:
        others = [other.name for other in PROTOCOLS.values() if not other.needs_similarity]
        raise UsageError(
            f"Protocol {chosen.name!r} requires a similarity between the classes; give one, or use "
            f"{' or '.join(others)}."
        )
    if budget is not None and budget < 1:
        raise UsageError(f"The 'budget' parameter must be an int >= 1. Got {budget} instead.")
    if budget is not None and budget > min(space.size, _MOST):
        if space.size > _MOST:
            raise UsageError(f"'budget' must be at most {_MOST}. Got {budget}.")
        raise UsageError(
            f"There are only {space.size} class orders, and 'budget' is {budget}; use at most "
            f"{space.size}, or the protocol 'enumerate', which takes each once."
        )
    if order_seed is not None and order_seed < 0:
        raise UsageError(
            f"The 'order_seed' parameter must be an int >= 0. Got {order_seed} instead."
        )
    optimised = chosen.objective or objective
    request = Request(chosen.name, space, similarity, budget, order_seed, optimised, answered or {})
    return list(chosen.build(request))


def describe_duplicates(name: str, runs: Iterable[tuple[str, ClassSequence]]) -> str | None:
    """Return one sentence if several labels of a protocol stand for the same sequence, else None.

    >>> one, other = ClassSequence([[0], [1]]), ClassSequence([[1], [0]])
    >>> describe_duplicates("random", [("seed-0", one), ("seed-42", one), ("seed-1993", other)])
    'The 3 sequences of random have 2 different orders: seed-0 and seed-42 are the same.'
    """
    labels: dict[ClassSequence, list[str]] = {}
    for label, sequence in runs:
        labels.setdefault(sequence, []).append(label)
    same = [" and ".join(group) for group in labels.values() if len(group) > 1]
    if not same:
        return None
    total = sum(map(len, labels.values()))
    orders = "one order" if len(labels) == 1 else f"{len(labels)} different orders"
    others = "1 other order" if len(same) == 2 else f"{len(same) - 1} other orders"
    more = (
        f"; {others} also occur{'s' if len(same) == 2 else ''} more than once" if same[1:] else ""
    )
    return f"The {total} sequences of {name} have {orders}: {same[0]} are the same{more}."


def all_duplicates(sequences: Mapping[str, Iterable[LabelledSequence]]) -> dict[str, str]:
    """Return the sentence of :func:`describe_duplicates` for each protocol that has one."""
    sentences = {
        name: describe_duplicates(name, ((run.label, run.sequence) for run in runs))
        for name, runs in sequences.items()
    }
    return {name: sentence for name, sentence in sentences.items() if sentence is not None}


def _random(request: Request, *, legacy: bool) -> Iterator[LabelledSequence]:
    further = (seed for seed in count(1) if seed not in PAPER_SEEDS)
    seeds = iter([*PAPER_SEEDS, *islice(further, request.budget or 0)])
    if request.order_seed is not None:
        seeds = count(request.order_seed)
    for seed in islice(seeds, request.budget or DEFAULT_BUDGET):
        yield LabelledSequence(f"seed-{seed}", seeded(request.space, seed, legacy=legacy))


def _extremes(request: Request, *, generator: str) -> Iterator[LabelledSequence]:
    """Hard, then random ones up to the budget (called median if there is only one), then easy."""
    budget = request.budget or DEFAULT_BUDGET
    if budget < 2:
        raise UsageError(
            f"Protocol {request.name!r} has two extremes and requires a 'budget' >= 2. Got "
            f"{budget} instead."
        )
    rng = request.rng()
    hard, easy = (_extreme(request, generator, goal, rng) for goal in ("hard", "easy"))
    between = _unseen(request.space, {hard.sequence, easy.sequence}, rng)
    labels = ["median"] if budget == 3 else [f"random-{index + 1}" for index in range(budget - 2)]
    yield hard
    for label in labels:
        yield LabelledSequence(label, next(between))
    yield easy


def _edge_released(request: Request) -> Iterator[LabelledSequence]:
    """Yield the published code's three runs, in its order: the third is the first of `random`."""
    if request.budget not in (None, DEFAULT_BUDGET):
        raise UsageError(
            f"Protocol 'edge-released' has exactly 3 sequences. Got a 'budget' of {request.budget}."
        )
    rng = request.rng()
    for goal in ("hard", "easy"):
        yield _extreme(request, "edge-released", goal, rng)
    yield LabelledSequence("median", seeded(request.space, PAPER_SEEDS[0]))


def _extreme(
    request: Request, generator: str, goal: str, rng: np.random.Generator
) -> LabelledSequence:
    assert request.similarity is not None
    if generator == "optimal":
        optimum = find_optimum(
            request.similarity, request.space, goal, objective=request.objective, rng=rng
        )
        return LabelledSequence(goal, optimum.sequence, optimum)
    build = get_generator(generator, goal)
    if build.asks_model:
        return _ask(request, build, rng)
    return LabelledSequence(goal, build(request.similarity, request.space, rng))


def _ask(request: Request, build: Generator, rng: np.random.Generator) -> LabelledSequence:
    """Return a language model's answer with the conversation, or the answer it gave earlier."""
    answered = request.answered.get(build.goal)
    if answered is not None and answered in request.space:
        return LabelledSequence(build.goal, answered)
    assert request.similarity is not None
    conversation = Conversation(LanguageModel.from_environment())
    sequence = build(request.similarity, request.space, rng, conversation=conversation)
    return LabelledSequence(build.goal, sequence, transcript=conversation.record())


def _unseen(
    space: SequenceSpace, taken: set[ClassSequence], rng: np.random.Generator
) -> Iterator[ClassSequence]:
    """Yield random sequences without repeats, extremes, and sequences of the random protocol.

    In a space too small for that, only the extremes are avoided, then nothing.
    """
    paper = {seeded(space, seed, legacy=legacy) for seed in PAPER_SEEDS for legacy in (False, True)}
    avoid = taken | paper
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


def _enumerate(request: Request) -> Iterator[LabelledSequence]:
    if request.space.size > _MOST:
        raise UsageError(
            f"The space has {count_text(request.space.size)} sequences, too many to enumerate; "
            "use fewer classes or another protocol."
        )
    if request.budget is not None:
        raise UsageError(
            "Protocol 'enumerate' runs every sequence and has no 'budget'; leave it out."
        )
    for index, sequence in enumerate(request.space.enumerate()):
        yield LabelledSequence(f"all-{index + 1}", sequence)


def _latin(request: Request) -> Iterator[LabelledSequence]:
    sequences = latin(request.space, request.budget or DEFAULT_BUDGET, request.rng())
    for index, sequence in enumerate(sequences):
        yield LabelledSequence(f"latin-{index + 1}", sequence)


PROTOCOLS: Registry[Protocol] = Registry("protocol")
"""Every protocol by name."""

for _protocol in (
    Protocol(
        "latin",
        _latin,
        "every class takes all positions equally often, with changing neighbours",
        needs_similarity=False,
    ),
    Protocol(
        "random",
        partial(_random, legacy=False),
        "uniformly random orders (RS)",
        needs_similarity=False,
    ),
    Protocol(
        "random-legacy",
        partial(_random, legacy=True),
        "uniformly random orders from numpy.random.seed, as PyCIL and PILOT draw them",
        needs_similarity=False,
    ),
    Protocol(
        "edge",
        partial(_extremes, generator="edge"),
        "the paper's EDGE: hard, median, easy; a larger budget adds random orders",
        needs_similarity=True,
    ),
    Protocol(
        "edge-printed",
        partial(_extremes, generator="edge-printed"),
        "the sequences of the paper's Algorithms 1 and 2 as printed, and a median",
        needs_similarity=True,
    ),
    Protocol(
        "edge-released",
        _edge_released,
        "the orders of the EDGE authors' published code, which departs from the paper",
        needs_similarity=True,
    ),
    Protocol(
        "optimal",
        partial(_extremes, generator="optimal"),
        "both extremes of an objective, with a certificate, and a median",
        needs_similarity=True,
    ),
    Protocol(
        "optimal-generalization",
        partial(_extremes, generator="optimal"),
        "the same for the objective 'generalization', so that both can be in one experiment",
        needs_similarity=True,
        objective="generalization",
    ),
    Protocol("enumerate", _enumerate, "every sequence: the truth", needs_similarity=False),
    Protocol(
        "adversarial",
        partial(_extremes, generator="adversarial"),
        "greedy walks over the classes (AS), and a median",
        needs_similarity=True,
    ),
    Protocol(
        "maxcover",
        partial(_extremes, generator="maxcover"),
        "the extremes of a covering set of random sequences (MS), and a median",
        needs_similarity=True,
    ),
    Protocol(
        "llm-1",
        partial(_extremes, generator="llm-1"),
        "a language model's hard and easy sequence, and a median",
        needs_similarity=True,
        asks_model=True,
    ),
    Protocol(
        "llm-5",
        partial(_extremes, generator="llm-5"),
        "the same after four rounds of feedback on S",
        needs_similarity=True,
        asks_model=True,
    ),
):
    PROTOCOLS.add(_protocol.name, _protocol)
