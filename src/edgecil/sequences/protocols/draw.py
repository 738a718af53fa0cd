"""Every protocol by name, also of orders that none chose, and the drawing of several."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from numpy.typing import ArrayLike

from edgecil.errors import UsageError, format_value
from edgecil.options import checked
from edgecil.registry import Registry
from edgecil.sequences.objective import Objective
from edgecil.sequences.protocols.extremes import EDGE, GOALS, OPTIMAL, PROBES
from edgecil.sequences.protocols.latin import LATIN
from edgecil.sequences.protocols.protocol import LabelledSequence, Protocol, Request, Role
from edgecil.sequences.protocols.random import ENUMERATE, RANDOM, RANDOM_LEGACY, RS
from edgecil.sequences.sequence import ClassSequence
from edgecil.sequences.space import SequenceSpace
from edgecil.similarity.matrix import Similarity

ENTRY_POINTS = "edgecil.protocols"
DEFAULT_PROTOCOL = RANDOM.name
RECOMMENDED = (RANDOM.name, PROBES.name)
"""Random orders for the distribution, probes for what they hardly ever show: five runs."""


def _check(name: str, entry: object) -> Protocol:
    """Return the protocol of an entry point, which gives an object or a class."""
    made = entry() if isinstance(entry, type) else entry
    if not isinstance(made, Protocol) or made.name != name:
        raise UsageError(f"it must be an edgecil.Protocol with the name {name!r}")
    return made


PROTOCOLS: Registry[Protocol] = Registry("protocol", plugins=(ENTRY_POINTS, _check))
"""Every protocol by name."""


def register_protocol(protocol: Protocol) -> Protocol:
    """Register a protocol under its name, so that runs and analyses know it.

    Other packages register theirs by an entry point of the group `edgecil.protocols`.
    """
    if not isinstance(protocol, Protocol):
        raise UsageError(
            f"A protocol must be an edgecil.Protocol. Got {format_value(protocol)} instead."
        )
    return PROTOCOLS.add(protocol.name, protocol)


for _protocol in (RANDOM, PROBES, LATIN, RANDOM_LEGACY, RS, EDGE, OPTIMAL, ENUMERATE):
    register_protocol(_protocol)


class Unregistered(Protocol):
    """Orders of which nobody says how they were chosen; hard and easy ones are constructed."""

    constructed: tuple[str, ...] | None = GOALS
    unknown = True

    def __init__(self, name: str, *, searched: bool = False) -> None:
        self.name, self.searched = name, searched

    def role(self, label: str) -> Role:
        """Return that nothing is known, but for constructed sequences."""
        return "constructed" if label in GOALS else "unknown"

    def choose(self, request: Request) -> Iterable[LabelledSequence]:
        """Raise an error: only a user can choose these."""
        raise UsageError(f"The orders of {self.name!r} cannot be drawn; give the sequences.")


class Repeats(Unregistered):
    """Orders of other protocols that `run` trains once more."""

    repeats = True
    unknown = False


class Continued(Unregistered):
    """Orders of `next_runs`: random ones that were not run before."""

    constructed = ()
    unknown = False
    calibration = RANDOM.calibration
    role = Protocol.role


REPEATS, CONTINUED = "repeats", "next"
SEARCH, CONFIRMATION = "search", "confirmation"
GIVEN: dict[str, Protocol] = {REPEATS: Repeats(REPEATS), CONTINUED: Continued(CONTINUED)}
GIVEN |= {name: Unregistered(name, searched=True) for name in (SEARCH, CONFIRMATION)}
"""Names that edgecil itself gives to orders which no protocol draws."""


def find_protocol(name: str) -> Protocol:
    """Return the protocol with the name that a table of runs has; never an error."""
    if name in GIVEN:
        return GIVEN[name]
    return PROTOCOLS[name] if name in PROTOCOLS else Unregistered(name)


def parse_protocols(
    protocol: str | Iterable[str], own: Collection[str] = ()
) -> dict[str, int | None]:
    """Return registered names with their own budgets, if they have one.

    Args:
        protocol: `random`, `random,edge`, `random:100,edge`, or a list of such names.
        own: names of the user's own sequences, which are no protocols.

    >>> parse_protocols("Random:100, edge")
    {'random': 100, 'edge': None}
    """
    budgets: dict[str, int | None] = {}
    for text in protocol.split(",") if isinstance(protocol, str) else protocol:
        name, colon, budget = (text, "", "") if text in own else text.strip().partition(":")
        if colon and not (budget.isascii() and budget.isdigit()):
            raise UsageError(
                f"The budget of a protocol is written 'random:100'. Got "
                f"{format_value(text.strip())}."
            )
        registered = name if name in own else PROTOCOLS.resolve(name)
        budgets[registered] = int(budget) if budget else None
    return budgets


def format_protocols(protocols: Mapping[str, int | None]) -> tuple[str, ...]:
    """Return the texts of which :func:`parse_protocols` makes these budgets.

    >>> format_protocols({"random": 100, "edge": None})
    ('random:100', 'edge')
    """
    return tuple(name if own is None else f"{name}:{own}" for name, own in protocols.items())


def protocol_budgets(
    protocols: Mapping[str, int | None], budget: int | None
) -> dict[str, int | None]:
    """Return the budget with which each of several protocols draws; None for its default.

    The common budget is that of each protocol without its own; beside others, a protocol whose
    number is fixed ignores it.

    >>> protocol_budgets({"random": 100, "latin": None, "probes": None}, 5)
    {'random': 100, 'latin': 5, 'probes': None}
    """
    budgets = {}
    for name, own in protocols.items():
        is_shared = PROTOCOLS[name].takes_budget or len(protocols) == 1
        budgets[name] = (budget if is_shared else None) if own is None else own
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
    for name, number in protocol_budgets(protocols, budget).items():
        chosen = PROTOCOLS[name]
        drawn[name] = chosen.draw(
            space,
            budget=number,
            order_seed=order_seed,
            similarity=class_means if chosen.by_inputs and class_means else similarity,
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


def describe_source(source: Mapping[str, str]) -> str:
    """Return where a similarity comes from, in a few words.

    >>> describe_source({"encoder": "minilm", "template": "a {name}", "version": "1"})
    "minilm with 'a {name}'"
    >>> describe_source({"encoder": "class means", "samples": "2000", "features": "inputs"})
    'class means of inputs'
    """
    if "encoder" not in source:
        return source.get("file", "an unnamed matrix")
    if "features" in source:
        return f"{source['encoder']} of {source['features']}"
    template = source.get("template", "")
    return f"{source['encoder']} with {template!r}" if "{" in template else source["encoder"]


def describe_origins(provenance: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Return what the constructed orders of protocols come from, by `orders of <protocols> from`.

    Encoder, template and weights of the similarity, and whether the paper has another encoder.

    >>> describe_origins({"edge": {"constructor": "edge", "encoder": "minilm", "version": "1"}})
    {'orders of edge from': 'minilm (weights 1), not from clip-vit-b-16 as in the paper'}
    """
    protocols: dict[str, list[str]] = {}
    for name, source in provenance.items():
        if "constructor" not in source:
            continue
        weights = f" (weights {source['version']})" if source.get("version") else ""
        published = find_protocol(name).encoder
        other = published not in (None, source.get("encoder"))
        note = f", not from {published} as in the paper" if other else ""
        protocols.setdefault(f"{describe_source(source)}{weights}{note}", []).append(name)
    return {f"orders of {', '.join(names)} from": text for text, names in protocols.items()}


def origin_sentences(provenance: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return :func:`describe_origins` as sentences."""
    origins = describe_origins(provenance)
    return [f"The {what.removesuffix(' from')} come from {it}." for what, it in origins.items()]


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
    return f"The {total} sequences of {name} have {orders}: {', '.join(same[:3])} are the same."


def note_sequences(sequences: Mapping[str, Iterable[LabelledSequence]]) -> dict[str, str]:
    """Return sentences about the sequences of protocols, by what they are about.

    Labels that stand for one sequence, and what constructed ones come from.
    """
    notes = {}
    for name, runs in sequences.items():
        labelled = list(runs)
        same = describe_duplicates(name, ((run.label, run.sequence) for run in labelled))
        if same is not None:
            notes[name] = same
        source = next((run.source for run in labelled if run.source is not None), None)
        if source is not None and "classes" in source:
            notes["classes"] = (
                f"{describe_source(source)} has no class names: its rows are taken in label order."
            )
        if source is not None:
            notes[f"source of {name}"] = origin_sentences({name: source})[0]
    return notes
