"""Options for the class orders that another program trains, and the orders that they choose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from edgecil.classes import ClassChoice
from edgecil.errors import UsageError, name_some
from edgecil.experiments.experiment import stored_answers
from edgecil.interop.toolbox_configs import toolbox_sizes
from edgecil.options import option
from edgecil.sequences import PROTOCOLS, SequenceSpace
from edgecil.sequences.protocols import (
    DEFAULT_PROTOCOL,
    LabelledSequence,
    draw_protocols,
    note_sequences,
    parse_protocols,
)
from edgecil.sequences.space import TaskSizes
from edgecil.sequences.task_orders import name_task_classes, read_given_tasks
from edgecil.sequences.user_sequences import parse_sequences, sequence_texts
from edgecil.similarity import Similarity, SimilaritySource, choose_similarity, find_classes
from edgecil.similarity.images import class_means

_LONGEST_LABEL = 40  # characters


@dataclass(frozen=True)
class OrderOptions(ClassChoice, TaskSizes):
    """Which class orders another program trains: classes, tasks and protocols."""

    dataset: str | None = option("name of the dataset whose classes are arranged")
    protocol: tuple[str, ...] = option(
        "names of protocols, such as `latin`, `random` or `edge`; `random` by default", ()
    )
    sequences: str | None = option(
        "JSON file with class sequences, as `next` writes it, in place of protocols or beside them",
        metavar="FILE",
    )
    budget: int | None = option(
        "number of sequences of each protocol; 3 by default for most protocols"
    )
    order_seed: int | None = option("seed for choosing class orders")
    objective: str | None = option("what the protocol `optimal` optimises, S by default")


@dataclass(frozen=True)
class ChosenOrders:
    """Class orders and the N classes that they arrange.

    Attributes:
        names: of the N classes.
        ids: of the N classes in the dataset.
        similarity: of the classes; None if no protocol needs it and no option describes it.
        space: of the class orders.
        sequences: the orders by protocol.
    """

    names: tuple[str, ...]
    ids: tuple[int, ...]
    similarity: Similarity | None
    space: SequenceSpace
    sequences: dict[str, list[LabelledSequence]]

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sizes of the tasks, or of the given tasks in the order of their file."""
        return self.space.sizes

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about orders that occur twice, and about the similarity of constructed ones."""
        return tuple(note_sequences(self.sequences).values())

    def __str__(self) -> str:
        return "; ".join(
            f"{protocol}: {name_some(short_labels(members))}"
            for protocol, members in self.sequences.items()
        )


def short_labels(orders: Sequence[LabelledSequence]) -> list[str]:
    """Return labels of at most 40 characters; a longer label is replaced by the order's number."""
    return [
        labelled.label if len(labelled.label) <= _LONGEST_LABEL else f"order-{number}"
        for number, labelled in enumerate(orders, start=1)
    ]


def choose_orders(
    options: OrderOptions,
    source: SimilaritySource,
    *,
    out: str | Path,
    overwrite: bool = False,
    toolbox_tasks: tuple[int, int] | None = None,
) -> ChosenOrders:
    """Return the sequences that the options ask for.

    Args:
        options: which classes, tasks and protocols.
        source: where the similarity of the classes comes from.
        out: the experiment directory; orders that a language model chose there are kept.
        overwrite: ask the language model again.
        toolbox_tasks: sizes of the first and of further tasks, in place of the task sizes in the
            options.
    """
    texts_by_name = {} if options.sequences is None else sequence_texts(options.sequences)
    default_protocol = () if texts_by_name else (DEFAULT_PROTOCOL,)
    protocols = parse_protocols(options.protocol or default_protocol)
    similarity, labels = _classes(options, source, tuple(protocols))
    ids = options.select(len(labels))
    names = tuple(labels[id_] for id_ in ids)
    similarity = None if similarity is None else similarity.take(ids)
    means = None
    prefers_inputs = any(PROTOCOLS[name].by_inputs for name in protocols)
    has_file = source.file or source.embeddings
    if prefers_inputs and options.dataset is not None and not has_file:
        means = class_means(options.dataset, ids=ids)
    if toolbox_tasks is None:
        space = options.space(names)
    else:
        space = SequenceSpace(toolbox_sizes(*toolbox_tasks, len(ids)))
    sequences = draw_protocols(
        protocols,
        space,
        similarity=similarity,
        class_means=means,
        budget=options.budget,
        order_seed=options.order_seed,
        objective=options.objective,
        answered={} if overwrite else stored_answers(out),
    )
    for name, texts in texts_by_name.items():
        sequences[name] = parse_sequences(texts, space, names)
    return ChosenOrders(names, tuple(ids.tolist()), similarity, space, sequences)


def _classes(
    options: OrderOptions, source: SimilaritySource, protocols: Sequence[str]
) -> tuple[Similarity | None, Sequence[str]]:
    """Return the similarity of all classes, if one is needed or described, and their names."""
    described = source.changed().keys() - {"names"}
    if described or any(PROTOCOLS[name].needs_similarity for name in protocols):
        similarity = choose_similarity(source, dataset=options.dataset)
        return similarity, similarity.names
    if options.dataset is not None or source.names is not None:
        return None, find_classes(options.dataset, source.names).labels
    if options.given_tasks is not None:
        return None, name_task_classes(read_given_tasks(options.given_tasks))
    if options.classes is not None:
        return None, [str(id_) for id_ in range(options.classes)]
    raise UsageError(
        "The classes are not specified; give one of `dataset`, `names`, `similarity`, "
        "`embeddings`, `classes` and `given_tasks`."
    )
