"""The sequences of a protocol together with their profiles, and sequences read from files."""

from __future__ import annotations

import html
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, overload

from numpy.typing import ArrayLike

from edgecil.classes.lists import CLASS_LISTS
from edgecil.errors import UnknownNameError, UsageError, unknown_name_error
from edgecil.io.notebook import html_table, show_printed
from edgecil.options import checked
from edgecil.sequences.objective import Objective
from edgecil.sequences.optimum import Certificate
from edgecil.sequences.protocols import (
    DEFAULT_PROTOCOL,
    PROTOCOLS,
    draw_protocols,
    note_sequences,
    parse_protocols,
)
from edgecil.sequences.scores import Profile, profile
from edgecil.sequences.sequence import ClassSequence, Tasks
from edgecil.sequences.space import SequenceSpace
from edgecil.sequences.task_orders import TaskOrderSpace, name_task_classes, read_given_tasks
from edgecil.sequences.user_sequences import read_sequence
from edgecil.similarity.build import SimilaritySource, choose_similarity, find_classes
from edgecil.similarity.images import class_means
from edgecil.similarity.matrix import Similarity, check_similarity


@dataclass(frozen=True)
class ScoredSequence:
    """A labelled sequence with its profile; plain data, ready for JSON.

    Attributes:
        label: its name within the protocol: hard, median, seed-42, latin-1, …; with the name of the
            protocol in front if there are several.
        tasks: K tasks of class ids, each in the order that its protocol gives.
        order: the N class ids, task by task.
        profile: S, its z, and every other objective; None for an order of given tasks.
        certificate: how close it is to an optimum, if its protocol is `optimal` or `probes`.
        task_names: of the K tasks, if they are given; else empty.
    """

    label: str
    tasks: Tasks
    order: tuple[int, ...]
    profile: Profile | None
    certificate: Certificate | None = None
    task_names: tuple[str, ...] = ()

    @property
    def sequence(self) -> ClassSequence:
        """The tasks as a class sequence."""
        return ClassSequence(self.tasks)


@dataclass(frozen=True, repr=False)
class ChosenSequences:
    """The sequences of one or several protocols, in order; they can be indexed and iterated over.

    Attributes:
        names: of the N classes, or of given tasks.
        scored: the sequences with their profiles.
        notes: what constructed orders come from, and labels that stand for the same order.
        similarity: over the N classes; None for orders of given tasks.
    """

    names: tuple[str, ...]
    scored: tuple[ScoredSequence, ...]
    notes: tuple[str, ...] = ()
    similarity: Similarity | None = None

    @overload
    def __getitem__(self, index: int | str) -> ScoredSequence: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[ScoredSequence, ...]: ...

    def __getitem__(self, index: int | str | slice) -> Any:
        """Return the sequence at an index or with a label, or those of a slice."""
        if not isinstance(index, str):
            return self.scored[index]
        for scored in self.scored:
            if scored.label == index:
                return scored
        labels = [scored.label for scored in self.scored]
        raise UnknownNameError(*unknown_name_error("label", index, labels).args)

    def __contains__(self, item: object) -> bool:
        """Whether a label or a sequence is in it."""
        return any(item == scored.label or item is scored for scored in self.scored)

    def __iter__(self) -> Iterator[ScoredSequence]:
        return iter(self.scored)

    def __len__(self) -> int:
        return len(self.scored)

    def __repr__(self) -> str:
        labels = ", ".join(scored.label for scored in self.scored)
        return f"<ChosenSequences of {len(self.names)} classes: {labels}>"

    def __str__(self) -> str:
        """Return the label and the tasks of each sequence, a line each, and the notes."""
        lines = [f"{scored.label}: {self._words(scored)}" for scored in self.scored]
        return "\n".join([*lines, *self.notes])

    _repr_pretty_ = show_printed

    def _repr_html_(self) -> str:
        rows = [("label", "tasks", "S")]
        for scored in self.scored:
            score = "" if scored.profile is None else f"{scored.profile.score:.3f}"
            rows.append((scored.label, self._words(scored), score))
        notes = "".join(f"<p>{html.escape(note)}</p>" for note in self.notes)
        return html_table(rows) + notes

    def _words(self, scored: ScoredSequence) -> str:
        """Return the names of the classes, or of given tasks; tasks are separated by |."""
        if scored.task_names:
            return " | ".join(scored.task_names)
        tasks = [", ".join(self.names[id_] for id_ in task) for task in scored.tasks]
        return " | ".join(tasks)


