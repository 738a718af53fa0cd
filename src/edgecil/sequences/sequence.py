"""A class sequence: which classes arrive in which task.

The order inside a task does not change which classes a learner knows when, so two sequences that
differ only there are equal, share their training and have one result. A toolbox that takes a flat
order gives labels and rows of its classifier by that order, so a sequence remembers it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain

import numpy as np
from numpy.typing import ArrayLike, NDArray

from edgecil.errors import UsageError, format_value

_SHORT = 30  # classes that are shown in full

Tasks = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, repr=False)
class ClassSequence:
    """Tasks in order of arrival; equality ignores the order inside a task.

    Attributes:
        tasks: K tasks, each a sorted tuple of original class ids; no class twice, no task empty.
        arranged: the same tasks with their classes in the order of the source.

    >>> sequence = ClassSequence([[3, 0], [2, 1]])
    >>> sequence.tasks, sequence.sizes
    (((0, 3), (1, 2)), (2, 2))
    >>> sequence.order, sequence.sorted_order
    ((3, 0, 2, 1), (0, 3, 1, 2))
    >>> sequence == ClassSequence([[0, 3], [1, 2]])
    True
    >>> str(sequence), sequence.arranged_text
    ('0 3|1 2', '3 0|2 1')
    """

    tasks: Tasks
    arranged: Tasks = field(compare=False)

    def __init__(self, tasks: Iterable[Iterable[int]]) -> None:
        try:
            arranged = tuple(tuple(map(_class_id, task)) for task in tasks)
        except TypeError as error:
            raise UsageError(
                f"A class sequence must be a list of tasks, each a list of class ids: {error}."
            ) from error
        if not arranged or not all(arranged):
            raise UsageError(
                "A class sequence needs at least one task and at least one class in each. "
                f"Got {[list(task) for task in arranged]} instead."
            )
        order = list(chain.from_iterable(arranged))
        if len(set(order)) < len(order):
            repeated = next(id_ for id_ in order if order.count(id_) > 1)
            raise UsageError(f"Class {repeated} appears more than once in the class sequence.")
        object.__setattr__(self, "tasks", tuple(tuple(sorted(task)) for task in arranged))
        object.__setattr__(self, "arranged", arranged)

    def __hash__(self) -> int:
        # Tables look up each sequence many times, and a tuple computes its hash each time.
        try:
            return int(self.__dict__["_hash"])
        except KeyError:
            self.__dict__["_hash"] = hash(self.tasks)
            return int(self.__dict__["_hash"])

    def __repr__(self) -> str:
        if len(self.order) <= _SHORT:
            return f"<ClassSequence {self}>"
        first = " ".join(map(str, self.tasks[0][:5]))
        return f"<ClassSequence of {len(self.order)} classes in {len(self.tasks)} tasks: {first} …>"

    @classmethod
    def from_order(cls, order: Iterable[int], sizes: Sequence[int]) -> ClassSequence:
        """Cut a flat order of N classes into tasks of the given sizes (which sum to N)."""
        flat = list(order)
        if sum(sizes) != len(flat):
            raise UsageError(
                f"Task sizes must sum to the number of classes in the order ({len(flat)}). "
                f"Got {list(sizes)}, which sum to {sum(sizes)}."
            )
        ends = np.cumsum(sizes)
        return cls(flat[end - size : end] for end, size in zip(ends, sizes, strict=True))

    @classmethod
    def parse(cls, text: str) -> ClassSequence:
        """Return the sequence written as `0 3|1 2`; the inverse of `str`."""
        return cls(parse_tasks(text))

    def __str__(self) -> str:
        return format_tasks(self.tasks)

    @property
    def arranged_text(self) -> str:
        """The sequence as text, with the classes of each task in the order of the source."""
        return format_tasks(self.arranged)

    def without_arrangement(self) -> ClassSequence:
        """Return the same sequence with ascending classes in every task."""
        return self if self.arranged == self.tasks else ClassSequence(self.tasks)

    @cached_property
    def order(self) -> tuple[int, ...]:
        """The N original class ids, task by task, in the order of the source.

        Toolboxes follow this order: they give class `order[i]` the new label i.
        """
        return tuple(chain.from_iterable(self.arranged))

    @cached_property
    def sorted_order(self) -> tuple[int, ...]:
        """The N original class ids, task by task, ascending in each.

        edgecil's own learners give class `sorted_order[i]` the new label i, so that equal sequences
        have the same bits.
        """
        return tuple(chain.from_iterable(self.tasks))

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """The K task sizes."""
        return tuple(len(task) for task in self.tasks)

    def __len__(self) -> int:
        return len(self.tasks)

    def relabel(self, labels: ArrayLike) -> NDArray[np.int64]:
        """Return new labels for original ones, any shape: class `order[i]` becomes i.

        This is the convention of PyCIL, FACIL and Continuum; Mammoth's is the inverse
        (see `edgecil.interop`).
        """
        old_labels = np.asarray(labels)
        order = np.array(self.order)
        new_label_of_class = np.full(int(order.max()) + 1, -1, dtype=np.int64)
        new_label_of_class[order] = np.arange(len(order))
        classes = old_labels.astype(np.int64)
        is_whole = classes == old_labels
        in_range = (classes >= 0) & (classes < len(new_label_of_class))
        if not (is_whole & in_range).all() or (new_label_of_class[classes] < 0).any():
            strangers = sorted(set(np.unique(old_labels).tolist()) - set(self.order))
            raise UsageError(
                f"Labels to relabel must be classes of the sequence. Got {strangers[:5]} as well."
            )
        new_labels: NDArray[np.int64] = new_label_of_class[classes]
        return new_labels

    def task_of(self) -> NDArray[np.int64]:
        """Return the task index of each class, shape (N,), if the classes are 0 … N-1."""
        order = np.array(self.order)
        if not np.array_equal(np.sort(order), np.arange(len(order))):
            raise UsageError(
                f"A sequence over {len(order)} classes must use each id from 0 to "
                f"{len(order) - 1} once. Got ids {sorted(self.order)[:8]}…"
            )
        task = np.empty(len(order), dtype=np.int64)
        task[order] = np.repeat(np.arange(len(self)), self.sizes)
        return task


def format_tasks(tasks: Tasks) -> str:
    """Return tasks as text: classes separated by blanks, tasks by `|`."""
    return "|".join(" ".join(map(str, task)) for task in tasks)


def parse_tasks(text: str) -> Tasks:
    """Return the tasks in a text that :func:`format_tasks` wrote."""
    try:
        if "_" in text or not text.isascii():  # int() would read them as digits
            raise ValueError
        return tuple(tuple(map(int, task.split())) for task in text.split("|"))
    except ValueError:
        raise ValueError(f"{format_value(text)} is not a list of class ids") from None


def _class_id(value: object) -> int:
    if type(value) is int and value >= 0:  # the usual case, checked quickly
        return value
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"class id {value!r} is not an integer")
    if value < 0:
        raise UsageError(f"Class ids must be 0 or more. Got {value}.")
    return int(value)
