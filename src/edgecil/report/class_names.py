"""Class orders as text, with the names of the classes."""

from __future__ import annotations

from collections.abc import Sequence

from edgecil.classes.lists import words_of
from edgecil.engine.runs import Runs
from edgecil.sequences.sequence import ClassSequence


def class_name(table: Runs, class_: int) -> str:
    """A class's name, or its id if the table has no names."""
    return str(class_) if table.names is None else words_of(table.names[class_])


def class_names(table: Runs) -> list[str]:
    """The names of all classes by their id, or the ids if the table has no names."""
    return [class_name(table, class_) for class_ in range(max(table.classes) + 1)]


def describe(names: Sequence[str], sequence: ClassSequence) -> str:
    """The classes task by task, by name."""
    return " | ".join(", ".join(map(names.__getitem__, task)) for task in sequence.tasks)
