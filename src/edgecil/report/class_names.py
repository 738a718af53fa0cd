"""Class orders as text, with the names of the classes."""

from __future__ import annotations

from edgecil.classes.lists import words_of
from edgecil.estimation import AccuracyTable
from edgecil.sequences.sequence import ClassSequence


def class_name(table: AccuracyTable, class_: int) -> str:
    """A class's name, or its id if the table has no names."""
    return str(class_) if table.names is None else words_of(table.names[class_])


def describe(table: AccuracyTable, sequence: ClassSequence) -> str:
    """The classes task by task, by name if the table has names, else by id."""
    return " | ".join(
        ", ".join(class_name(table, class_) for class_ in task) for task in sequence.tasks
    )
