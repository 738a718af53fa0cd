"""A dataset as a list of image files; only the classes that are used are decoded."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from edgecil.classes import get_classes
from edgecil.data.dataset import ImageDataset, Images, check_coverage, new_labels
from edgecil.data.decode import choose_shape, decode_images
from edgecil.data.image_store import ImageStore
from edgecil.data.packed import ImageSource
from edgecil.errors import DataError, PrerequisiteError, unknown
from edgecil.io.arrays import Ints
from edgecil.io.device import free_memory
from edgecil.io.files import check_header, parse_rows, read_text


@dataclass(frozen=True, eq=False)
class ImageFiles:
    """Image files with their labels.

    Attributes:
        name: the dataset's name.
        names: N class names, in label order.
        paths: n files, or images inside larger files.
        labels: (n,) int64 in [0, N).
        testing: (n,) True for test images.
        size: pixels per side that the dataset is commonly used at; None for the images' own, or
            a default where they differ or are large.
        channels: 3 for a dataset in colour; None for 1 if all images are grey.
        notes: sentences about choices that a user should know of.
    """

    name: str
    names: tuple[str, ...]
    paths: tuple[ImageSource, ...]
    labels: Ints
    testing: NDArray[np.bool_]
    size: int | None = None
    channels: int | None = None
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_coverage(self.name, self.names, self.labels[~self.testing], self.labels[self.testing])

    def decode(self, ids: Ints, size: int | None = None, storage: str = "auto") -> ImageDataset:
        """Decode the classes `ids`, relabelled in that order; other files are not opened.

        Args:
            ids: the classes.
            size: pixels per side; by default as described at the class.
            storage: `memory`, `disk`, or `auto` for the disk if the pixels would take more than
                half of the memory that is free.
        """
        size = self.size if size is None else size
        label_of = new_labels(len(self.names), ids)[self.labels]
        train = np.flatnonzero((label_of >= 0) & ~self.testing)
        test = np.flatnonzero((label_of >= 0) & self.testing)
        notes = self.notes
        if size is None or self.channels is None:
            shape, note = choose_shape(self._at([*train, *test]), size)
            notes += () if note is None else (note,)
        else:
            shape = self.channels, size, size
        names = tuple(self.names[index] for index in ids)
        if keeps_on_disk(storage, (len(train) + len(test)) * math.prod(shape)):
            store = ImageStore(self._at([*train, *test]), shape)
            store.fill(repr(self.name))
            dataset = ImageDataset(
                self.name,
                names,
                Images(store.rows(0, len(train)), label_of[train]),
                Images(store.rows(len(train), store.shape[0]), label_of[test]),
                notes,
            )
            dataset.keep_fingerprint(store.digest)
            return dataset
        return ImageDataset(
            self.name,
            names,
            Images(decode_images(self._at(train), shape), label_of[train]),
            Images(decode_images(self._at(test), shape), label_of[test]),
            notes,
        )

    def _at(self, indices: Iterable[int]) -> list[ImageSource]:
        return [self.paths[index] for index in indices]


STORAGES = ("auto", "memory", "disk")


def keeps_on_disk(storage: str, size: int) -> bool:
    """Return whether pixels of a size in bytes are kept on disk."""
    if storage not in STORAGES:
        raise unknown("storage", storage, STORAGES)
    return storage == "disk" or (storage == "auto" and size > free_memory() / 2)


def filed_classes(name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """N class names of a bundled class list in label order, and the N codes of its image files."""
    classes = get_classes(name)
    return classes.labels, classes.folders or ()


def find_home(root: Path, inner: str, needed: Sequence[str], advice: str) -> Path:
    """Find a dataset's files: in `root`, or in the folder `inner` that its archive unpacks to.

    Args:
        root: the user's directory.
        inner: name of the archive's own folder.
        needed: files or folders that must all be there.
        advice: where to get the dataset, a clause for the error message.
    """
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


def read_columns(path: Path, columns: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the rows of a .csv (or tab-separated) file with a header, these columns only."""
    text = read_text(path)
    delimiter = "\t" if "\t" in text.split("\n", 1)[0] else ","
    rows = parse_rows(text, str(path), delimiter=delimiter)
    header = [cell.strip() for cell in rows[0]] if rows else []
    check_header(header, str(path))
    missing = [column for column in columns if len(rows) < 2 or column not in header]
    if missing:
        raise DataError(f"{path} must have a column headed {missing[0]!r} and rows below it.")
    places = [header.index(column) for column in columns]
    values = []
    for line, row in enumerate(rows[1:], start=2):
        if any(place >= len(row) or not row[place].strip() for place in places):
            raise DataError(f"Line {line} of {path} has no value for {', '.join(columns)}.")
        values.append(tuple(row[place].strip() for place in places))
    return values


def match_codes(path: Path, given: Sequence[str], codes: Sequence[str]) -> Ints:
    """Return the label of each code, its position in the class list; shape (n,)."""
    label_of = {code: label for label, code in enumerate(codes)}
    unexpected = [code for code in given if code not in label_of]
    if unexpected:
        raise DataError(
            f"{path} has the class {unexpected[0]!r}, which is none of the {len(codes)} classes "
            f"({codes[0]}, …, {codes[-1]})."
        )
    return np.array([label_of[code] for code in given], dtype=np.int64)
