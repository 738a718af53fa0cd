"""Arrays in an .npz file.

- `x_train`, `y_train`, `x_test`, `y_test`, or `x` and `y`, which are split 80/20 inside each class
  with seed 0;
- images are uint8: (n, height, width) is grey; of four axes, the one of length 1 or 3 is the
  channels, the last (n, height, width, channels) or the second (n, channels, height, width);
- labels are integers from 0, shape (n,) or (n, 1);
- `names`, if given, are the classes' names in label order.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecil.classes import ClassList
from edgecil.data.dataset import ImageDataset, Images
from edgecil.data.split import hold_out
from edgecil.errors import DataError, PrerequisiteError
from edgecil.io.arrays import Ints, Pixels, read_npz

Values = NDArray[Any]

_CHANNELS = (1, 3)
_PARTS = ("x_train", "y_train", "x_test", "y_test")
_WHOLE = ("x", "y")
_NAMES = "names"
# More classes than any dataset has; a larger label is a mistake.
_MOST_CLASSES = 1_000_000


def read_arrays(path: Path) -> ImageDataset:
    """Return the dataset in an .npz file; its name is the file's stem."""
    content = _read(path, (*_PARTS, *_WHOLE, _NAMES))
    if content.keys() >= set(_PARTS):
        train = _images(path, content, *_PARTS[:2])
        test = _images(path, content, *_PARTS[2:])
    else:
        whole = _images(path, content, *_WHOLE)
        testing = hold_out(whole.labels)
        train = Images(whole.pixels[~testing], whole.labels[~testing])
        test = Images(whole.pixels[testing], whole.labels[testing])
    names = _names(path, content.get(_NAMES), train.labels)
    return ImageDataset(path.stem, names, train, test)


def read_array_classes(path: Path) -> ClassList:
    """Return the classes of the dataset in an .npz file; images are not read."""
    content = _read(path, ("y_train", "y", _NAMES))
    labels = content.get("y_train", content.get("y"))
    if labels is None:
        raise DataError(f"{path} must contain {', '.join(_PARTS)}, or x and y.")
    return ClassList(path.stem, _names(path, content.get(_NAMES), _labels(labels)))


def _read(path: Path, wanted: tuple[str, ...]) -> dict[str, Values]:
    if not path.exists():
        raise PrerequisiteError(
            f"There is no file {path}; give an .npz file with {', '.join(_PARTS)}."
        )
    content, names = read_npz(path, wanted)
    if not (set(names) >= set(_PARTS) or set(names) >= set(_WHOLE)):
        listed = ", ".join(names[:20]) or "nothing"
        raise DataError(f"{path} must contain {', '.join(_PARTS)}, or x and y. It holds {listed}.")
    return content


def _images(path: Path, content: dict[str, Values], x: str, y: str) -> Images:
    try:
        return Images(_channels_first(content[x]), _labels(content[y]))
    except DataError as error:
        raise DataError(f"{x} and {y} of {path} cannot be used: {error}") from error


def _channels_first(pixels: Values) -> Pixels:
    """(n, channels, height, width), contiguous."""
    if pixels.ndim == 3:
        return np.ascontiguousarray(pixels[:, None])
    if pixels.ndim != 4:
        raise DataError(f"Images must have 3 or 4 axes. Got the shape {pixels.shape}.")
    first, last = pixels.shape[1] in _CHANNELS, pixels.shape[3] in _CHANNELS
    if first == last:
        raise DataError(
            "Either the second or the last axis must contain 1 or 3 channels, not "
            f"{'both' if first else 'neither'}. Got the shape {pixels.shape}."
        )
    return np.ascontiguousarray(pixels if first else pixels.transpose(0, 3, 1, 2))


def _labels(labels: Values) -> Ints:
    if labels.dtype.kind not in "iu":
        raise DataError(f"Labels must be integers. Got {labels.dtype} instead.")
    flat = labels[:, 0] if labels.ndim == 2 and labels.shape[1] == 1 else labels
    if flat.size and int(flat.max()) >= _MOST_CLASSES:
        raise DataError(f"Labels must be below {_MOST_CLASSES:,}. Got {int(flat.max())}.")
    return flat.astype(np.int64)


def _names(path: Path, given: Values | None, labels: Ints) -> tuple[str, ...]:
    if given is None:
        return tuple(f"class {label}" for label in range(int(labels.max(initial=-1)) + 1))
    if given.dtype.kind not in "US" or given.ndim > 1:
        raise DataError(f"The 'names' in {path} must be a list of texts. Got {given.dtype}.")
    return tuple(
        name.decode("utf-8", "replace") if isinstance(name, bytes) else str(name)
        for name in np.atleast_1d(given).tolist()
    )
