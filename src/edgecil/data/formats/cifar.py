"""CIFAR-10 and CIFAR-100 from their official python files, read without running the pickles.

Reference:
    Krizhevsky, Learning Multiple Layers of Features from Tiny Images (2009).
"""

from __future__ import annotations

import hashlib
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from edgecil.classes import get_classes
from edgecil.data.dataset import Dataset, Examples
from edgecil.data.items import find_home
from edgecil.errors import DataError, PrerequisiteError
from edgecil.io.files import replace_file
from edgecil.io.pickles import read_pickle

_CHUNK = 1 << 20
_TIMEOUT = 60  # seconds without a byte
_SIDE = 32


@dataclass(frozen=True)
class CifarLayout:
    """The official files of a CIFAR dataset.

    Attributes:
        name: the dataset's name.
        url: the official archive.
        md5: the archive's published checksum.
        folder: the folder that the archive unpacks to.
        train: files with training images.
        test: files with test images.
        meta: the file with the class names.
        labels: the key of the labels in the image files.
        names: the key of the class names in `meta`.
    """

    name: str
    url: str
    md5: str
    folder: str
    train: tuple[str, ...]
    test: tuple[str, ...]
    meta: str
    labels: str
    names: str

    @property
    def files(self) -> tuple[str, ...]:
        """All files that are needed."""
        return (*self.train, *self.test, self.meta)

    @property
    def advice(self) -> str:
        """How to get the files, a clause for errors."""
        return f"get {self.url} (by hand, or with 'download') and unpack it there"


CIFAR10 = CifarLayout(
    "cifar10",
    "https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz",
    "c58f30108f718f92721af3b95e74349a",
    "cifar-10-batches-py",
    tuple(f"data_batch_{number}" for number in range(1, 6)),
    ("test_batch",),
    "batches.meta",
    "labels",
    "label_names",
)
CIFAR100 = CifarLayout(
    "cifar100",
    "https://www.cs.toronto.edu/~kriz/cifar-100-python.tar.gz",
    "eb9058c3a382ffc7106e4002c42a8d85",
    "cifar-100-python",
    ("train",),
    ("test",),
    "meta",
    "fine_labels",
    "fine_label_names",
)


def find_cifar(layout: CifarLayout, root: Path) -> Path:
    """Return the directory with the dataset's files: `root` or the archive's folder in it."""
    return find_home(root, layout.folder, layout.files, layout.advice)


def read_cifar(layout: CifarLayout, root: Path) -> Dataset:
    """Return the dataset with its official split; CIFAR-100 with fine labels."""
    home = find_cifar(layout, root)
    classes = get_classes(layout.name)
    if _read(layout, home / layout.meta).get(layout.names) != list(classes.labels):
        raise DataError(
            f"{home / layout.meta} does not list the {len(classes)} classes of {layout.name} in "
            f"order; {layout.advice}."
        )
    train, test = (
        _join([_read_part(layout, home / file) for file in files])
        for files in (layout.train, layout.test)
    )
    return Dataset(classes.name, classes.labels, train, test)


def download_cifar(layout: CifarLayout, root: Path) -> Path:
    """Download the official archive (about 170 MB), verify it and unpack it below `root`.

    Each file is written completely or not at all; the archive itself is not kept.
    """
    import urllib.request
    from http.client import HTTPException

    with tempfile.TemporaryFile() as archive:
        digest = hashlib.md5(usedforsecurity=False)
        try:
            with urllib.request.urlopen(layout.url, timeout=_TIMEOUT) as reply:
                while chunk := reply.read(_CHUNK):
                    digest.update(chunk)
                    archive.write(chunk)
        except (OSError, HTTPException) as error:
            raise PrerequisiteError(
                f"Cannot download {layout.url}: {error}; get it by hand and unpack it in {root}."
            ) from error
        if digest.hexdigest() != layout.md5:
            raise DataError(
                f"The download of {layout.url} has the MD5 sum {digest.hexdigest()}, not "
                f"{layout.md5}; nothing was unpacked: try again, or get it by hand."
            )
        archive.seek(0)
        _unpack(layout, archive, root / layout.folder)
    return root / layout.folder


def _unpack(layout: CifarLayout, archive: IO[bytes], home: Path) -> None:
    """The needed files and no others, always into `home`."""
    import tarfile

    with tarfile.open(fileobj=archive) as members:
        for name in layout.files:
            source = members.extractfile(f"{layout.folder}/{name}")
            if source is None:
                raise DataError(f"{layout.folder}/{name} in {layout.url} is not a file.")
            with replace_file(home / name) as target:
                while chunk := source.read(_CHUNK):
                    target.write(chunk)


def _read_part(layout: CifarLayout, path: Path) -> Examples:
    content = _read(layout, path)
    pixels, labels = content.get("data"), content.get(layout.labels)
    if (
        not isinstance(pixels, np.ndarray)
        or pixels.dtype != np.uint8
        or pixels.ndim != 2
        or pixels.shape[1] != 3 * _SIDE * _SIDE
        or not isinstance(labels, list)
        or not all(type(label) is int for label in labels)
    ):
        raise DataError(
            f"{path} does not hold the arrays of {layout.name}, 'data' (n x {3 * _SIDE * _SIDE} "
            f"bytes) and {layout.labels!r} (n integers); {layout.advice}."
        )
    shaped = pixels.reshape(-1, 3, _SIDE, _SIDE)
    return Examples(shaped, np.array(labels, dtype=np.int64))


def _join(parts: list[Examples]) -> Examples:
    if len(parts) == 1:
        return parts[0]
    return Examples(
        np.concatenate([part.inputs for part in parts]),
        np.concatenate([part.labels for part in parts]),
    )


def _read(layout: CifarLayout, path: Path) -> dict[str, Any]:
    content = read_pickle(path)
    if not isinstance(content, dict):
        raise DataError(
            f"{path} contains a {type(content).__name__}, not a dictionary; {layout.advice}."
        )
    return content
