"""The class of protocols: objects that choose class sequences and say what claims they allow."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from edgecil.errors import UsageError
from edgecil.sequences.objective import Objective
from edgecil.sequences.optimum import Optimum
from edgecil.sequences.sequence import ClassSequence
from edgecil.sequences.space import SequenceSpace
from edgecil.sequences.task_orders import TaskOrderSpace
from edgecil.similarity.matrix import Similarity

MOST_SEQUENCES = 1_000_000
_OWN_STREAM = 0x6564676563696C

Role = Literal["random", "constructed", "unknown"]


@dataclass(frozen=True)
class LabelledSequence:
    """One sequence of a protocol.

    Attributes:
        label: its name within the protocol: hard, median, easy, seed-42, latin-1, …
        sequence: the classes, task by task.
        optimum: the certificate, if the protocol gives one.
        transcript: the conversation with a language model, if there was one.
        source: of a constructed sequence: the constructor, and where its similarity comes from.
    """

    label: str
    sequence: ClassSequence
    optimum: Optimum | None = None
    transcript: Mapping[str, Any] | None = field(default=None, compare=False)
    source: Mapping[str, str] | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Request:
    """What a protocol must choose; every value is checked.

    Attributes:
        space: N classes and their task sizes.
        budget: number of sequences.
        order_seed: seed for choosing class orders; None if the user gave none.
        similarity: over the same N classes; never None for a protocol that needs it.
        objective: what to optimise, for protocols that optimise something.
        answered: earlier answers of a language model, by label.
    """

    space: SequenceSpace
    budget: int
    order_seed: int | None = None
    similarity: Similarity | None = None
    objective: str | Objective | ArrayLike = "adjacent"
    answered: Mapping[str, ClassSequence] = field(default_factory=dict)

    def rng(self) -> np.random.Generator:
        """Return a random stream that differs from every seed of the random protocol."""
        return np.random.default_rng([_OWN_STREAM, self.order_seed or 0])


class Protocol(ABC):
    """A rule that chooses the sequences to run, with the statistics that the rule implies.

    A subclass sets `name` and `summary` and implements :meth:`choose`. By default each of its
    sequences counts as constructed, so that no claim about other orders rests on them; set
    `constructed` if some, or all, are uniform random draws from the whole space. Check your own
    with :func:`edgecil.testing.check_protocol`.

    Attributes:
        name: by which users ask for it, and under which its results are stored.
        summary: one line for the list of protocols.
        constructed: labels of the sequences that are not random draws; None if none is a random
            draw. They stay when the protocol is drawn again, while random ones are drawn again.
        seeded: whether constructed sequences depend on the seed, too.
        joint: whether random sequences depend on each other; see :meth:`design`.
        calibration: key of the measured coverage of claims from its sequences; None if none was
            measured, so that no claim is called calibrated.
        meanings: by label of a constructed sequence, what it is, as the end of "58.7 % …".
        exhaustive: whether it takes every sequence of the space once.
        repeats: whether its sequences are those of other protocols, trained once more.
        unknown: whether it is not documented how its sequences were chosen.
        searched: whether `search` proposed them, which trains with one seed on purpose.
        needs_similarity: whether the choice depends on the similarity of the classes.
        by_inputs: whether it prefers the similarity of class means of inputs to names' similarity.
        encoder: the text encoder that it was published with; another one is noted.
        asks_model: whether it asks a language model.
        objective: what it optimises; None if nothing.
        takes_objective: whether the user may choose what it optimises.
        default_budget: number of sequences if the user gives none.
        least_budget: smallest number of sequences.
        most_budget: largest number of sequences; None for any.

    >>> class Shifted(Protocol):
    ...     name = "shifted"
    ...     summary = "a random order, and the same with its tasks moved on by one"
    ...     constructed = ("moved",)
    ...     default_budget = least_budget = most_budget = 2
    ...     seeded = True
    ...     def choose(self, request):
    ...         order = request.rng().permutation(request.space.classes)
    ...         first = ClassSequence.from_order(order, request.space.sizes)
    ...         yield LabelledSequence("first", first)
    ...         yield LabelledSequence("moved", ClassSequence(first.tasks[1:] + first.tasks[:1]))
    >>> shifted = Shifted()
    >>> [run.label for run in shifted.draw(SequenceSpace((2, 2, 2)))]
    ['first', 'moved']
    >>> shifted.role("first"), shifted.role("moved"), shifted.random
    ('random', 'constructed', False)
    """

    name: str
    summary: str = ""
    constructed: tuple[str, ...] | None = None
    seeded: bool = False
    joint: ClassVar[bool] = False
    calibration: str | None = None
    meanings: ClassVar[Mapping[str, str]] = {}
    exhaustive: ClassVar[bool] = False
    repeats: ClassVar[bool] = False
    unknown: ClassVar[bool] = False
    searched: bool = False
    needs_similarity: bool = False
    by_inputs: ClassVar[bool] = False
    encoder: str | None = None
    asks_model: bool = False
    objective: str | None = None
    takes_objective: bool = False
    default_budget: int = 3
    least_budget: int = 1
    most_budget: int | None = None

    @abstractmethod
    def choose(self, request: Request) -> Iterable[LabelledSequence]:
        """Yield `request.budget` sequences of `request.space`, each with its own label.

        The same request must give the same sequences: draw from `request.rng()`, or derive all
        random numbers from `request.order_seed`.
        """

    def role(self, label: str) -> Role:
        """Return whether the sequence with a label is a uniform random draw or constructed."""
        return "constructed" if self.constructed is None or label in self.constructed else "random"

    @property
    def random(self) -> bool:
        """Whether each sequence is a uniform random draw from the whole space."""
        return self.constructed == ()

    @property
    def independent(self) -> bool:
        """Whether sequences are random draws that do not depend on each other."""
        return self.random and not self.joint

    def design(
        self, space: SequenceSpace, budget: int, rng: np.random.Generator
    ) -> Sequence[ClassSequence] | None:
        """Return another draw of sequences that depend on each other.

        None where constructed sequences stay and random ones are drawn one by one.
        """
        return None

    def objection(self, runs: Sequence[LabelledSequence]) -> str | None:
        """Return why it cannot have chosen some sequences, in words; None if it can."""
        return None

    def optimised(
        self, objective: str | Objective | ArrayLike | None
    ) -> str | Objective | ArrayLike:
        """Return what it optimises if the user asks for an objective, or for none."""
        if objective is None or not self.takes_objective:
            return self.objective or "adjacent"
        return objective

    @property
    def takes_budget(self) -> bool:
        """Whether the number of sequences can be chosen."""
        return not self.exhaustive and self.least_budget != self.most_budget

    def draw(
        self,
        space: SequenceSpace,
        *,
        budget: int | None = None,
        order_seed: int | None = None,
        similarity: Similarity | None = None,
        objective: str | Objective | ArrayLike | None = None,
        answered: Mapping[str, ClassSequence] | None = None,
    ) -> list[LabelledSequence]:
        """Return the sequences with their labels.

        Args:
            space: N classes and their task sizes.
            budget: number of sequences; see `default_budget`.
            order_seed: seed for choosing class orders.
            similarity: over the same N classes; for protocols that need it.
            objective: what to optimise, if the protocol takes an objective.
            answered: earlier answers of a language model by label; it is not asked again for these.
        """
        if isinstance(space, TaskOrderSpace):
            return self._draw_task_orders(space, budget, order_seed)
        if self.needs_similarity and similarity is None:
            raise UsageError(
                f"Protocol {self.name!r} requires a similarity between the classes; give one, or "
                "use a protocol that ignores it, such as 'random' or 'latin'."
            )
        if order_seed is not None and order_seed < 0:
            raise UsageError(f"`order_seed` must be an int >= 0. Got {order_seed} instead.")
        request = Request(
            space,
            self.check_budget(budget, space),
            order_seed,
            similarity,
            self.optimised(objective),
            answered or {},
        )
        drawn = list(self.choose(request))
        labels = {run.label for run in drawn}
        inside = sum(run.sequence in space for run in drawn)
        if not len(drawn) == len(labels) == inside == request.budget:
            raise UsageError(
                f"Protocol {self.name!r} must choose {request.budget} sequences with task sizes "
                f"{list(space.sizes)} and different labels. Got {len(drawn)}, of which {inside} "
                f"have these sizes, with {len(labels)} labels."
            )
        if similarity is None or not self.needs_similarity:
            return drawn
        source = {"constructor": self.name, **similarity.source}
        return [
            replace(run, source=source) if self.role(run.label) == "constructed" else run
            for run in drawn
        ]

    def _draw_task_orders(
        self, space: TaskOrderSpace, budget: int | None, order_seed: int | None
    ) -> list[LabelledSequence]:
        """Return orders of given tasks, drawn as orders of as many tasks of one class."""
        if self.needs_similarity or self.asks_model:
            raise UsageError(
                f"Protocol {self.name!r} arranges classes, but the tasks are given; use "
                "'random', 'latin' or 'enumerate' with `given_tasks`."
            )
        drawn = self.draw(space.orders, budget=budget, order_seed=order_seed)
        return [replace(run, sequence=space.expand(run.sequence)) for run in drawn]

    def check_budget(self, budget: int | None, space: SequenceSpace) -> int:
        """Return the number of sequences to choose; one that is not possible is an error."""
        if budget is None:
            return self.default_budget
        if budget < 1:
            raise UsageError(f"`budget` must be an int >= 1. Got {budget} instead.")
        if budget > MOST_SEQUENCES and space.size > MOST_SEQUENCES:
            raise UsageError(f"`budget` must be at most {MOST_SEQUENCES}. Got {budget}.")
        if budget > space.size:
            raise UsageError(
                f"There are only {space.size} orders, and `budget` is {budget}; use at most "
                f"{space.size}, or the protocol 'enumerate', which takes each once."
            )
        if budget < self.least_budget or budget > (self.most_budget or budget):
            exactly = self.least_budget == self.most_budget
            limits = f"of {self.least_budget}" if exactly else f">= {self.least_budget}"
            raise UsageError(
                f"Protocol {self.name!r} requires a `budget` {limits}. Got {budget} instead."
            )
        return budget

    def __repr__(self) -> str:
        return f"<Protocol {self.name!r}>"
