"""The class orders that another program is to train: which classes, which protocols."""

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


@dataclass(frozen=True)
class Orders(ClassChoice, TaskSizes):
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
    """Class orders and the N classes that they arrange, with the dataset's own ids of these.

    The similarity is None if no protocol needs it and no option describes it.
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
        """Sentences on orders that occur twice, and on what constructed ones come from."""
        return tuple(note_sequences(self.sequences).values())

    def __str__(self) -> str:
        return "; ".join(
            f"{protocol}: {name_some(short_labels(members))}"
            for protocol, members in self.sequences.items()
        )


def short_labels(orders: Sequence[LabelledSequence]) -> list[str]:
    """Return labels of at most 40 characters; an order whose label is longer has its number."""
    return [
        it.label if len(it.label) <= 40 else f"order-{number}"
        for number, it in enumerate(orders, start=1)
    ]


def choose_orders(
    asked: Orders,
    source: SimilaritySource,
    *,
    out: str | Path,
    overwrite: bool = False,
    toolbox_tasks: tuple[int, int] | None = None,
) -> ChosenOrders:
    """Return the sequences that the options ask for.

    Orders that a language model chose in the directory `out` are kept unless it is overwritten.
    `toolbox_tasks` are those of the first and of further tasks, in place of the options'.
    """
    given = {} if asked.sequences is None else sequence_texts(asked.sequences)
    protocols = parse_protocols(asked.protocol or (() if given else (DEFAULT_PROTOCOL,)))
    similarity, labels = _classes(asked, source, tuple(protocols))
    ids = asked.select(len(labels))
    similarity = None if similarity is None else similarity.take(ids)
    means = None
    by_inputs = any(PROTOCOLS[name].by_inputs for name in protocols)
    if by_inputs and asked.dataset is not None and not (source.file or source.embeddings):
        means = class_means(asked.dataset, ids=ids)
    if toolbox_tasks is None:
        space = asked.space([labels[id_] for id_ in ids])
    else:
        space = SequenceSpace(toolbox_sizes(*toolbox_tasks, len(ids)))
    sequences = draw_protocols(
        protocols,
        space,
        similarity=similarity,
        class_means=means,
        budget=asked.budget,
        order_seed=asked.order_seed,
        objective=asked.objective,
        answered={} if overwrite else stored_answers(out),
    )
    names = tuple(labels[id_] for id_ in ids)
    sequences |= {name: parse_sequences(texts, space, names) for name, texts in given.items()}
    return ChosenOrders(names, tuple(ids.tolist()), similarity, space, sequences)


def _classes(
    asked: Orders, source: SimilaritySource, protocols: Sequence[str]
) -> tuple[Similarity | None, Sequence[str]]:
    """Return the similarity of all classes, if one is needed or given, and their names."""
    described = source.changed().keys() - {"names"}
    if described or any(PROTOCOLS[name].needs_similarity for name in protocols):
        similarity = choose_similarity(source, dataset=asked.dataset)
        return similarity, similarity.names
    if asked.dataset is not None or source.names is not None:
        return None, find_classes(asked.dataset, source.names).labels
    if asked.given_tasks is not None:
        return None, name_task_classes(read_given_tasks(asked.given_tasks))
    if asked.classes is not None:
        return None, [str(id_) for id_ in range(asked.classes)]
    raise UsageError(
        "The classes are not specified; give one of `dataset`, `names`, `similarity`, "
        "`embeddings`, `classes` and `given_tasks`."
    )
