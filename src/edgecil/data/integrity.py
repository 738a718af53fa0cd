"""Checks for defects of a dataset that make accuracy look better or more certain than it is.

These are test inputs that also occur in training, inputs with two labels, classes with the same
inputs, and classes with too few test inputs. Inputs are equal if all their numbers are equal, files
if their bytes are equal.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from edgecil.data.dataset import Dataset
from edgecil.data.items import Items
from edgecil.errors import DataError, name_some
from edgecil.io.arrays import Inputs, Ints

FEWEST_TESTS = 5  # of a class; with fewer, one answer moves its accuracy by over 20 points
REFUSED_SHARE = 0.5  # of the test inputs

_AT_ONCE = 1024
_WORD = 8  # bytes

Words = NDArray[np.uint64]

_inspected: dict[tuple[str, str], Integrity] = {}  # by name and content


@dataclass(frozen=True)
class Integrity:
    """Numbers of doubtful inputs and classes in a dataset.

    Attributes:
        name: the dataset's name.
        tests: number of test inputs.
        leaked: test inputs that occur in training.
        is_same: whether both parts have the same inputs.
        ambiguous: different inputs that have two labels or more.
        equal_classes: names of classes whose training inputs are the same.
        small_classes: names of classes with fewer than five test inputs.
    """

    name: str
    tests: int
    leaked: int = 0
    is_same: bool = False
    ambiguous: int = 0
    equal_classes: tuple[str, ...] = ()
    small_classes: tuple[str, ...] = ()

    @property
    def is_refused(self) -> bool:
        """Whether the test mostly shows what was memorised."""
        return self.leaked > 0 and self.leaked >= REFUSED_SHARE * self.tests

    def sentences(self) -> list[str]:
        """Return a sentence about each defect."""
        sentences = []
        if self.is_same:
            sentences.append(f"Training and test inputs of {self.name} are the same.")
        elif self.leaked:
            sentences.append(
                f"{self.leaked:,} of {self.tests:,} test inputs of {self.name} occur in training."
            )
        if self.ambiguous:
            verb = "has" if self.ambiguous == 1 else "have"
            noun = "input" if self.ambiguous == 1 else "inputs"
            sentences.append(f"{self.ambiguous:,} {noun} of {self.name} {verb} several labels.")
        if self.equal_classes:
            sentences.append(
                f"Classes of {self.name} have the same training inputs: "
                f"{name_some(self.equal_classes)}."
            )
        if self.small_classes:
            count = len(self.small_classes)
            classes = "1 class" if count == 1 else f"{count} classes"
            sentences.append(
                f"{classes} of {self.name} {'has' if count == 1 else 'have'} fewer than "
                f"{FEWEST_TESTS} test inputs ({name_some(self.small_classes)}), so intervals, "
                "which do not count the choice of test inputs, are too narrow."
            )
        return sentences


def doubts_about(integrity: Integrity, reason: str | None) -> tuple[str, ...]:
    """Return the sentences about a dataset.

    If most test inputs occur in training, `reason` must say why that is allowed.
    """
    sentences = integrity.sentences()
    if integrity.is_refused:
        if reason is None or not reason.strip():
            raise DataError(
                f"{sentences[0].rstrip('.')}, so accuracies would show what was memorised; give "
                "other test inputs, or a reason to `allow_leak`, which travels with the results."
            )
        sentences.insert(1, f"That was allowed for this reason: {reason.strip().rstrip('.')}.")
    return tuple(sentences)


def inspect_dataset(dataset: Dataset) -> Integrity:
    """Return the defects of a dataset; equal content is inspected once."""
    key = dataset.name, dataset.fingerprint
    if key not in _inspected:
        groups = group_inputs((dataset.train.inputs, dataset.test.inputs))
        labels = np.concatenate([dataset.train.labels, dataset.test.labels])
        testing = np.arange(len(labels)) >= len(dataset.train)
        _inspected[key] = _count(dataset.name, dataset.names, groups, labels, testing)
    return _inspected[key]


def inspect_files(items: Items, classes: Ints) -> Integrity | None:
    """Return the defects of some classes of a dataset of files; None if items are not files."""
    chosen = np.flatnonzero(np.isin(items.labels, classes))
    paths = [items.items[index] for index in chosen.tolist()]
    files = [path for path in paths if isinstance(path, Path)]
    if len(files) < len(paths):
        return None
    labels, testing = items.labels[chosen], items.testing[chosen]
    return _count(items.name, items.names, group_files(files), labels, testing)


def _count(
    name: str, names: Sequence[str], groups: Ints, labels: Ints, testing: NDArray[np.bool_]
) -> Integrity:
    """Count the defects; inputs in one group are equal. All arrays are (n,)."""
    train, test = groups[~testing], groups[testing]
    leaked = int(np.isin(test, train).sum())
    is_same = leaked == len(test) and bool(np.isin(train, test).all())
    labels_of_groups = np.unique(np.stack([groups, labels]), axis=1)[0]
    labels_per_group = np.unique(labels_of_groups, return_counts=True)[1]
    counts = np.bincount(labels[testing], minlength=len(names))
    is_small = (counts > 0) & (counts < FEWEST_TESTS)
    small = [names[label] for label in np.flatnonzero(is_small).tolist()]
    return Integrity(
        name,
        len(test),
        leaked,
        is_same,
        int((labels_per_group > 1).sum()),
        tuple(_equal_classes(train, labels[~testing], names)),
        tuple(small),
    )


def _equal_classes(groups: Ints, labels: Ints, names: Sequence[str]) -> Iterator[str]:
    """Yield `a = b` for classes whose training inputs (n,) are the same."""
    order = np.argsort(labels, kind="stable")
    present, starts = np.unique(labels[order], return_index=True)
    class_of_content: dict[bytes, int] = {}
    for label, members in zip(present, np.split(groups[order], starts[1:]), strict=True):
        content = np.unique(members).tobytes()
        first = class_of_content.setdefault(content, label)
        if first != label:
            yield f"{names[first]} = {names[label]}"


def group_inputs(parts: Sequence[Inputs]) -> Ints:
    """Return the number of a group for every input (n,); equal inputs have equal numbers."""
    sums = np.concatenate([_sum_words(part) for part in parts])
    inputs: list[tuple[Inputs, int]] = []  # each a part and an index in it
    for part in parts:
        inputs += [(part, index) for index in range(len(part))]

    def digest(place: int) -> bytes:
        part, index = inputs[place]
        return hashlib.blake2b(np.ascontiguousarray(part[index]).data, digest_size=16).digest()

    return _group(sums, digest)


def group_files(paths: Sequence[Path]) -> Ints:
    """Return the number of a group for every file (n,); equal files have equal numbers."""
    sizes = np.array([path.stat().st_size for path in paths], dtype=np.uint64)

    def digest(place: int) -> bytes:
        return hashlib.sha256(paths[place].read_bytes()).digest()

    return _group(sizes, digest)


def _group(keys: Words, digest: Callable[[int], bytes]) -> Ints:
    """Group places (n,) by their keys, and places with equal keys by a digest of their content."""
    _, groups, counts = np.unique(keys, return_inverse=True, return_counts=True)
    groups = groups.astype(np.int64)
    number_of_digest: dict[bytes, int] = {}
    for place in np.flatnonzero(counts[groups] > 1).tolist():
        number = number_of_digest.setdefault(digest(place), len(counts) + len(number_of_digest))
        groups[place] = number
    return groups


def _sum_words(inputs: Inputs) -> Words:
    """Return a sum (n,) of the bytes of every input, in words with odd weights, modulo 2^64.

    Equal inputs have equal sums. Different inputs seldom do; their digests differ then.
    """
    size = inputs[:1].nbytes if len(inputs) else _WORD
    words = -(-size // _WORD)
    weights = np.random.default_rng(0).integers(0, 2**63, words, dtype=np.uint64) * 2 + 1
    sums = np.empty(len(inputs), dtype=np.uint64)
    for start in range(0, len(inputs), _AT_ONCE):
        block = np.ascontiguousarray(inputs[start : start + _AT_ONCE])
        content = block.reshape(len(block), -1).view(np.uint8)
        if size % _WORD:
            content = np.pad(content, ((0, 0), (0, words * _WORD - size)))
        sums[start : start + len(block)] = np.einsum("ij,j->i", content.view(np.uint64), weights)
    return sums