@checked
def choose_sequences(
    similarity: SimilaritySource
    | Similarity
    | Mapping[str, Any]
    | Sequence[str]
    | str
    | Path
    | None = None,
    *,
    dataset: str | None = None,
    classes: int | None = None,
    classes_seed: int | None = None,
    tasks: int | None = None,
    base: int | None = None,
    increment: int | None = None,
    sizes: Sequence[int] | None = None,
    given_tasks: str | Path | Mapping[str, Sequence[str | int]] | Sequence[str] | None = None,
    protocol: str | Sequence[str] = DEFAULT_PROTOCOL,
    budget: int | None = None,
    order_seed: int | None = None,
    objective: str | Objective | ArrayLike | None = None,
) -> ChosenSequences:
    """Choose class sequences by one or several protocols, and profile them.

    Args:
        similarity: between N classes: a similarity, a file with one, or options of
            :class:`~edgecil.similarity.SimilaritySource`. In Python also a list of the names of
            the classes.
        dataset: name of the dataset whose classes are arranged; not with a file.
        classes: see :class:`edgecil.classes.ClassChoice`.
        classes_seed: see :class:`edgecil.classes.ClassChoice`.
        tasks: see :class:`edgecil.sequences.space.TaskSizes`.
        base: see :class:`edgecil.sequences.space.TaskSizes`.
        increment: see :class:`edgecil.sequences.space.TaskSizes`.
        sizes: see :class:`edgecil.sequences.space.TaskSizes`.
        given_tasks: see :class:`edgecil.sequences.space.TaskSizes`; such orders have no profile.
        protocol: names of protocols, such as `latin`, `random` or `edge`. With several, every
            label begins with the name of its protocol: `edge/hard`.
        budget: number of sequences of each protocol; 3 by default for most protocols.
        order_seed: seed for choosing class orders.
        objective: what the protocol `optimal` optimises, S by default; other protocols have none.

    >>> from edgecil.similarity import SimilarityMatrix
    >>> D = [[0, 0.9, 0.1, 0.2], [0.9, 0, 0.3, 0.1], [0.1, 0.3, 0, 0.8], [0.2, 0.1, 0.8, 0]]
    >>> hard, _, easy = choose_sequences(SimilarityMatrix.of(D), tasks=2, protocol="edge")
    >>> sorted(hard.tasks), round(hard.profile.score, 3), round(easy.profile.score, 3)
    ([(0, 1), (2, 3)], 0.35, 1.1)
    """
    if given_tasks is not None:
        labels = () if dataset is None else find_classes(dataset).labels
        excluded_options = (similarity, tasks, base, increment, sizes)
        if any(value is not None for value in excluded_options):
            raise UsageError(
                "`given_tasks` say what each task holds; leave out `similarity`, `tasks`, `base`, "
                "`increment` and `sizes`."
            )
        return _choose_task_orders(given_tasks, labels, protocol, budget, order_seed)
    if isinstance(similarity, str) and similarity in CLASS_LISTS:
        check_similarity(similarity)  # the name of a dataset is refused with advice
    matrix = choose_similarity(
        similarity, dataset=dataset, classes=classes, classes_seed=classes_seed
    )
    check_similarity(matrix)
    space = SequenceSpace.choose(
        len(matrix), tasks=tasks, base=base, increment=increment, sizes=sizes
    )
    names = parse_protocols(protocol)
    if objective is not None:
        _check_objective(names)
    means = None
    if dataset is not None and any(PROTOCOLS[name].by_inputs for name in names):
        means = class_means(dataset, count=classes, seed=classes_seed)
    drawn = draw_protocols(
        names,
        space,
        similarity=matrix,
        class_means=means,
        budget=budget,
        order_seed=order_seed,
        objective=objective,
    )
    scored = []
    for name, runs in drawn.items():
        prefix = f"{name}/" if len(names) > 1 else ""
        for run in runs:
            scored.append(
                ScoredSequence(
                    f"{prefix}{run.label}",
                    run.sequence.arranged,
                    run.sequence.order,
                    profile(matrix, run.sequence),
                    None if run.optimum is None else run.optimum.certificate,
                )
            )
    notes = tuple(note_sequences(drawn).values())
    return ChosenSequences(tuple(matrix.names), tuple(scored), notes, matrix)


