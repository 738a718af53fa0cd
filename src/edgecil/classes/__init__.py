"""Names of a dataset's classes, in label order."""

from edgecil.classes.lists import (
    ClassList,
    dataset_names,
    get_classes,
    read_classes,
    register_classes,
    words_of,
)
from edgecil.classes.selection import select_classes

__all__ = [
    "ClassList",
    "dataset_names",
    "get_classes",
    "read_classes",
    "register_classes",
    "select_classes",
    "words_of",
]
