"""CIFAR-10 and CIFAR-100 from their official python files, read without running the pickles.

Reference:
    Krizhevsky, Learning Multiple Layers of Features from Tiny Images (2009).
"""

from __future__ import annotations

import hashlib
import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from edgecil.classes import get_classes
from edgecil.data.dataset import Dataset, Examples
from edgecil.data.items import find_home
from edgecil.errors import DataError, PrerequisiteError
from edgecil.io.files import replace_file
from edgecil.io.pickles import read_pickle
from edgecil.io.toml import read_toml

_TIMEOUT = 60  # seconds without a byte
_SIDE = 32


@dataclass(frozen=True)
class CifarLayout:
    """The official archive of a CIFAR dataset, its files, and the keys inside them."""

    name: str
    url: str
    md5: str
    folder: str
    train: list[str]
    test: list[str]
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
        return f"get {self.url} (by hand, or with `download`) and unpack it there"


LAYOUTS = {
    name: CifarLayout(name, **layout)
    for name, layout in read_toml(Path(__file__).with_suffix(".toml")).items()
}


def read_cifar(layout: CifarLayout, root: Path) -> Dataset:
    """Return the dataset with its official split; CIFAR-100 with fine labels."""
    home = find_home(root, layout.folder, layout.files, layout.advice)
    classes = get_classes(layout.name)
    if _read(layout, home / layout.meta).get(layout.names) != list(classes.labels):
        raise DataError(
            f"{home / layout.meta} does not list the {len(classes)} classes of {layout.name} in "
            f"order; {layout.advice}."
        )
    parts = []
    for files in (layout.train, layout.test):
        pixels, labels = zip(*(_read_part(layout, home / file) for file in files), strict=True)
        parts.append(Examples(np.concatenate(pixels), np.concatenate(labels)))
    return Dataset(classes.name, classes.labels, parts[0], parts[1])


def download_cifar(layout: CifarLayout, root: Path) -> None:
    """Download the official archive (about 170 MB), verify it and unpack it below `root`."""
    import tarfile
    import urllib.request
    from http.client import HTTPException

    try:
        with urllib.request.urlopen(layout.url, timeout=_TIMEOUT) as reply:
            content = reply.read()
    except (OSError, HTTPException) as error:
        raise PrerequisiteError(
            f"Cannot download {layout.url}: {error}; get it by hand and unpack it in {root}."
        ) from error
    digest = hashlib.md5(content, usedforsecurity=False).hexdigest()
    if digest != layout.md5:
        raise DataError(
            f"The download of {layout.url} has the MD5 sum {digest}, not {layout.md5}; nothing was "
            "unpacked: try again, or get it by hand."
        )
    with tarfile.open(fileobj=io.BytesIO(content)) as members:
        for name in layout.files:  # and no others
            source = members.extractfile(f"{layout.folder}/{name}")
            assert source is not None
            with replace_file(root / layout.folder / name) as target:
                target.write(source.read())


def _read_part(layout: CifarLayout, path: Path) -> tuple[Any, Any]:
    content = _read(layout, path)
    pixels: Any = content.get("data")
    labels = content.get(layout.labels)
    is_pixels = isinstance(pixels, np.ndarray) and pixels.dtype == np.uint8 and pixels.ndim == 2
    is_labels = isinstance(labels, list) and all(type(label) is int for label in labels)
    if not is_pixels or pixels.shape[1] != 3 * _SIDE**2 or not is_labels:
        raise DataError(
            f"{path} does not hold the arrays of {layout.name}, 'data' (n x {3 * _SIDE**2} bytes) "
            f"and {layout.labels!r} (n integers); {layout.advice}."
        )
    return pixels.reshape(-1, 3, _SIDE, _SIDE), np.array(labels, dtype=np.int64)


def _read(layout: CifarLayout, path: Path) -> dict[str, Any]:
    content = read_pickle(path)
    if not isinstance(content, dict):
        raise DataError(
            f"{path} contains a {type(content).__name__}, not a dictionary; {layout.advice}."
        )
    return content