def _check_objective(names: Collection[str]) -> None:
    """Refuse an objective where no protocol takes one."""
    if any(PROTOCOLS[name].takes_objective for name in names):
        return
    accepting = [
        repr(registered.name) for registered in PROTOCOLS.values() if registered.takes_objective
    ]
    raise UsageError(
        f"`objective` belongs to the protocol {' or '.join(accepting)}. Got the "
        f"protocol {', '.join(map(repr, names))}."
    )


def _choose_task_orders(
    given_tasks: str | Path | Mapping[str, Sequence[str | int]] | Sequence[str],
    class_names: Sequence[str],
    protocol: str | Sequence[str],
    budget: int | None,
    order_seed: int | None,
) -> ChosenSequences:
    """Return orders of given tasks, with the class names of a dataset unless there are none."""
    tasks = read_given_tasks(given_tasks)
    names = class_names or name_task_classes(tasks)
    space = TaskOrderSpace.choose_tasks(tasks, names)
    protocols = parse_protocols(protocol)
    drawn = draw_protocols(protocols, space, budget=budget, order_seed=order_seed)
    scored = []
    for name, runs in drawn.items():
        prefix = f"{name}/" if len(protocols) > 1 else ""
        for run in runs:
            sequence = run.sequence
            task_names = tuple(space.names[place] for place in space.collapse(sequence).order)
            scored.append(
                ScoredSequence(
                    f"{prefix}{run.label}",
                    sequence.arranged,
                    sequence.order,
                    None,
                    task_names=task_names,
                )
            )
    return ChosenSequences(tuple(names), tuple(scored), tuple(note_sequences(drawn).values()))


@checked
def profile_file(
    sequence: str | Path,
    *,
    label: str | None = None,
    similarity: SimilaritySource | Similarity | Mapping[str, Any] | str | Path | None = None,
    dataset: str | None = None,
    classes: int | None = None,
    classes_seed: int | None = None,
    tasks: int | None = None,
    base: int | None = None,
    increment: int | None = None,
    sizes: Sequence[int] | None = None,
) -> Profile:
    """Return the profile of the class sequence in a JSON file.

    Args:
        sequence: a JSON file with `{"tasks": [[…], …]}`, a flat list of class ids, which the task
            sizes divide, or the output of `edgecil sequences --json`.
        label: which sequence to profile, if the file has several.
        similarity: between the classes, as for :func:`choose_sequences`.
        dataset: name of the dataset whose classes are arranged; not with a file.
        classes: see :class:`edgecil.classes.ClassChoice`.
        classes_seed: see :class:`edgecil.classes.ClassChoice`.
        tasks: see :class:`edgecil.sequences.space.TaskSizes`.
        base: see :class:`edgecil.sequences.space.TaskSizes`.
        increment: see :class:`edgecil.sequences.space.TaskSizes`.
        sizes: see :class:`edgecil.sequences.space.TaskSizes`.
    """
    matrix = choose_similarity(
        similarity, dataset=dataset, classes=classes, classes_seed=classes_seed
    )
    task_sizes: dict[str, Any] = {
        "tasks": tasks,
        "base": base,
        "increment": increment,
        "sizes": sizes,
    }
    return profile(matrix, read_sequence(sequence, matrix.names, label=label, **task_sizes))
