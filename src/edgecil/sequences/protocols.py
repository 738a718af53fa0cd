"""Protocols: named, labelled lists of sequences to run a method on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import count, islice
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from edgecil.errors import UsageError, unknown
from edgecil.io.language_model import Conversation, LanguageModel
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
_ENUMERABLE = 1_000_000
_OWN_STREAM = 0x6564676563696C


@dataclass(frozen=True)
class LabelledSequence:
    """One run of a protocol.

    Attributes:
        label: what it is called: hard, median, easy, seed-42, latin-1, …
        sequence: the classes, task by task.
        optimum: the certificate, where the protocol gives one.
        transcript: of the conversation with a language model, where there was one.
    """

    label: str
    sequence: ClassSequence
    optimum: Optimum | None = None
    transcript: Mapping[str, Any] | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Request:
    """What a protocol is asked for; see :func:`protocol`."""

    space: SequenceSpace
    similarity: Similarity | None
    runs: int | None
    seed: int | None
    objective: str | Objective | ArrayLike
    answered: Mapping[str, ClassSequence] = field(default_factory=dict)

    def rng(self) -> np.random.Generator:
        """A stream of its own: no plain seed, so none of the random protocol's, leads to it."""
        return np.random.default_rng([_OWN_STREAM, self.seed or 0])


@dataclass(frozen=True)
class Protocol:
    """A way to choose the runs.

    Attributes:
        name: how it is asked for.
        build: request to labelled sequences, lazily.
        summary: one line for the list of protocols.
        needs_similarity: whether it looks at the classes at all.
        asks_model: whether it asks a language model.
    """

    name: str
    build: Callable[[Request], Iterator[LabelledSequence]]
    summary: str
    needs_similarity: bool
    asks_model: bool = False


def protocol(
    name: str,
    space: SequenceSpace,
    *,
    similarity: Similarity | None = None,
    runs: int | None = None,
    seed: int | None = None,
    objective: str | Objective | ArrayLike = "adjacent",
    answered: Mapping[str, ClassSequence] | None = None,
) -> list[LabelledSequence]:
    """The sequences that a protocol runs, with their labels.

    Args:
        name: one of :data:`PROTOCOLS`.
        space: N classes and their task sizes.
        similarity: over the same N classes; only the extreme sequences need it.
        runs: budget L, 3 by default; `enumerate` takes all of Ω and no budget.
        seed: of everything random in it. `random` uses the paper's seeds 0, 42, 1993 (then 1, 2,
            …) unless a seed is given, from which it counts on.
        objective: what `optimal` optimises.
        answered: what a language model has answered before, by label; it is not asked again.
    """
    if name not in PROTOCOLS:
        raise unknown("protocol", name, PROTOCOLS)
    chosen = PROTOCOLS[name]
    if chosen.needs_similarity and similarity is None:
        raise UsageError(
            f"Protocol {name!r} needs a similarity between the classes; give one, or use "
            f"{' or '.join(key for key, known in PROTOCOLS.items() if not known.needs_similarity)}."
        )
    if runs is not None and runs < 1:
        raise UsageError(f"The 'runs' parameter must be an int >= 1. Got {runs} instead.")
    if seed is not None and seed < 0:
        raise UsageError(f"The 'seed' parameter must be an int >= 0. Got {seed} instead.")
    return list(chosen.build(Request(space, similarity, runs, seed, objective, answered or {})))


def tell_repeats(name: str, runs: Iterable[tuple[str, ClassSequence]]) -> str | None:
    """One sentence if labels of a protocol stand for the same sequence; None if none do.

    >>> one, other = ClassSequence([[0], [1]]), ClassSequence([[1], [0]])
    >>> tell_repeats("random", [("seed-0", one), ("seed-42", one), ("seed-1993", other)])
    'The 3 runs of random have 2 different orders: seed-0 and seed-42 are the same.'
    """
    labels: dict[ClassSequence, list[str]] = {}
    for label, sequence in runs:
        labels.setdefault(sequence, []).append(label)
    same = [" and ".join(some) for some in labels.values() if len(some) > 1]
    if not same:
        return None
    count = sum(map(len, labels.values()))
    orders = "one order" if len(labels) == 1 else f"{len(labels)} different orders"
    more = f", and {len(same) - 1} more such" if same[1:] else ""
    return f"The {count} runs of {name} have {orders}: {same[0]} are the same{more}."


