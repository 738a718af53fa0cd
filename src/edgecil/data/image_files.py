"""A dataset as a list of image files: cheap to make, decoded only where it is used."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from edgecil.classes import get_classes
from edgecil.data.dataset import ImageDataset, Images, check_coverage, new_labels
from edgecil.data.decode import common_shape, decode_images
from edgecil.errors import DataError, PrerequisiteError
from edgecil.io.arrays import Ints
from edgecil.io.files import read_text


@dataclass(frozen=True, eq=False)
class ImageFiles:
    """Image files with their labels.

    Attributes:
        name: the dataset's name.
        names: N class names, in label order.
        paths: n files.
        labels: (n,) int64 in [0, N).
        testing: (n,) True for test images.
        size: pixels per side that the dataset is commonly used at; None to keep its own.
        channels: 3 for a dataset in colour, None to keep images grey where all of them are.
    """

    name: str
    names: tuple[str, ...]
    paths: tuple[Path, ...]
    labels: Ints
    testing: NDArray[np.bool_]
    size: int | None = None
    channels: int | None = None

    def __post_init__(self) -> None:
        check_coverage(self.name, self.names, self.labels[~self.testing], self.labels[self.testing])

    def decode(self, ids: Ints, size: int | None = None) -> ImageDataset:
        """The classes `ids`, relabelled in that order, as pixels; other files are not opened."""
        size = self.size if size is None else size
        label_of = new_labels(len(self.names), ids)[self.labels]
        train = np.flatnonzero((label_of >= 0) & ~self.testing)
        test = np.flatnonzero((label_of >= 0) & self.testing)
        if size is None or self.channels is None:
            shape = common_shape(self._at([*train, *test]), size)
        else:
            shape = self.channels, size, size
        return ImageDataset(
            self.name,
            tuple(self.names[index] for index in ids),
            Images(decode_images(self._at(train), shape), label_of[train]),
            Images(decode_images(self._at(test), shape), label_of[test]),
        )

    def _at(self, indices: Iterable[int]) -> list[Path]:
        return [self.paths[index] for index in indices]


def filed_classes(name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """N class names of a known dataset in label order, and the N codes its images are under."""
    classes = get_classes(name)
    return classes.labels, classes.folders or ()


def find_home(root: Path, inner: str, needed: Sequence[str], advice: str) -> Path:
    """Where a dataset's files are: `root`, or the folder `inner` that its archive unpacks to.

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
    """The rows of a .csv (or tab-separated) file with a header, these columns only."""
    text = read_text(path)
    header = text.split("\n", 1)[0]
    rows = list(csv.DictReader(text.splitlines(), delimiter="\t" if "\t" in header else ","))
    lacking = [column for column in columns if not rows or column not in rows[0]]
    if lacking:
        raise DataError(f"{path} must have a column headed {lacking[0]!r} and rows below it.")
    for line, row in enumerate(rows, start=2):
        if any(not row[column] for column in columns):
            raise DataError(f"Line {line} of {path} has no value for {', '.join(columns)}.")
    return [tuple(row[column].strip() for column in columns) for row in rows]


def match_codes(path: Path, given: Sequence[str], codes: Sequence[str]) -> Ints:
    """The label of each code, its position in the class list; shape (n,)."""
    label_of = {code: label for label, code in enumerate(codes)}
    strange = [code for code in given if code not in label_of]
    if strange:
        raise DataError(
            f"{path} has the class {strange[0]!r}, which is none of the {len(codes)} classes "
            f"({codes[0]}, …, {codes[-1]})."
        )
    return np.array([label_of[code] for code in given], dtype=np.int64)
