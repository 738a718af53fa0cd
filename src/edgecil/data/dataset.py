"""Labelled images or vectors, and a dataset of them; every source is read into this form."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from edgecil.errors import DataError, UsageError
from edgecil.io.arrays import Inputs, Ints

_HASHED_AT_ONCE = 1024


@dataclass(frozen=True, eq=False)
class Examples:
    """Images, or vectors of any modality, with their labels.

    Attributes:
        inputs: images (n, channels, height, width) uint8, or vectors (n, d) float32.
        labels: (n,) int64, at least 0.
    """

    inputs: Inputs
    labels: Ints

    def __post_init__(self) -> None:
        shape, kind = self.inputs.shape, self.inputs.dtype
        if len(shape) not in (2, 4) or 0 in shape[1:]:
            raise DataError(
                "Inputs must be images (n, channels, height, width) or vectors (n, d). "
                f"Got the shape {shape} instead."
            )
        if kind != (np.uint8 if len(shape) == 4 else np.float32):
            raise DataError(f"Pixels must be uint8, and vectors float32. Got {kind} instead.")
        if self.labels.dtype != np.int64 or self.labels.shape != shape[:1]:
            raise DataError(
                f"There must be one label per input, {shape[0]} in int64. Got "
                f"{self.labels.dtype} of shape {self.labels.shape}."
            )
        if len(self.labels) and self.labels.min() < 0:
            raise DataError(f"Labels must be at least 0. Got {self.labels.min()} among them.")

    def __len__(self) -> int:
        return len(self.labels)


@dataclass(frozen=True, eq=False)
class Dataset:
    """A training and a test set over the same N classes.

    Attributes:
        name: the dataset's name.
        names: N class names, in label order.
        train: inputs of every class.
        test: other inputs of every class, of the same shape.
        notes: sentences about choices on reading that a user should know.
    """

    name: str
    names: tuple[str, ...]
    train: Examples
    test: Examples
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.train.inputs.shape[1:] != self.test.inputs.shape[1:]:
            raise DataError(
                f"Inputs of {self.name!r} must all have one shape. Got {self.shape} for training "
                f"and {self.test.inputs.shape[1:]} for testing."
            )
        check_coverage(self.name, self.names, self.train.labels, self.test.labels)

    def __len__(self) -> int:
        return len(self.names)

    @property
    def shape(self) -> tuple[int, ...]:
        """(channels, height, width) of every image, or (d,) of every vector."""
        return self.train.inputs.shape[1:]

    @property
    def channels(self) -> int:
        """Channels of every image; 0 for vectors."""
        return self.shape[0] if len(self.shape) == 3 else 0

    def counts(self) -> tuple[Ints, Ints]:
        """Return the numbers of training and of test images of each class, shape (N,) each."""
        return (
            np.bincount(self.train.labels, minlength=len(self)),
            np.bincount(self.test.labels, minlength=len(self)),
        )

    def take(self, ids: Sequence[int] | Ints) -> Dataset:
        """Return the classes `ids` alone, relabelled: `ids[i]` becomes class `i`.

        Inputs are copied in their order; for all classes in label order, the dataset is returned.
        """
        if np.array_equal(ids, np.arange(len(self))):
            return self
        label_of = new_labels(len(self), ids)
        names = tuple(self.names[index] for index in ids)
        parts = []
        for part in (self.train, self.test):
            labels = label_of[part.labels]
            is_taken = labels >= 0
            parts.append(Examples(part.inputs[is_taken], labels[is_taken]))
        return Dataset(self.name, names, parts[0], parts[1], self.notes)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of class names, shapes, inputs and labels; equal for equal content."""
        digest = hashlib.sha256()
        for name in self.names:
            digest.update(name.encode("utf-8", "surrogatepass") + b"\0")
        for images in (self.train, self.test):
            digest.update(repr(images.inputs.shape).encode())
            digest.update(images.labels.astype("<i8").tobytes())
            for start in range(0, len(images), _HASHED_AT_ONCE):
                block = images.inputs[start : start + _HASHED_AT_ONCE]
                digest.update(np.ascontiguousarray(block).data)
        return digest.hexdigest()


def check_coverage(name: str, names: Sequence[str], train: Ints, test: Ints) -> None:
    """Check that names are unique, labels are below N and every class is in both parts."""
    if len(set(names)) != len(names):
        raise DataError(f"Class names of {name!r} must be unique; {len(names)} were given.")
    for part, labels in (("training", train), ("test", test)):
        if len(labels) and labels.max() >= len(names):
            raise DataError(
                f"{name!r} has {len(names)} classes, so its labels must be in "
                f"[0, {len(names) - 1}]. Got {labels.max()} among the {part} labels."
            )
        empty = np.flatnonzero(np.bincount(labels, minlength=len(names)) == 0)
        if len(empty):
            raise DataError(
                f"Class {empty[0]} ({names[empty[0]]!r}) of {name!r} has no {part} inputs; every "
                "class needs some for training and some for testing."
            )


def new_labels(total: int, ids: Sequence[int] | Ints) -> Ints:
    """Return the new label of each old one, shape (total,); -1 for classes that are not taken."""
    chosen = np.asarray(ids, dtype=np.int64)
    if len(np.unique(chosen)) != len(chosen) or not np.all((chosen >= 0) & (chosen < total)):
        raise UsageError(f"Classes to take must be unique and in [0, {total - 1}]. Got {ids}.")
    label_of = np.full(total, -1, dtype=np.int64)
    label_of[chosen] = np.arange(len(chosen))
    return label_of
