"""Names of a dataset's classes, in label order."""

from edgecil.classes.files import read_classes
from edgecil.classes.lists import ClassList, words_of
from edgecil.classes.registry import dataset_names, get_classes, register_classes
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
