"""Arrays, in memory or in an .npz file.

- `x_train`, `y_train`, `x_test`, `y_test`; or `x` and `y`, which are split by `test` (n,), True for
  test inputs, or else 80/20 inside each class with seed 0; `X` is read as `x`;
- (n, d) numbers are vectors of any modality;
- images are uint8: (n, height, width) is grey; of four axes, the one of length 1 or 3 is the
  channels, the last (n, height, width, channels) or the second (n, channels, height, width);
- labels are integers from 0, shape (n,) or (n, 1);
- `names`, if given, are the classes' names in label order.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecil.data.dataset import Dataset, Examples
from edgecil.data.split import held_out_note, hold_out
from edgecil.errors import DataError, PrerequisiteError
from edgecil.io.arrays import Inputs, Ints, read_npz

Values = NDArray[Any]

SPLIT_ARRAYS = ("x_train", "y_train", "x_test", "y_test")
WHOLE_ARRAYS = ("x", "y")

_CHANNELS = (1, 3)
_TEST, _NAMES = "test", "names"
# More classes than any dataset has; a larger label is a mistake.
_MOST_CLASSES = 1_000_000


def read_arrays(path: Path) -> Dataset:
    """Return the dataset in an .npz file; its name is the file's stem."""
    if not path.exists():
        raise PrerequisiteError(
            f"There is no file {path}; give an .npz file with {', '.join(SPLIT_ARRAYS)}."
        )
    content, names = read_npz(path, (*SPLIT_ARRAYS, *WHOLE_ARRAYS, _TEST, _NAMES))
    if not is_complete(content):
        present = ", ".join(names[:20]) or "nothing"
        raise DataError(
            f"{path} must contain {', '.join(SPLIT_ARRAYS)}, or x and y. It holds {present}."
        )
    return arrays_dataset(path.stem, str(path), content)


def is_complete(content: Mapping[str, Any]) -> bool:
    """Return whether arrays with these names are a dataset."""
    return content.keys() >= set(SPLIT_ARRAYS) or content.keys() >= set(WHOLE_ARRAYS)


def arrays_dataset(name: str, source: str, content: Mapping[str, Values]) -> Dataset:
    """Return the dataset in arrays with the names above."""
    content = _with_numbers_for_texts(content)
    notes: tuple[str, ...] = ()
    if content.keys() >= set(SPLIT_ARRAYS):
        train = _inputs(source, content, *SPLIT_ARRAYS[:2])
        test = _inputs(source, content, *SPLIT_ARRAYS[2:])
    else:
        whole = _inputs(source, content, *WHOLE_ARRAYS)
        testing = content.get(_TEST)
        if testing is None:
            testing = hold_out(whole.labels)
            notes = (held_out_note(f"{name} has no test part", testing, "inputs"),)
        if testing.dtype != np.bool_ or testing.shape != whole.labels.shape:
            raise DataError(
                f"The 'test' in {source} must say of each of {len(whole)} inputs whether it is for "
                f"testing, as bool. Got {testing.dtype} of shape {testing.shape}."
            )
        train = Examples(whole.inputs[~testing], whole.labels[~testing])
        test = Examples(whole.inputs[testing], whole.labels[testing])
    names = class_names_of_arrays(source, content.get(_NAMES), train.labels)
    return Dataset(name, names, train, test, notes)


def _with_numbers_for_texts(content: Mapping[str, Values]) -> Mapping[str, Values]:
    """Return the arrays with ids in place of labels that are texts; these become class names."""
    texts = {}
    for name in ("y_train", "y_test", "y"):
        if name in content and content[name].dtype.kind == "U":
            texts[name] = content[name].ravel()
    if not texts:
        return content
    class_names = np.unique(np.concatenate(list(texts.values())))
    ids = {name: np.searchsorted(class_names, labels) for name, labels in texts.items()}
    return {**content, **ids, _NAMES: class_names}


def _inputs(source: str, content: Mapping[str, Values], x: str, y: str) -> Examples:
    try:
        return Examples(as_inputs(content[x]), as_labels(content[y]))
    except DataError as error:
        raise DataError(f"{x} and {y} of {source} cannot be used: {error}") from error


def as_inputs(values: Values) -> Inputs:
    """Return images (n, channels, height, width) or vectors (n, d) float32, contiguous."""
    if values.ndim == 2:
        if values.dtype.kind not in "fiub":
            raise DataError(f"Vectors must be numbers. Got {values.dtype} instead.")
        vectors = np.ascontiguousarray(values, dtype=np.float32)
        if not np.isfinite(vectors).all():
            raise DataError("Vectors must be finite numbers in single precision.")
        return vectors
    if values.ndim == 3:
        return np.ascontiguousarray(values[:, None])
    if values.ndim != 4:
        raise DataError(
            f"Inputs must have 2 axes (vectors), 3 or 4 (images). Got the shape {values.shape}."
        )
    is_first = values.shape[1] in _CHANNELS
    is_last = values.shape[3] in _CHANNELS
    if is_first == is_last:
        raise DataError(
            "Either the second or the last axis must contain 1 or 3 channels, not "
            f"{'both' if is_first else 'neither'}. Got the shape {values.shape}."
        )
    return np.ascontiguousarray(values if is_first else values.transpose(0, 3, 1, 2))


def as_labels(labels: Values) -> Ints:
    """Return labels (n,) int64."""
    if labels.dtype.kind not in "iu":
        raise DataError(f"Labels must be texts or integers. Got {labels.dtype} instead.")
    flat = labels[:, 0] if labels.ndim == 2 and labels.shape[1] == 1 else labels
    if flat.size and int(flat.max()) >= _MOST_CLASSES:
        raise DataError(f"Labels must be below {_MOST_CLASSES:,}. Got {int(flat.max())}.")
    return flat.astype(np.int64)


def class_names_of_arrays(source: str, names: Values | None, labels: Ints) -> tuple[str, ...]:
    """Return the classes' names in label order; without names `class 0`, `class 1` and so on."""
    if names is None:
        return tuple(f"class {label}" for label in range(int(labels.max(initial=-1)) + 1))
    if names.dtype.kind not in "US" or names.ndim > 1:
        raise DataError(f"The 'names' in {source} must be a list of texts. Got {names.dtype}.")
    return tuple(
        name.decode("utf-8", "replace") if isinstance(name, bytes) else str(name)
        for name in np.atleast_1d(names).tolist()
    )
