"""Protocols as a user asks for them, and the sequences that they draw."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from numpy.typing import ArrayLike

from edgecil.errors import UsageError, format_value
from edgecil.options import checked
from edgecil.sequences.objective import Objective
from edgecil.sequences.protocols.protocol import LabelledSequence
from edgecil.sequences.protocols.registered import PROTOCOLS
from edgecil.sequences.sequence import ClassSequence
from edgecil.sequences.space import SequenceSpace
from edgecil.similarity.matrix import Similarity


def parse_protocols(
    protocol: str | Iterable[str], user_sequences: Collection[str] = ()
) -> dict[str, int | None]:
    """Return registered names with their own budgets, if they have one.

    Args:
        protocol: `random`, `random,edge`, `random:100,edge`, or a list of such names.
        user_sequences: names of the user's own sequences, which are not protocols.

    >>> parse_protocols("Random:100, edge")
    {'random': 100, 'edge': None}
    """
    budgets: dict[str, int | None] = {}
    for text in protocol.split(",") if isinstance(protocol, str) else protocol:
        if text in user_sequences:
            budgets[text] = None
            continue
        name, colon, budget = text.strip().partition(":")
        if colon and not (budget.isascii() and budget.isdigit()):
            raise UsageError(
                f"The budget of a protocol is written 'random:100'. Got "
                f"{format_value(text.strip())}."
            )
        registered = name if name in user_sequences else PROTOCOLS.resolve(name)
        budgets[registered] = int(budget) if budget else None
    return budgets


def format_protocols(protocols: Mapping[str, int | None]) -> tuple[str, ...]:
    """Return the texts of which :func:`parse_protocols` makes these budgets.

    >>> format_protocols({"random": 100, "edge": None})
    ('random:100', 'edge')
    """
    return tuple(
        name if budget is None else f"{name}:{budget}" for name, budget in protocols.items()
    )


def protocol_budgets(
    protocols: Mapping[str, int | None], budget: int | None
) -> dict[str, int | None]:
    """Return the budget with which each of several protocols draws; None for its default.

    `budget` applies to each protocol without a budget of its own; among several, protocols with a
    fixed number of sequences ignore it.

    >>> protocol_budgets({"random": 100, "latin": None, "probes": None}, 5)
    {'random': 100, 'latin': 5, 'probes': None}
    """
    budgets = {}
    for name, budget_of_protocol in protocols.items():
        takes_shared_budget = PROTOCOLS[name].takes_budget or len(protocols) == 1
        shared_budget = budget if takes_shared_budget else None
        budgets[name] = shared_budget if budget_of_protocol is None else budget_of_protocol
    return budgets


def draw_protocols(
    protocols: Mapping[str, int | None],
    space: SequenceSpace,
    *,
    budget: int | None = None,
    order_seed: int | None = None,
    similarity: Similarity | None = None,
    class_means: Similarity | None = None,
    objective: str | Objective | ArrayLike | None = None,
    answered: Mapping[str, Mapping[str, ClassSequence]] | None = None,
) -> dict[str, list[LabelledSequence]]:
    """Return the sequences of several protocols, by name; see :meth:`Protocol.draw`.

    Budgets are those of :func:`protocol_budgets`. Protocols `by_inputs` prefer the similarity of
    the inputs' class means.
    """
    drawn = {}
    for name, count in protocol_budgets(protocols, budget).items():
        chosen = PROTOCOLS[name]
        prefers_means = chosen.by_inputs and class_means
        drawn[name] = chosen.draw(
            space,
            budget=count,
            order_seed=order_seed,
            similarity=class_means if prefers_means else similarity,
            objective=objective,
            answered=(answered or {}).get(name),
        )
    return drawn


@checked
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
        name: of a registered protocol.
        space: N classes and their task sizes.
        similarity: over the same N classes; only protocols with extreme sequences need it.
        budget: number of sequences L, 3 by default; `enumerate` takes all of Ω and no budget.
        order_seed: seed for choosing class orders. `random` uses the paper's seeds 0, 42, 1993
            (then 1, 2, …) unless a seed is given, and counts up from it otherwise.
        objective: what `optimal` optimises.
        answered: earlier answers of a language model by label; it is not asked again for these.
    """
    return PROTOCOLS[name].draw(
        space,
        budget=budget,
        order_seed=order_seed,
        similarity=similarity,
        objective=objective,
        answered=answered,
    )
