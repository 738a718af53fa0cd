"""CIFAR-10 and CIFAR-100 from their official python files, read without running the pickles.

Reference:
    Krizhevsky, Learning Multiple Layers of Features from Tiny Images (2009).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from edgecil.classes import get_classes
from edgecil.data.dataset import Dataset, Examples
from edgecil.data.items import find_home
from edgecil.errors import DataError
from edgecil.io.files import read_toml
from edgecil.io.pickles import read_pickle

_SIDE = 32


@dataclass(frozen=True)
class CifarLayout:
    """The official archive of a CIFAR dataset, its files, and the keys in these."""

    name: str
    url: str
    folder: str
    train: list[str]
    test: list[str]
    meta: str
    labels: str
    names: str

    @property
    def advice(self) -> str:
        """How to get the files, a clause for errors."""
        return f"get {self.url} and unpack it there, or use the dataset hf:uoft-cs/{self.name}"


LAYOUTS = {
    name: CifarLayout(name, **layout)
    for name, layout in read_toml(Path(__file__).with_suffix(".toml")).items()
}


def read_cifar(layout: CifarLayout, root: Path) -> Dataset:
    """Return the dataset with its official split; CIFAR-100 with fine labels."""
    files = (*layout.train, *layout.test, layout.meta)
    home = find_home(root, layout.folder, files, layout.advice)
    classes = get_classes(layout.name)
    if _read(home / layout.meta).get(layout.names) != list(classes.labels):
        raise DataError(
            f"{home / layout.meta} does not list the {len(classes)} classes of {layout.name} in "
            f"order; {layout.advice}."
        )
    parts = []
    for names in (layout.train, layout.test):
        contents = [_read_part(layout, home / name) for name in names]
        pixels = np.concatenate([content[0] for content in contents])
        labels = np.concatenate([content[1] for content in contents])
        parts.append(Examples(pixels, labels))
    return Dataset(classes.name, classes.labels, parts[0], parts[1])


def _read_part(layout: CifarLayout, path: Path) -> tuple[Any, Any]:
    content = _read(path)
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


def _read(path: Path) -> dict[str, Any]:
    content = read_pickle(path)
    return content if isinstance(content, dict) else {}
