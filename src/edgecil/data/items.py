"""A dataset as a list of items: image files, or items of another library's dataset.

Items are read when they are needed, and only for the classes that are used.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from edgecil.data.dataset import Dataset, check_coverage, new_labels
from edgecil.data.decode import Item, choose_shape, decode_images
from edgecil.data.input_store import store_dataset
from edgecil.errors import DataError, PrerequisiteError
from edgecil.io.arrays import Inputs, Ints


@dataclass(frozen=True, eq=False)
class Items:
    """Items with their labels.

    Attributes:
        name: the dataset's name.
        names: N class names, in label order.
        items: n image files, or other items.
        labels: (n,) int64 in [0, N).
        testing: (n,) True for test items.
        size: usual number of pixels per side; None to keep the size of the images, or to choose
            one where they differ or are large.
        channels: 3 for a dataset in colour; None for 1 if all images are grey.
        notes: sentences about choices that a user should know.
        key: identifies the content of items that are not files; None if nothing does.
    """

    name: str
    names: tuple[str, ...]
    items: Sequence[Item]
    labels: Ints
    testing: NDArray[np.bool_]
    size: int | None = None
    channels: int | None = None
    notes: tuple[str, ...] = ()
    key: str | None = None

    def __post_init__(self) -> None:
        check_coverage(self.name, self.names, self.labels[~self.testing], self.labels[self.testing])

    def read(self, ids: Ints, size: int | None = None) -> Dataset:
        """Read the classes `ids`, relabelled in that order; other items are not opened."""
        size = self.size if size is None else size
        label_of = new_labels(len(self.names), ids)[self.labels]
        train = np.flatnonzero((label_of >= 0) & ~self.testing)
        test = np.flatnonzero((label_of >= 0) & self.testing)
        chosen = [self.items[index] for index in (*train, *test)]
        notes = self.notes
        shape: tuple[int, ...]
        vector = first_vector(chosen)
        if vector is not None:
            shape = vector.shape
        elif size is None or self.channels is None:
            shape, note = choose_shape(chosen, size)
            notes += () if note is None else (note,)
        else:
            shape = self.channels, size, size

        def read(begin: int, end: int) -> Inputs:
            part = chosen[begin:end]
            return _vectors(part, shape) if len(shape) == 1 else decode_images(part, shape)

        return store_dataset(
            self.name,
            tuple(self.names[index] for index in ids),
            (label_of[train], label_of[test]),
            shape,
            read,
            key=lambda: self._key(chosen),
            notes=notes,
        )

    def _key(self, chosen: Sequence[Item]) -> object:
        """Return an object that identifies the content of items, for files also sizes and times."""
        files = [_version(item) for item in chosen if isinstance(item, Path)]
        if len(files) == len(chosen):
            return files
        return None if self.key is None else (self.key, [str(item) for item in chosen])


def first_vector(items: Sequence[Item]) -> Inputs | None:
    """Return the first item if it is a vector; None if items are images."""
    content = None if isinstance(items[0], Path) else items[0].read()
    return content if isinstance(content, np.ndarray) else None


def _vectors(items: Sequence[Item], shape: tuple[int, ...]) -> Inputs:
    """Return vectors (n, d)."""
    rows = np.empty((len(items), *shape), dtype=np.float32)
    for place, item in enumerate(items):
        for _ in range(2):  # an item that differs between two readings is refused
            row = None if isinstance(item, Path) else item.read()
        if not isinstance(row, np.ndarray) or row.shape != shape:
            raise DataError(f"{item} must be a vector of {shape[0]} numbers, as the first one is.")
        rows[place] = row
    return rows


def _version(path: Path) -> tuple[str, int, int]:
    """Return a file's path, size and modification time."""
    try:
        status = path.stat()
    except OSError as error:
        raise DataError(
            f"{path} belongs to the dataset but does not exist; this copy is incomplete."
        ) from error
    return os.fspath(path.absolute()), status.st_size, status.st_mtime_ns


def find_home(root: Path, inner: str, needed: Sequence[str], advice: str) -> Path:
    """Find a dataset's files: in `root`, or in the folder `inner` that its archive unpacks to."""
    if not root.is_dir():
        raise PrerequisiteError(f"There is no directory {root}; {advice}.")
    for home in (root / inner, root):
        missing = [name for name in needed if not (home / name).exists()]
        if not missing:
            return home
        if len(missing) < len(needed):
            raise DataError(
                f"{home / missing[0]} is missing, so this copy is incomplete; {advice}."
            )
    raise PrerequisiteError(f"There is no {needed[0]} in {root} or {root / inner}; {advice}.")
