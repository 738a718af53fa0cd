"""Orders of given tasks: domains, datasets or texts in sequence, where only their order varies.

A task has a name and, where the learner is trained by classes, the classes that it brings. There
are T! orders of T tasks. An order of tasks is a sequence of T tasks of one class each, where class
i stands for the i-th given task; :meth:`TaskOrderSpace.expand` replaces it by its classes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import factorial
from pathlib import Path
from typing import Any

import numpy as np

from edgecil.errors import DataError, UsageError, format_value, name_some
from edgecil.io.files import read_text
from edgecil.sequences.sequence import ClassSequence
from edgecil.sequences.space import SequenceSpace

GIVEN_TASKS = "given tasks"
"""The key of given tasks in an experiment's identity."""

_FORM = (
    "a name in each line, a JSON list of names, or a JSON object with the classes of each task, "
    'such as {"animals": ["cat", "dog"], "vehicles": ["car", "bus"]}'
)


@dataclass(frozen=True)
class GivenTask:
    """A task whose content is given.

    Attributes:
        name: of the task.
        classes: names or ids of its classes; empty if only its name is known.
    """

    name: str
    classes: tuple[str | int, ...] = ()


def read_given_tasks(source: str | Path | Mapping[str, Any] | Sequence[Any]) -> list[GivenTask]:
    """Return the given tasks in a file, in JSON text, or in an object of Python.

    >>> read_given_tasks(["news", "reviews"])
    [GivenTask(name='news', classes=()), GivenTask(name='reviews', classes=())]
    >>> read_given_tasks('{"animals": ["cat", 3], "plants": ["oak"]}')[0]
    GivenTask(name='animals', classes=('cat', 3))
    """
    content = _parse(source) if isinstance(source, (str, Path)) else source
    if isinstance(content, Mapping):
        tasks = [GivenTask(str(name), _classes(name, classes)) for name, classes in content.items()]
    elif all(isinstance(entry, str) and entry for entry in content):
        tasks = [GivenTask(name) for name in content]
    elif all(isinstance(entry, (list, tuple)) for entry in content):
        tasks = [
            GivenTask(f"task {number}", _classes(number, classes))
            for number, classes in enumerate(content)
        ]
    else:
        raise UsageError(f"`given_tasks` must have {_FORM}. Got {format_value(content)}.")
    names = [task.name for task in tasks]
    if len(names) < 2 or len(set(names)) != len(names):
        raise UsageError(
            f"`given_tasks` must name at least two tasks, each once. Got {format_value(names)}."
        )
    return tasks


def task_text(source: str | Path | Mapping[str, Any] | Sequence[Any]) -> str:
    """Return given tasks as the JSON text that an experiment stores.

    >>> task_text(["news", "reviews"])
    '["news", "reviews"]'
    """
    tasks = read_given_tasks(source)
    if any(task.classes for task in tasks):
        return json.dumps({task.name: list(task.classes) for task in tasks}, ensure_ascii=False)
    return json.dumps([task.name for task in tasks], ensure_ascii=False)


def name_task_classes(tasks: Sequence[GivenTask]) -> list[str]:
    """Return the names of the classes of given tasks, or of the tasks if they name no classes."""
    classes: list[str | int] = []
    for task in tasks:
        classes += task.classes
    if not all(isinstance(class_, str) for class_ in classes):
        raise UsageError(
            "The given tasks have class ids, which say nothing without a `dataset`; give it, or "
            "name the classes."
        )
    return list(map(str, classes)) or [task.name for task in tasks]


def _parse(source: str | Path) -> Any:
    """Return the content of JSON text, of a JSON file, or of a file with a name in each line."""
    text = str(source)
    is_path = isinstance(source, Path) or not text.lstrip().startswith(("{", "["))
    if is_path:
        text = read_text(Path(source))
    if not text.lstrip().startswith(("{", "[")):
        return [line.strip() for line in text.splitlines() if line.strip()]
    try:
        return json.loads(text)
    except ValueError as error:
        raise DataError(
            f"{format_value(str(source))} is not JSON: {error}; give {_FORM}."
        ) from error


def _classes(name: object, classes: Any) -> tuple[str | int, ...]:
    valid = isinstance(classes, (list, tuple)) and classes
    if not valid or not all(isinstance(entry, (str, int)) for entry in classes):
        raise UsageError(
            f"The task {format_value(name)} must have a list of class names or ids. Got "
            f"{format_value(classes)}."
        )
    return tuple(classes)


