"""Class lists: names of a dataset's classes in label order, bundled, registered or in a file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from pathlib import Path

from edgecil.errors import UsageError
from edgecil.io.csv_files import check_header, read_rows
from edgecil.io.files import read_json, read_text
from edgecil.io.toml import read_toml
from edgecil.registry import Registry

_DATA = Path(__file__).parent / "data"
_TABLE = read_toml(_DATA / "lists.toml")
BUNDLED: tuple[str, ...] = tuple(_TABLE["bundled"])
ALIASES: dict[str, str] = _TABLE["aliases"]
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
        if isinstance(self.labels, str):
            raise UsageError(
                f"Class names of {self.name!r} must be a list of names, one per class. "
                f"Got the single text {self.labels!r} instead."
            )
        object.__setattr__(self, "labels", tuple(self.labels))
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


@cache
def _bundled(name: str) -> ClassList:
    text = (_DATA / f"{name}.tsv").read_text(encoding="utf-8")
    rows = [line.split("\t") for line in text.splitlines() if not line.startswith("#")]
    labels = tuple(row[0] for row in rows)
    has_folders = all(len(row) == 2 for row in rows)
    return ClassList(name, labels, tuple(row[1] for row in rows) if has_folders else None)


_LISTS: dict[str, Callable[[], ClassList]] = {name: partial(_bundled, name) for name in BUNDLED}
_LISTS["caltech101-images"] = partial(_bundled, "caltech101")
CLASS_LISTS = Registry("dataset", _LISTS, aliases=ALIASES)


def dataset_names(pattern: str = "*") -> tuple[str, ...]:
    """Return names of the class lists that match a shell pattern, bundled ones first."""
    return CLASS_LISTS.names(pattern)


def get_classes(name: str) -> ClassList:
    """Return the class list of that name; case, blanks, `-` and `_` do not matter.

    >>> get_classes("ImageNet_R").words[0]
    'goldfish'
    """
    return CLASS_LISTS[name]()


def register_classes(name: str, names: Sequence[str]) -> ClassList:
    """Register the class list of your own dataset, for this process.

    Args:
        name: the dataset's name; bundled names cannot be taken, your own are replaced.
        names: N raw labels in label order.
    """
    if name in CLASS_LISTS and CLASS_LISTS.resolve(name) in BUNDLED:
        raise UsageError(f"Dataset name {name!r} is bundled already; choose another name.")
    classes = ClassList(name, names)  # type: ignore[arg-type]
    CLASS_LISTS.add(name, lambda: classes)
    return classes


def read_classes(path: str | Path) -> ClassList:
    """Read a class list in label order from a .txt, .csv or .json file, whose stem is its name.

    - .txt: one name per line (a trailing newline is fine, a blank line inside is an error);
    - .csv: a column headed `name` (or `label`, `class`), else the only column;
    - .json: a list of names, or an object from label index to name.
    """
    path = Path(path)
    reader = {".txt": _read_lines, ".csv": _read_csv, ".json": _read_json}.get(path.suffix.lower())
    if reader is None:
        raise UsageError(f"Class names are read from .txt, .csv or .json files. Got {path}.")
    return ClassList(path.stem, tuple(reader(path)))


def _read_lines(path: Path) -> list[str]:
    text = read_text(path)
    return [line.strip() for line in text.rstrip("\n").split("\n")] if text.strip() else []


def _read_csv(path: Path) -> list[str]:
    rows = read_rows(path)
    if not rows:
        return []
    header = [cell.strip().lower() for cell in rows[0]]
    check_header(header, str(path))
    headed = [header.index(word) for word in ("name", "label", "class") if word in header]
    if headed:
        column, rows = headed[0], rows[1:]
    elif len(rows[0]) == 1:
        column = 0
    else:
        raise UsageError(
            f"{path} has {len(rows[0])} columns and none is headed 'name'; "
            "add a header line that says which column holds the class names."
        )
    if any(len(row) <= column for row in rows):
        raise UsageError(f"{path} has rows with no class name in column {column + 1}.")
    return [row[column].strip() for row in rows]


def _read_json(path: Path) -> list[str]:
    data = read_json(path)
    if isinstance(data, dict):
        if sorted(data) != sorted(str(index) for index in range(len(data))):
            raise UsageError(
                f"{path} contains an object whose keys are not the labels 0 to {len(data) - 1}; "
                "give a list of names in label order instead."
            )
        data = [data[str(index)] for index in range(len(data))]
    if not isinstance(data, list):
        raise UsageError(f"{path} must contain a list of class names. Got {type(data).__name__}.")
    return data
