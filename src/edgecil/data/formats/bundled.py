"""The bundled datasets; edgecil/ATTRIBUTION.toml has their licences and how they were made.

Quick, Draw! by Google (CC BY 4.0): 28 x 28 pixels of 16 levels, 60 for training and 40 for testing
per class. Ink is bright on a background of 0, so that padding by zeros continues the paper.

Caltech-101 by Li, Andreeto, Ranzato and Perona (CC BY 4.0): features of a network that was trained
on ImageNet, 20 images per class for training and up to 20 others for testing. Two folders are not
classes: the background, and `Faces_easy`, which has the photographs of `Faces` once more, cut out.
"""

from __future__ import annotations

import io
import lzma
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from edgecil.classes import get_classes
from edgecil.data.dataset import Dataset, Examples
from edgecil.io.arrays import Ints, Pixels

DRAWINGS = ("quickdraw", "quickdraw-pretrain")
CALTECH = "caltech101"
CALTECH_TRAIN, CALTECH_TEST, CALTECH_SIZE = 20, 20, 224
_SIDE, _TRAIN, _WHITE = 28, 60, 255 // 15


def read_quickdraw(name: str, _: Path | None = None) -> Dataset:
    """Return `quickdraw` (100 classes) or `quickdraw-pretrain` (the other 245)."""
    packed = _load(f"{name}.npy.xz")  # two levels of grey in a byte, (classes, each, 392)
    levels = np.stack([packed >> 4, packed & 15], axis=-1) * np.uint8(_WHITE)
    drawings = levels.reshape(*packed.shape[:2], 1, _SIDE, _SIDE)
    train = _with_labels(drawings[:, :_TRAIN])
    test = _with_labels(drawings[:, _TRAIN:])
    return Dataset(name, get_classes(name).labels, train, test)


def _with_labels(drawings: Pixels) -> Examples:
    """Return drawings by class, (classes, each, 1, h, w), as examples."""
    classes, each = drawings.shape[:2]
    labels = np.repeat(np.arange(classes, dtype=np.int64), each)
    return Examples(drawings.reshape(-1, 1, _SIDE, _SIDE), labels)


def read_caltech101(_: Path | None = None) -> Dataset:
    """Return the features of 100 classes of photographs."""
    with _load(f"{CALTECH}.npz.xz") as stored:
        vectors = stored["components"].T.astype(np.float32) * stored["step"]
        test_counts = stored["tested"]
    labels = np.repeat(np.arange(len(test_counts)), CALTECH_TRAIN + test_counts)
    testing = np.concatenate(
        [np.arange(CALTECH_TRAIN + count) >= CALTECH_TRAIN for count in test_counts]
    )
    train = Examples(vectors[~testing], labels[~testing])
    test = Examples(vectors[testing], labels[testing])
    return Dataset(CALTECH, get_classes(CALTECH).labels, train, test)


def split_class(label: int, count: int) -> Ints:
    """Return the indices of the used images of a class of Caltech-101, training ones first."""
    return np.random.default_rng([0, label]).permutation(count)[: CALTECH_TRAIN + CALTECH_TEST]


def _load(name: str) -> Any:
    packed = (files("edgecil.data") / "bundled" / name).read_bytes()
    return np.load(io.BytesIO(lzma.decompress(packed)), allow_pickle=False)
