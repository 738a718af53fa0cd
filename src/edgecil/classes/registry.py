"""Every class list known by name: the bundled ones, and those a user registers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from edgecil.classes.lists import ClassList, class_list
from edgecil.errors import UsageError, unknown

BUNDLED = (
    "cifar100",
    "cub200",
    "imagenet-r",
    "imagenet-a",
    "ham10000",
    "eyepacs",
    "quickdraw",
    "quickdraw-pretrain",
    "quickdraw-all",
)

_ALIASES = {"cifar": "cifar100", "cifar224": "cifar100", "cub": "cub200"}
_registered: dict[str, ClassList] = {}


def dataset_names() -> tuple[str, ...]:
    """Names of every known class list, bundled ones first."""
    return BUNDLED + tuple(_registered)


def get_classes(name: str) -> ClassList:
    """The class list of that name; case, blanks, `-` and `_` do not matter.

    >>> get_classes("ImageNet_R").words[0]
    'goldfish'
    """
    key = _key(name)
    by_key = {_key(known): known for known in dataset_names()}
    by_key |= {_key(alias): known for alias, known in _ALIASES.items()}
    if key not in by_key:
        raise unknown("dataset", name, dataset_names())
    known = by_key[key]
    return _registered[known] if known in _registered else _bundled(known)


def register_classes(name: str, names: Sequence[str], *, count: int | None = None) -> ClassList:
    """Make a dataset of your own known by name, for this process.

    Args:
        name: the dataset's name; bundled names cannot be taken, your own are replaced.
        names: N raw labels in label order.
        count: how many there must be, if that is known.
    """
    if _key(name) in {_key(known) for known in (*BUNDLED, *_ALIASES)}:
        raise UsageError(f"Dataset name {name!r} is bundled already; choose another name.")
    for other in list(_registered):
        if _key(other) == _key(name):
            del _registered[other]
    classes = class_list(name, names)
    _registered[name] = classes if count is None else classes.require(count)
    return _registered[name]


def _key(name: str) -> str:
    return re.sub(r"[-_\s]", "", name).lower()


@cache
def _bundled(name: str) -> ClassList:
    text = (files("edgecil.classes") / "data" / f"{name}.tsv").read_text(encoding="utf-8")
    rows = [line.split("\t") for line in text.splitlines() if not line.startswith("#")]
    labels = tuple(row[0] for row in rows)
    filed = all(len(row) == 2 for row in rows)
    return ClassList(name, labels, tuple(row[1] for row in rows) if filed else None)
