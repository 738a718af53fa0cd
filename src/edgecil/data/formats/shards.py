"""Datasets in shards: a few files that hold many images each.

A shard belongs to the training or the test images if a folder above it or a word of its name says
so (`train/0.tar`, `cifar10-test-00000.parquet`). Without such names, 20 % of each class are held
out for testing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from edgecil.data.decode import SUFFIXES
from edgecil.data.formats.folder import TEST, TRAIN, class_name
from edgecil.data.image_files import ImageFiles
from edgecil.data.packed import PackedImage
from edgecil.data.split import TEST_SHARE, hold_out
from edgecil.errors import DataError

TAR, PARQUET, ARROW = ".tar", ".parquet", ".arrow"
SHARDS = (TAR, PARQUET, ARROW)

_MOST_CLASSES = 1_000_000  # a larger label is a mistake
_CACHES = ("cache-", "tmp")  # files that the package datasets leaves beside its own


@dataclass(frozen=True)
class Shard:
    """The content of one file.

    Attributes:
        images: n images.
        labels: n labels, all integers or all texts.
        names: the classes' names in label order; None if the file does not have them.
    """

    images: Sequence[PackedImage]
    labels: Sequence[int] | Sequence[str]
    names: tuple[str, ...] | None = None


def find_shards(path: Path) -> list[Path]:
    """Return the shards of one format at a path, sorted; none if it is a folder of images."""
    if not path.is_dir():
        return [path] if path.suffix.lower() in SHARDS and path.exists() else []
    files: dict[str, list[Path]] = {suffix: [] for suffix in SHARDS}
    for directory, inner, names in os.walk(path):
        inner[:] = sorted(name for name in inner if not name.startswith("."))
        for name in sorted(names):
            suffix = Path(name).suffix.lower()
            if suffix in SUFFIXES and not name.startswith("."):
                return []
            if suffix in SHARDS and not name.startswith((".", *_CACHES)):
                files[suffix].append(Path(directory, name))
    present = [suffix for suffix in SHARDS if files[suffix]]
    if len(present) > 1:
        raise DataError(
            f"{path} has both *{present[0]} and *{present[1]} files; give a folder with shards of "
            "one format."
        )
    return files[present[0]] if present else []


def list_shards(
    root: Path,
    paths: Sequence[Path],
    read: Callable[[Path], Shard],
    names: tuple[str, ...] | None = None,
) -> ImageFiles:
    """Return the images of all shards of a dataset.

    Args:
        root: the dataset's folder, or its only shard.
        paths: the shards.
        read: reads one of them.
        names: the classes' names in label order, if another file has them.
    """
    train = [path for path in paths if _words(root, path) & set(TRAIN)]
    test = next((part for name in TEST if (part := _named(root, paths, name))), [])
    test = [path for path in test if path not in train]
    split = bool(train and test)
    chosen = [*train, *test] if split else list(paths)
    shards = [read(path) for path in chosen]
    images = [image for shard in shards for image in shard.images]
    given = [label for shard in shards for label in shard.labels]
    if not images:
        raise DataError(f"{root} has no images; its shards are empty.")
    names = names or next((shard.names for shard in shards if shard.names), None)
    labels, names = _numbered(root, given, names)
    if any(not name.strip() for name in names):
        raise DataError(f"{root} has a class whose name is empty; give each class a name.")
    title = class_name(root.resolve().stem if root.is_file() else root.resolve().name)
    if split:
        count = sum(len(shard.labels) for shard in shards[: len(train)])
        testing = np.arange(len(labels)) >= count
        return ImageFiles(title, names, tuple(images), labels, testing)
    testing = hold_out(labels)
    note = (
        f"{root} has no shards named train and test: {testing.sum()} of its {len(images)} images, "
        f"{TEST_SHARE:.0%} of each class, are held out for testing (always the same ones)."
    )
    return ImageFiles(title, names, tuple(images), labels, testing, notes=(note,))


def _words(root: Path, path: Path) -> set[str]:
    inner = path.relative_to(root) if root.is_dir() else Path(path.name)
    return set(re.split(r"[^a-z]+", inner.with_suffix("").as_posix().lower()))


def _named(root: Path, paths: Sequence[Path], name: str) -> list[Path]:
    return [path for path in paths if name in _words(root, path)]


def _numbered(
    root: Path, given: Sequence[int | str], names: tuple[str, ...] | None
) -> tuple[np.ndarray[tuple[int], np.dtype[np.int64]], tuple[str, ...]]:
    """Return labels as numbers, and a name for each class."""
    texts = sorted({label for label in given if isinstance(label, str)})
    if texts:
        if any(not isinstance(label, str) for label in given):
            raise DataError(f"The labels of {root} must be all numbers or all texts.")
        place = {text: label for label, text in enumerate(texts)}
        return np.array([place[str(label)] for label in given], dtype=np.int64), tuple(texts)
    numbers = [int(label) for label in given]
    wrong = next((number for number in numbers if not 0 <= number < _MOST_CLASSES), None)
    if wrong is not None:
        raise DataError(
            f"{root} has an image with the label {wrong}; labels must be from 0 to "
            f"{_MOST_CLASSES - 1:,}. If some shards have no labels, move them elsewhere."
        )
    names = names or tuple(f"class {label}" for label in range(max(numbers) + 1))
    return np.array(numbers, dtype=np.int64), names