def _random(request: Request, *, legacy: bool) -> Iterator[LabelledSequence]:
    further = (seed for seed in count(1) if seed not in PAPER_SEEDS)
    seeds = iter([*PAPER_SEEDS, *islice(further, request.runs or 0)])
    if request.seed is not None:
        seeds = count(request.seed)
    for seed in islice(seeds, request.runs or 3):
        yield LabelledSequence(f"seed-{seed}", seeded(request.space, seed, legacy=legacy))


def _extremes(request: Request, *, generator: str) -> Iterator[LabelledSequence]:
    """Hard, then random ones up to the budget (the median, if it is one), then easy."""
    runs = request.runs or 3
    if runs < 2:
        raise UsageError(
            f"Protocol {generator!r} has two extremes and needs runs >= 2. Got {runs} instead."
        )
    rng = request.rng()
    hard, easy = (_extreme(request, generator, goal, rng) for goal in ("hard", "easy"))
    between = _unseen(request.space, {hard.sequence, easy.sequence}, rng)
    labels = ["median"] if runs == 3 else [f"random-{index + 1}" for index in range(runs - 2)]
    yield hard
    for label in labels:
        yield LabelledSequence(label, next(between))
    yield easy


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
    """What a language model answers, with the conversation, or what it has answered before."""
    answered = request.answered.get(build.goal)
    if answered is not None and answered in request.space:
        return LabelledSequence(build.goal, answered)
    assert request.similarity is not None
    conversation = Conversation(LanguageModel.from_environment())
    found = build(request.similarity, request.space, rng, conversation=conversation)
    return LabelledSequence(build.goal, found, transcript=conversation.record())


def _unseen(
    space: SequenceSpace, taken: set[ClassSequence], rng: np.random.Generator
) -> Iterator[ClassSequence]:
    """Random sequences, none twice, none of the extremes and none of the random protocol's.

    Where the space is too small for that, anything but the extremes will do, then anything.
    """
    known = {seeded(space, seed, legacy=legacy) for seed in PAPER_SEEDS for legacy in (False, True)}
    while True:
        avoid = next(set_ for set_ in (taken | known, taken, set()) if len(set_) < space.size)
        drawn = ClassSequence.from_order(rng.permutation(space.classes), space.sizes)
        if drawn not in avoid:
            taken.add(drawn)
            yield drawn


def _enumerate(request: Request) -> Iterator[LabelledSequence]:
    if request.space.size > _ENUMERABLE:
        raise UsageError(
            f"The space holds {count_text(request.space.size)} sequences, too many to enumerate; "
            "take fewer classes, or another protocol."
        )
    if request.runs is not None:
        raise UsageError("Protocol 'enumerate' runs every sequence and takes no 'runs'.")
    for index, sequence in enumerate(request.space.enumerate()):
        yield LabelledSequence(f"all-{index + 1}", sequence)


def _latin(request: Request) -> Iterator[LabelledSequence]:
    for index, sequence in enumerate(latin(request.space, request.runs or 3, request.rng())):
        yield LabelledSequence(f"latin-{index + 1}", sequence)


PROTOCOLS: dict[str, Protocol] = {
    known.name: known
    for known in (
        Protocol(
            "edge",
            partial(_extremes, generator="edge"),
            "the paper's: hard, median, easy; with a larger budget more random ones between",
            needs_similarity=True,
        ),
        Protocol(
            "random",
            partial(_random, legacy=False),
            "the field's: numpy.random.default_rng with seeds 0, 42, 1993",
            needs_similarity=False,
        ),
        Protocol(
            "random-legacy",
            partial(_random, legacy=True),
            "the same from numpy.random.seed, as PyCIL and PILOT draw them",
            needs_similarity=False,
        ),
        Protocol("enumerate", _enumerate, "every sequence: the truth", needs_similarity=False),
        Protocol(
            "latin",
            _latin,
            "every class visits the positions evenly, with new partners",
            needs_similarity=False,
        ),
        Protocol(
            "optimal",
            partial(_extremes, generator="optimal"),
            "both ends of an objective, certified, and a median",
            needs_similarity=True,
        ),
        Protocol(
            "adversarial",
            partial(_extremes, generator="adversarial"),
            "greedy walks over the classes (AS), and a median",
            needs_similarity=True,
        ),
        Protocol(
            "maxcover",
            partial(_extremes, generator="maxcover"),
            "the ends of a covering set of random sequences (MS), and a median",
            needs_similarity=True,
        ),
        Protocol(
            "llm-1",
            partial(_extremes, generator="llm-1"),
            "what a language model takes for hard and easy, and a median",
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
    )
}
