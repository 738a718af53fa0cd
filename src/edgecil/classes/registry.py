"""Class lists by dataset name: the bundled ones, and those that a user registers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from importlib.resources import files

from edgecil.classes.lists import ClassList, class_list
from edgecil.errors import UsageError
from edgecil.registry import Registry

BUNDLED = (
    "cifar10",
    "cifar100",
    "cub200",
    "caltech101",
    "imagenet",
    "imagenet100",
    "imagenet100-lucir",
    "imagenet-r",
    "imagenet-a",
    "food101",
    "fgvc-aircraft",
    "stanford-cars",
    "ham10000",
    "ham10000-paper",
    "eyepacs",
    "eyepacs-paper",
    "quickdraw",
    "quickdraw-pretrain",
    "quickdraw-all",
)
ALIASES = {
    "cifar": "cifar100",
    "cifar224": "cifar100",
    "cub": "cub200",
    "imagenet1k": "imagenet",
    "imagenet1000": "imagenet",
    "imagenet100-podnet": "imagenet100",
    "aircraft": "fgvc-aircraft",
    "cars": "stanford-cars",
    "cars196": "stanford-cars",
}


@cache
def _bundled(name: str) -> ClassList:
    text = (files("edgecil.classes") / "data" / f"{name}.tsv").read_text(encoding="utf-8")
    rows = [line.split("\t") for line in text.splitlines() if not line.startswith("#")]
    labels = tuple(row[0] for row in rows)
    has_folders = all(len(row) == 2 for row in rows)
    return ClassList(name, labels, tuple(row[1] for row in rows) if has_folders else None)


def _entries() -> Registry[Callable[[], ClassList]]:
    entries: dict[str, Callable[[], ClassList]] = {}
    for name in BUNDLED:
        entries[name] = partial(_bundled, name)
    entries["caltech101-images"] = partial(_bundled, "caltech101")
    return Registry("dataset", entries, aliases=ALIASES)


CLASS_LISTS = _entries()


def dataset_names(pattern: str = "*") -> tuple[str, ...]:
    """Return names of the class lists that match a shell pattern, bundled ones first."""
    return CLASS_LISTS.names(pattern)


def get_classes(name: str) -> ClassList:
    """Return the class list of that name; case, blanks, `-` and `_` do not matter.

    >>> get_classes("ImageNet_R").words[0]
    'goldfish'
    """
    return CLASS_LISTS[name]()


def register_classes(name: str, names: Sequence[str], *, count: int | None = None) -> ClassList:
    """Register the class list of your own dataset, for this process.

    Args:
        name: the dataset's name; bundled names cannot be taken, your own are replaced.
        names: N raw labels in label order.
        count: how many there must be.
    """
    if name in CLASS_LISTS and CLASS_LISTS.resolve(name) in BUNDLED:
        raise UsageError(f"Dataset name {name!r} is bundled already; choose another name.")
    classes = class_list(name, names)
    if count is not None:
        classes.require(count)
    CLASS_LISTS.add(name, lambda: classes)
    return classes
