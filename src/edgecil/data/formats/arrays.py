"""Arrays in an .npz file.

- `x_train`, `y_train`, `x_test`, `y_test`, or `x` and `y`, which are split 80/20 inside each class
  with seed 0;
- images are uint8: (n, height, width) is grey; of four axes, the one of length 1 or 3 is the
  channels, the last (n, height, width, channels) or the second (n, channels, height, width);
- labels are whole numbers from 0, shape (n,) or (n, 1);
- `names`, if given, are the classes' names in label order.
"""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecil.data.dataset import ImageDataset, Images
from edgecil.data.split import hold_out
from edgecil.errors import DataError, PrerequisiteError
from edgecil.io.arrays import Ints, Pixels

Values = NDArray[Any]

_CHANNELS = (1, 3)
_PARTS = ("x_train", "y_train", "x_test", "y_test")
_WHOLE = ("x", "y")


def read_arrays(path: Path) -> ImageDataset:
    """The dataset in an .npz file; its name is the file's stem."""
    if not path.is_file():
        raise PrerequisiteError(
            f"There is no file {path}; give an .npz file with {', '.join(_PARTS)}."
        )
    if not zipfile.is_zipfile(path):
        raise DataError(f"{path} is not an .npz file; write one with numpy.savez.")
    try:
        with np.load(path, allow_pickle=False) as file:
            content = {key: file[key] for key in (*_PARTS, *_WHOLE, "names") if key in file}
            keys = ", ".join(file.files) or "nothing"
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise DataError(f"Cannot read {path} as arrays: {error}.") from error
    if content.keys() >= set(_PARTS):
        train = _images(path, content, *_PARTS[:2])
        test = _images(path, content, *_PARTS[2:])
    elif content.keys() >= set(_WHOLE):
        whole = _images(path, content, *_WHOLE)
        testing = hold_out(whole.labels)
        train = Images(whole.pixels[~testing], whole.labels[~testing])
        test = Images(whole.pixels[testing], whole.labels[testing])
    else:
        raise DataError(f"{path} must hold {', '.join(_PARTS)}, or x and y. It holds {keys}.")
    return ImageDataset(path.stem, _names(content.get("names"), train.labels), train, test)


def _images(path: Path, content: dict[str, Values], x: str, y: str) -> Images:
    try:
        return Images(_channels_first(content[x]), _labels(content[y]))
    except DataError as error:
        raise DataError(f"{x} and {y} of {path} cannot be used: {error}") from error


def _channels_first(pixels: Values) -> Pixels:
    """(n, channels, height, width), contiguous."""
    if pixels.ndim == 3:
        return pixels[:, None]
    if pixels.ndim != 4:
        raise DataError(f"Images must have 3 or 4 axes. Got the shape {pixels.shape}.")
    first, last = pixels.shape[1] in _CHANNELS, pixels.shape[3] in _CHANNELS
    if first == last:
        raise DataError(
            "Either the second or the last axis must hold 1 or 3 channels, not "
            f"{'both' if first else 'neither'}. Got the shape {pixels.shape}."
        )
    return pixels if first else np.ascontiguousarray(pixels.transpose(0, 3, 1, 2))


def _labels(labels: Values) -> Ints:
    if labels.dtype.kind not in "iu":
        raise DataError(f"Labels must be whole numbers. Got {labels.dtype} instead.")
    flat = labels[:, 0] if labels.ndim == 2 and labels.shape[1] == 1 else labels
    return flat.astype(np.int64)


def _names(given: Values | None, labels: Ints) -> tuple[str, ...]:
    if given is None:
        return tuple(f"class {label}" for label in range(labels.max(initial=-1) + 1))
    return tuple(str(name) for name in np.atleast_1d(given))
