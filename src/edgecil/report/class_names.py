"""Class orders as text, with the names of the classes."""

from __future__ import annotations

from edgecil.classes.lists import words_of
from edgecil.estimation import AccuracyTable
from edgecil.sequences.sequence import ClassSequence


def describe(table: AccuracyTable, sequence: ClassSequence) -> str:
    """The classes task by task, by name if the table has names, else by id."""
    names = table.names
    return " | ".join(
        ", ".join(str(class_) if names is None else words_of(names[class_]) for class_ in task)
        for task in sequence.tasks
    )
