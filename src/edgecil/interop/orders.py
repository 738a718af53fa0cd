"""The class orders that another program is to train: which classes, which protocols."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from edgecil.classes import select_classes
from edgecil.engine.experiment import stored_answers
from edgecil.errors import UsageError
from edgecil.io.docstrings import read_section, with_options
from edgecil.sequences import PROTOCOLS, SequenceSpace
from edgecil.sequences.protocols import (
    DEFAULT_PROTOCOL,
    LabelledSequence,
    draw_protocols,
    parse_protocols,
)
from edgecil.sequences.scored import sequences
from edgecil.similarity import Similarity
from edgecil.similarity.build import Captions, Names, choose_similarity, find_classes

_TEXT = ("encoder", "template", "captions", "weights")


class OrderOptions(TypedDict, total=False):
    """Which class orders to train; see :func:`choose_orders`."""

    dataset: str | None
    names: Names | None
    similarity: str | Path | Similarity | None
    embeddings: str | Path | None
    encoder: str | None
    template: str | None
    captions: Captions | None
    weights: str | Path | None
    classes: int | None
    classes_seed: int | None
    tasks: int | None
    base: int | None
    increment: int | None
    sizes: Sequence[int] | None
    protocol: str | Sequence[str]
    budget: int | None
    order_seed: int | None
    objective: str


with_order_options = with_options(OrderOptions, read_section(sequences.__doc__, "Args"))
"""Names these options in the documentation of a function that takes them."""


@dataclass(frozen=True)
class ChosenOrders:
    """Class orders and the classes that they arrange.

    Attributes:
        names: of the N classes that take part.
        ids: the dataset's own ids of these.
        similarity: between these; None if no protocol needs it and no option describes it.
        sequences: over classes 0 … N-1, by protocol.
    """

    names: tuple[str, ...]
    ids: tuple[int, ...]
    similarity: Similarity | None
    sequences: dict[str, list[LabelledSequence]]


def choose_orders(
    options: OrderOptions,
    *,
    out: str | Path,
    overwrite: bool = False,
    default_sizes: tuple[int, int] | None = None,
) -> ChosenOrders:
    """Return the sequences that the options ask for.

    Args:
        options: arguments of :func:`edgecil.similarity`, of :meth:`SequenceSpace.choose` and of
            :func:`edgecil.protocol`, by name. A similarity is computed if a protocol needs it or an
            option describes one.
        out: the experiment's directory; orders that a language model chose there are kept.
        overwrite: ask a language model again.
        default_sizes: first task size and increment if the options give no task sizes.
    """
    protocols = parse_protocols(options.get("protocol", DEFAULT_PROTOCOL))
    similarity, labels = _classes(options, tuple(protocols))
    ids = select_classes(
        len(labels), count=options.get("classes"), seed=options.get("classes_seed")
    )
    similarity = None if similarity is None else similarity.take(ids)
    space = _space(options, len(ids), default_sizes)
    sequences = draw_protocols(
        protocols,
        space,
        similarity=similarity,
        budget=options.get("budget"),
        order_seed=options.get("order_seed"),
        objective=options.get("objective"),
        answered={} if overwrite else stored_answers(out),
    )
    return ChosenOrders(
        tuple(labels[id_] for id_ in ids), tuple(ids.tolist()), similarity, sequences
    )


def _classes(
    options: OrderOptions, protocols: Sequence[str]
) -> tuple[Similarity | None, Sequence[str]]:
    """Return the similarity of all classes, if one is needed or given, and their names."""
    from_file = options.get("similarity") is not None or options.get("embeddings") is not None
    dataset, names = options.get("dataset"), options.get("names")
    described = from_file or any(options.get(name) is not None for name in _TEXT)
    if described or any(PROTOCOLS[name].needs_similarity for name in protocols):
        similarity = choose_similarity(
            similarity=options.get("similarity"),
            embeddings=options.get("embeddings"),
            dataset=None if from_file else dataset,
            names=None if from_file else names,
            encoder=options.get("encoder"),
            template=options.get("template"),
            captions=options.get("captions"),
            weights=options.get("weights"),
        )
        return similarity, similarity.names
    if dataset is not None or names is not None:
        return None, find_classes(dataset, names).labels
    classes = options.get("classes")
    if classes is not None:
        return None, [str(id_) for id_ in range(classes)]
    raise UsageError(
        "The classes are not specified; give one of 'dataset', 'names', 'similarity', "
        "'embeddings' and 'classes'."
    )


def _space(
    options: OrderOptions, classes: int, default_sizes: tuple[int, int] | None
) -> SequenceSpace:
    from edgecil.engine.toolbox_configs import toolbox_sizes

    given = ("tasks", "base", "increment", "sizes")
    if default_sizes is not None and all(options.get(name) is None for name in given):
        return SequenceSpace(toolbox_sizes(*default_sizes, classes))
    return SequenceSpace.choose(
        classes,
        tasks=options.get("tasks"),
        base=options.get("base"),
        increment=options.get("increment"),
        sizes=options.get("sizes"),
    )
