"""Class lists: names of a dataset's classes in label order, and the selection of some."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from edgecil.errors import UsageError
from edgecil.io.csv_files import check_header, read_rows
from edgecil.io.files import read_json, read_text, read_toml
from edgecil.registry import Registry

if TYPE_CHECKING:  # listing class names must not wait for NumPy
    import numpy as np
    from numpy.typing import NDArray

LEAST_CLASSES = 2  # of an experiment
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
        labels: N raw labels, as the dataset spells them; unique and not blank.
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
        repeated = [label for label, count in Counter(self.labels).items() if count > 1]
        if repeated:
            raise UsageError(
                f"Class list {self.name!r} names {repeated[0]!r} more than once "
                f"({len(repeated)} duplicate name(s)); class names must be unique."
            )

    def __len__(self) -> int:
        return len(self.labels)

    @cached_property
    def words(self) -> tuple[str, ...]:
        """N phrases for a text encoder, each class's first synonym.

        Classes that would read the same ("crane" the bird, "crane" the machine) have all synonyms.
        """
        words = [words_of(label) for label in self.labels]
        for longer_phrase in (_clean, str):
            count = Counter(words)
            words = [
                longer_phrase(label) if count[phrase] > 1 else phrase
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


def straighten_apostrophes(text: str) -> str:
    """Return a text with the typewriter's apostrophe in place of all others.

    >>> straighten_apostrophes("spider\u2019s web")
    "spider's web"
    """
    return text.translate(_APOSTROPHES)


def _clean(label: str) -> str:
    without_number = re.sub(r"^\d+\.(?=\D)", "", straighten_apostrophes(label))
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
    - .json: a list of names.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix == ".txt":
        names = read_text(path).rstrip("\n").split("\n")
    elif suffix == ".csv":
        names = _read_column(path)
    elif suffix == ".json":
        names = read_json(path)
        if not isinstance(names, list):
            raise UsageError(f"{path} must contain a list of names. Got {type(names).__name__}.")
    else:
        raise UsageError(f"Class names are read from .txt, .csv or .json files. Got {path}.")
    stripped = (name.strip() if isinstance(name, str) else name for name in names)
    return ClassList(path.stem, tuple(stripped))


def _read_column(path: Path) -> list[str]:
    rows = read_rows(path)
    header = [cell.strip().lower() for cell in rows[0]] if rows else []
    check_header(header, str(path))
    name_columns = [header.index(word) for word in ("name", "label", "class") if word in header]
    if not name_columns and len(header) > 1:
        raise UsageError(
            f"{path} has {len(header)} columns and none is headed 'name'; "
            "add a header line that says which column holds the class names."
        )
    column = 0
    if name_columns:
        column, rows = name_columns[0], rows[1:]
    if any(len(row) <= column for row in rows):
        raise UsageError(f"{path} has rows with no class name in column {column + 1}.")
    return [row[column] for row in rows]


def select_classes(
    total: int,
    *,
    count: int | None = None,
    seed: int | None = None,
    ids: Sequence[int] | NDArray[np.integer] | None = None,
) -> NDArray[np.int64]:
    """Return the ids of the classes to use, at least two; all of them by default.

    Args:
        total: number of classes of the dataset.
        count: use the first `count` classes in label order, as the paper does.
        seed: draw the `count` classes with this seed instead; they stay in label order.
        ids: exactly these classes, in this order.

    Returns:
        (n,) class ids in [0, total).

    >>> select_classes(10, count=3)
    array([0, 1, 2])
    >>> select_classes(10, count=3, seed=42)
    array([0, 5, 6])
    """
    import numpy as np

    if ids is not None:
        if count is not None or seed is not None:
            raise UsageError("Give either `class_ids` or `classes` and `classes_seed`, not both.")
        class_ids = np.asarray(ids)
        is_list = class_ids.ndim == 1 and class_ids.dtype.kind in "iu"
        if not is_list or len(class_ids) < LEAST_CLASSES:
            raise UsageError(
                f"Class ids must be a list of at least {LEAST_CLASSES} integers. Got {ids}."
            )
        outside = class_ids[(class_ids < 0) | (class_ids >= total)]
        if len(outside):
            raise UsageError(f"Class ids must be in [0, {total - 1}]. Got {outside[0]} among them.")
        unique_ids, counts = np.unique(class_ids, return_counts=True)
        if len(unique_ids) < len(class_ids):
            repeated = unique_ids[counts > 1][0]
            raise UsageError(f"Class ids must be unique. Got {repeated} more than once.")
        return class_ids.astype(np.int64)
    if count is None:
        if seed is not None:
            raise UsageError("`classes_seed` draws a number of classes; give `classes` as well.")
        return np.arange(total, dtype=np.int64)
    if not LEAST_CLASSES <= count <= total:
        raise UsageError(f"`classes` must be in [{LEAST_CLASSES}, {total}]. Got {count} instead.")
    if seed is None:
        return np.arange(count, dtype=np.int64)
    if seed < 0:
        raise UsageError(f"`classes_seed` must be at least 0. Got {seed} instead.")
    return np.sort(np.random.default_rng(seed).permutation(total)[:count])