class TaskOrderSpace(SequenceSpace):
    """Every order of T given tasks.

    Attributes:
        names: of the T tasks.
        classes_of_task: the class ids of each; together they are 0 … N-1.

    >>> space = TaskOrderSpace(["a", "b", "c"], [[0, 1], [2], [3, 4]])
    >>> space.size, ClassSequence([[3, 4], [0, 1], [2]]) in space
    (6, True)
    """

    names: tuple[str, ...]
    classes_of_task: tuple[tuple[int, ...], ...]

    def __init__(self, names: Sequence[str], classes_of_task: Sequence[Sequence[int]]) -> None:
        super().__init__([len(classes) for classes in classes_of_task])
        every_class = sorted(chain.from_iterable(classes_of_task))
        if every_class != list(range(len(every_class))):
            raise UsageError(
                f"The given tasks must have each class from 0 to {len(every_class) - 1} once. "
                f"Got {format_value(every_class)}."
            )
        sorted_classes = tuple(tuple(sorted(classes)) for classes in classes_of_task)
        object.__setattr__(self, "names", tuple(names))
        object.__setattr__(self, "classes_of_task", sorted_classes)

    @classmethod
    def choose_tasks(cls, tasks: Sequence[GivenTask], class_names: Sequence[str]) -> TaskOrderSpace:
        """Return the space of given tasks, whose classes are named or numbered.

        Tasks without classes get one class each: the i-th task gets class i.
        """
        names = [task.name for task in tasks]
        if not any(task.classes for task in tasks):
            return cls(names, [[place] for place in range(len(tasks))])
        class_ids: dict[str | int, int] = {name: id_ for id_, name in enumerate(class_names)}
        class_ids |= {id_: id_ for id_ in range(len(class_names))}
        classes_of_task = []
        for task in tasks:
            unknown = [class_ for class_ in task.classes if class_ not in class_ids]
            if unknown or not task.classes:
                got = f"the class {format_value(unknown[0])}" if unknown else "no classes"
                raise UsageError(
                    f"The task {format_value(task.name)} must have classes of the dataset, by "
                    f"name or from 0 to {len(class_names) - 1}. Got {got}."
                )
            classes_of_task.append([class_ids[class_] for class_ in task.classes])
        in_tasks = set(chain.from_iterable(classes_of_task))
        left_out = [name for id_, name in enumerate(class_names) if id_ not in in_tasks]
        if left_out:
            raise UsageError(
                f"The given tasks must have every class of the dataset. They have {len(in_tasks)} "
                f"of {len(class_names)}, without {name_some(left_out)}; add these to a task, or "
                "give data of the other classes alone."
            )
        return cls(names, classes_of_task)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TaskOrderSpace):
            return False
        return self.names == other.names and self.classes_of_task == other.classes_of_task

    def __hash__(self) -> int:
        return hash((self.names, self.classes_of_task))

    @property
    def arranges_classes(self) -> bool:
        """Whether classes may move between tasks."""
        return False

    @property
    def size(self) -> int:
        """T!, the number of orders."""
        return factorial(self.tasks)

    @property
    def orders(self) -> SequenceSpace:
        """The same orders with one class for each task."""
        return SequenceSpace((1,) * self.tasks)

    def expand(self, order: ClassSequence) -> ClassSequence:
        """Return an order of tasks as a sequence of their classes.

        >>> space = TaskOrderSpace(["a", "b"], [[0, 2], [1]])
        >>> space.expand(ClassSequence([[1], [0]])).tasks
        ((1,), (0, 2))
        """
        return ClassSequence(self.classes_of_task[place] for place in order.order)

    def collapse(self, sequence: ClassSequence) -> ClassSequence:
        """Return a sequence of classes as an order of tasks, the inverse of `expand`."""
        place_of = {classes: place for place, classes in enumerate(self.classes_of_task)}
        return ClassSequence([place_of[task]] for task in sequence.tasks)

    def __contains__(self, sequence: object) -> bool:
        if not isinstance(sequence, ClassSequence):
            return False
        return sorted(sequence.tasks) == sorted(self.classes_of_task)

    def enumerate(self) -> Iterator[ClassSequence]:
        """Return each order once, lazily."""
        return map(self.expand, self.orders.enumerate())

    def sample(self, count: int, rng: np.random.Generator) -> list[ClassSequence]:
        """Return `count` different orders, uniformly without replacement."""
        return [self.expand(order) for order in self.orders.sample(count, rng)]


def given_tasks_identity(space: SequenceSpace) -> dict[str, Any]:
    """Return what an experiment stores about given tasks; empty where classes are arranged."""
    if not isinstance(space, TaskOrderSpace):
        return {}
    classes = [list(task) for task in space.classes_of_task]
    return {GIVEN_TASKS: {"names": list(space.names), "classes": classes}}


def find_task_orders(identity: Mapping[str, Any]) -> TaskOrderSpace | None:
    """Return the space of an experiment's given tasks; None where classes are arranged."""
    stored = identity.get(GIVEN_TASKS)
    return None if stored is None else TaskOrderSpace(stored["names"], stored["classes"])
