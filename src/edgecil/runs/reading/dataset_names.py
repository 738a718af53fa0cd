"""Names of datasets, as they stand in headers, cells and file names."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from edgecil.runs.metric_names import read_lines

_FILE = Path(__file__).with_name("dataset_names.txt")
_PREFIXES = (
    "split", "seq", "sequential", "permuted", "perm", "rotated", "rot", "tiny", "mini", "ordered",
    "s", "p", "r", "stanford", "oxford", "fgvc", "the", "i", "ci", "sub", "subset", "full",
    "extended", "long", "tailed", "blurry", "online", "class", "domain", "incremental",
)  # fmt: skip
_LETTERS = re.compile(r"[a-z]+")


@cache
def is_dataset(name: str) -> bool:
    """Return whether a text is the name of a dataset.

    >>> is_dataset("Split CIFAR-100"), is_dataset("splitmnist"), is_dataset("er_ace")
    (True, True, False)
    """
    words = [_without_prefix(word) for word in _LETTERS.findall(name.lower())]
    words = [word for word in words if word not in _PREFIXES]
    if not words:
        return False
    return words[0] in _words() or "".join(words) in _words()


def _without_prefix(word: str) -> str:
    """Return a word without a prefix that is written together with it: `splitmnist`."""
    for prefix in _PREFIXES:
        if word.startswith(prefix) and word.removeprefix(prefix) in _words():
            return word.removeprefix(prefix)
    return word


@cache
def _words() -> frozenset[str]:
    return frozenset(read_lines(_FILE))
