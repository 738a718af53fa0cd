"""A class list: the labels of a dataset in label order, and the words for an encoder."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from edgecil.errors import UsageError

_APOSTROPHES = str.maketrans({"\u2018": "'", "\u2019": "'", "\u02bc": "'", "\u00b4": "'"})


@dataclass(frozen=True)
class ClassList:
    """The classes of a dataset, in label order.

    Attributes:
        name: the dataset's name.
        labels: N raw labels, as the dataset spells them; no two alike, none blank.
        folders: N folder or file codes that the dataset's images are filed under, if it has them.
    """

    name: str
    labels: tuple[str, ...]
    folders: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if not self.labels:
            raise UsageError(f"Class list {self.name!r} is empty; give at least one class name.")
        for index, label in enumerate(self.labels):
            if not isinstance(label, str) or not label.strip():
                raise UsageError(
                    f"Class list {self.name!r} has a blank name at label {index} ({label!r}); "
                    "every class needs a name."
                )
        twice = [label for label, count in Counter(self.labels).items() if count > 1]
        if twice:
            raise UsageError(
                f"Class list {self.name!r} names {twice[0]!r} more than once "
                f"({len(twice)} duplicate name(s)); class names must be unique."
            )
        if self.folders is not None and len(self.folders) != len(self.labels):
            raise UsageError(
                f"Class list {self.name!r} has {len(self.labels)} labels "
                f"but {len(self.folders)} folders; give one folder per class."
            )

    def __len__(self) -> int:
        return len(self.labels)

    @cached_property
    def words(self) -> tuple[str, ...]:
        """N phrases for a text encoder, each class's first synonym.

        Where two classes would read the same ("crane" the bird, "crane" the machine), all of them.
        """
        words = [words_of(label) for label in self.labels]
        for longer in (_clean, str):
            count = Counter(words)
            words = [
                longer(label) if count[phrase] > 1 else phrase
                for phrase, label in zip(words, self.labels, strict=True)
            ]
        return tuple(words)

    def require(self, count: int) -> ClassList:
        """Return this list if it has `count` classes, or raise an error."""
        if len(self) != count:
            raise UsageError(
                f"Class list {self.name!r} has {len(self)} names but {count} classes were expected."
            )
        return self


def words_of(label: str) -> str:
    """Return the words for a raw label: the first synonym, with blanks instead of underscores.

    >>> words_of("goldfish, Carassius auratus")
    'goldfish'
    >>> words_of("001.Black_footed_Albatross")
    'Black footed Albatross'
    >>> words_of("jack-o\u2019-lantern")
    "jack-o'-lantern"
    """
    return _clean(label.split(",")[0]) or _clean(label)


def _clean(label: str) -> str:
    without_number = re.sub(r"^\d+\.(?=\D)", "", label.translate(_APOSTROPHES))
    return " ".join(without_number.replace("_", " ").split())


def class_list(name: str, names: Sequence[str]) -> ClassList:
    """Return a checked class list from any sequence of raw labels, in label order."""
    if isinstance(names, str):
        raise UsageError(
            f"Class names of {name!r} must be a list of names, one per class. "
            f"Got the single text {names!r} instead."
        )
    return ClassList(name, tuple(names))
