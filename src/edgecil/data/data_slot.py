"""The data slot: everything that `dataset=` takes besides names and paths.

Arrays `(X, y)`, `(X_train, y_train, X_test, y_test)` or `((X_train, y_train), (X_test, y_test))`;
one dataset, or a pair for training and testing, of torch (anything with a length and items by
index) or of Hugging Face; a mapping of arrays; a :class:`Dataset`; a function that returns one of
these.
"""

from __future__ import annotations

import uuid
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from edgecil.data.dataset import Dataset
from edgecil.data.decode import Readable
from edgecil.data.formats import array_files as arrays, hugging_face
from edgecil.data.items import Items
from edgecil.data.split import held_out_note, hold_out
from edgecil.errors import DataError, UsageError
from edgecil.io.code import call_factory, load_code, locate_code, locate_module, names_code
from edgecil.registry import installed

DATASET_ENTRY_POINTS = "edgecil.datasets"
FORMS = (
    "arrays (X, y) or (X_train, y_train, X_test, y_test), a dataset with a length and items by "
    "index, or a pair of them for training and testing"
)

OBJECT_PREFIX = "python:"  # begins the text that stands for an object of this process
_HUB = "hf:"


class ObjectText(str):
    """The text that stands for an object of this process, which lives as long as its text.

    A copy in another process is a plain text.
    """

    dataset: Any

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        return str, (str(self),)

    def __deepcopy__(self, memo: Any) -> ObjectText:
        return self


_object_texts: WeakValueDictionary[str, ObjectText] = WeakValueDictionary()


def dataset_text(dataset: Any) -> str:
    """Return the text that stands for a dataset in options: the path or name, or a new one."""
    if isinstance(dataset, str):
        return dataset
    if isinstance(dataset, Path):
        return str(dataset)
    for existing in _object_texts.values():
        if existing.dataset is dataset:
            return existing
    text = ObjectText(f"{OBJECT_PREFIX}{_title(dataset)}-{uuid.uuid4().hex[:8]}")
    text.dataset = dataset
    _object_texts[text] = text
    return text


def open_slot(text: str) -> Dataset | Items | None:
    """Return the dataset that a text of the slot names, its items unread; None for other texts."""
    if text.startswith(OBJECT_PREFIX):
        object_text = _object_texts.get(text)
        if object_text is None:
            raise UsageError(
                f"The dataset {text!r} was given as an object in Python; call edgecil.run with the "
                "object again."
            )
        name = text.removeprefix(OBJECT_PREFIX).rpartition("-")[0]
        return adapt_dataset(object_text.dataset, name)
    if text.startswith(_HUB):
        hub_id = text.removeprefix(_HUB)
        return adapt_dataset(
            hugging_face.load_hub_dataset(hub_id), hub_id.partition("?")[0].rpartition("/")[2]
        )
    point = installed(DATASET_ENTRY_POINTS).get(text)
    if point is not None:
        return adapt_dataset(load_code(locate_module(point.module, point.attr)), text)
    if names_code(text):
        source = locate_code(text)
        return adapt_dataset(load_code(source), source.attribute)
    return None


def adapt_dataset(value: Any, name: str) -> Dataset | Items:
    """Return an object as a dataset; its items are not read yet."""
    if isinstance(value, (Dataset, Items)):
        return value
    if callable(value) and not hasattr(value, "__getitem__"):
        return adapt_dataset(call_factory(value, f"The dataset {name!r}"), name)
    arrays_by_name = _arrays_by_name(value)
    if arrays_by_name is not None:
        content = {key: _array(array, key) for key, array in arrays_by_name.items()}
        return arrays.arrays_dataset(name, "the given arrays", content)
    if hugging_face.is_hub_dataset(value):
        value = hugging_face.choose_parts(value)
    parts = value if isinstance(value, (tuple, list)) else (value,)
    if len(parts) not in (1, 2) or not all(map(_has_items, parts)):
        raise _unusable(value)
    return _list_parts([hugging_face.without_decoding(part) for part in parts], name)


def _arrays_by_name(value: Any) -> dict[str, Any] | None:
    """Return a mapping or a sequence of arrays as a mapping; None for another object."""
    if isinstance(value, Mapping) and not hugging_face.is_hub_dataset(value):
        # `X` may stand for `x`.
        by_name = {str(key).lower(): array for key, array in value.items()} | dict(value)
        if not arrays.is_complete(by_name):
            raise _unusable(value)
        return {str(key): array for key, array in by_name.items()}
    if _is_pair_of_arrays(value):
        value = (*value[0], *value[1])
    if not isinstance(value, (tuple, list)) or not value or not all(map(_is_array, value)):
        return None
    names = {2: arrays.WHOLE_ARRAYS, 4: arrays.SPLIT_ARRAYS}.get(len(value))
    if names is None:
        raise UsageError(f"`dataset` must be 2 or 4 arrays. Got {len(value)}; use {FORMS}.")
    return dict(zip(names, value, strict=True))


def _has_items(part: Any) -> bool:
    """Return whether an object has a length and items by index."""
    return hasattr(part, "__len__") and hasattr(part, "__getitem__") and not isinstance(part, str)


def _is_pair_of_arrays(value: Any) -> bool:
    """Return whether a dataset is `((X_train, y_train), (X_test, y_test))`."""
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        return False
    for part in value:
        if not isinstance(part, (tuple, list)) or len(part) != 2:
            return False
        if not all(_is_array(content) for content in part):
            return False
    return True


class _Item(Readable):
    """An item of a dataset; all readings must give the same content."""

    def __init__(self, dataset: Any, index: int, columns: tuple[str, str] | None) -> None:
        self._dataset = dataset
        self._index = index
        self._columns = columns
        self._checksum: int | None = None

    def __str__(self) -> str:
        return f"Item {self._index} of the {type(self._dataset).__name__}"

    def parts(self) -> tuple[Any, Any]:
        """Return the input and its label, as they are."""
        item = self._dataset[self._index]
        if isinstance(item, Mapping):
            if self._columns is None:
                raise DataError(f"{self} is a mapping without an image and a label.")
            return item[self._columns[0]], item[self._columns[1]]
        if not isinstance(item, (tuple, list)) or len(item) < 2:
            raise DataError(f"{self} must be an input and its label. Got {type(item).__name__}.")
        return item[0], item[1]

    def read(self) -> Any:
        """Return an encoded image, an image, or a vector (d,)."""
        content = _content(self.parts()[0], str(self))
        data = content if isinstance(content, bytes) else content.tobytes()
        checksum = zlib.crc32(data)
        if self._checksum not in (None, checksum):
            raise DataError(
                f"{self} differs from one reading to the next; leave out random transforms, "
                "edgecil augments by itself."
            )
        self._checksum = checksum
        return content


def _list_parts(parts: Sequence[Any], name: str) -> Items:
    """Return the items of one dataset, or of a dataset for training and one for testing."""
    items: list[_Item] = []
    original_labels: list[Any] = []
    for part in parts:
        if not len(part):
            raise DataError(f"A {type(part).__name__} of the dataset has no items.")
        columns = hugging_face.find_columns(part)
        items_of_part = [_Item(part, index, columns) for index in range(len(part))]
        items += items_of_part
        original_labels += _labels(part, items_of_part, columns)
    labels, names = _numbered(original_labels, _names(parts[0]))
    keys = [hugging_face.content_key(part) for part in parts]
    key = None if None in keys else repr(keys)
    if len(parts) == 2:
        testing = np.arange(len(items)) >= len(parts[0])
        return Items(name, names, items, labels, testing, key=key)
    testing = hold_out(labels)
    note = held_out_note(f"{name} has no test part", testing, "items")
    return Items(name, names, items, labels, testing, notes=(note,), key=key)


def _labels(part: Any, items: Sequence[_Item], columns: tuple[str, str] | None) -> list[Any]:
    """Return the labels of a dataset; its items are read only if it does not list them."""
    if columns is not None:
        return list(part[columns[1]])
    for name in ("targets", "labels", "_labels"):
        values = getattr(part, name, None)
        if values is None or getattr(part, "target_transform", None) is not None:
            continue
        array = np.asarray(values)
        if array.shape == (len(items),) and array.dtype.kind in "iu":
            return list(array.tolist())
    labels = []
    for item in items:
        label = item.parts()[1]
        if hasattr(label, "item"):
            label = label.item()
        if isinstance(label, bool) or not isinstance(label, (int, str)):
            raise DataError(f"{item} must have an integer or a text as its label.")
        labels.append(label)
    return labels


def _numbered(
    original_labels: Sequence[Any], names: tuple[str, ...] | None
) -> tuple[Any, tuple[str, ...]]:
    """Return labels as numbers, and a name for each class."""
    if len({isinstance(label, str) for label in original_labels}) > 1:
        raise DataError("The labels must be all numbers or all texts.")
    if isinstance(original_labels[0], str):
        texts, labels = np.unique(original_labels, return_inverse=True)
        return labels.astype(np.int64), tuple(texts.tolist())
    if any(label is None or label < 0 for label in original_labels):
        raise DataError(
            "An item has no label, or one below 0; name a part that has labels, for example "
            "'hf:NAME?test=validation'."
        )
    labels = arrays.as_labels(np.asarray(original_labels))
    names_as_array = None if names is None else np.array(names)
    return labels, arrays.class_names_of_arrays("the dataset", names_as_array, labels)


def _names(part: Any) -> tuple[str, ...] | None:
    """Return the class names in a dataset, in label order; None if it has none."""
    names = hugging_face.label_names(part) or getattr(part, "classes", None)
    if not isinstance(names, (list, tuple)) or not names:
        return None
    return tuple(names) if all(isinstance(name, str) for name in names) else None


def _content(value: Any, item: str) -> Any:
    """Return an input as an encoded image, an image, or a vector (d,) float32."""
    if isinstance(value, Mapping) and "bytes" in value:  # as the library datasets stores images
        if value["bytes"] is not None:
            return bytes(value["bytes"])
        raise DataError(f"{item} holds the path of an image in place of the image.")
    if isinstance(value, bytes) or hasattr(value, "convert"):  # an image of Pillow
        return value
    array = _array(value, item)
    if array.ndim > 1 and array.dtype.kind == "f":  # as ToTensor gives them
        pixels = np.rint(255.0 * array.astype(np.float64))
        if not np.allclose(pixels, 255.0 * array, atol=1e-3) or pixels.min() < 0:
            raise DataError(
                f"{item} has values that are no pixels in [0, 1]; leave out the normalisation, "
                "edgecil normalises by itself."
            )
        array = pixels.clip(0, 255).astype(np.uint8)
    try:
        inputs = arrays.as_inputs(array[None])[0]
    except DataError as error:
        raise DataError(f"{item} cannot be used: {error}") from error
    if inputs.ndim == 1:
        return inputs
    if inputs.dtype != np.uint8:
        raise DataError(f"{item} must have uint8 pixels. Got {inputs.dtype}.")
    from PIL.Image import fromarray

    return fromarray(inputs[0] if len(inputs) == 1 else inputs.transpose(1, 2, 0))


def _array(value: Any, name: str) -> NDArray[Any]:
    """Return arrays, tensors and lists as an array."""
    if hasattr(value, "detach"):  # a tensor of torch
        value = value.detach().cpu().numpy()
    try:
        array = np.asarray(value)
    except (ValueError, TypeError) as error:
        raise DataError(f"{name} cannot be converted to an array.") from error
    if array.dtype.hasobject:
        raise DataError(f"{name} must be an array of numbers or texts. Got Python objects.")
    return array


def _is_array(value: Any) -> bool:
    if isinstance(value, np.ndarray) or hasattr(value, "detach"):
        return True
    return isinstance(value, list) and bool(value) and isinstance(value[0], (int, float, list))


def _title(dataset: Any) -> str:
    """Return a name for an object."""
    if isinstance(dataset, Dataset):
        return dataset.name
    if isinstance(dataset, (tuple, list)) and dataset and not _is_array(dataset[0]):
        dataset = dataset[0]
    if isinstance(dataset, (tuple, list, Mapping)) and not hugging_face.is_hub_dataset(dataset):
        return "arrays"
    function_name = getattr(dataset, "__name__", None) if callable(dataset) else None
    return function_name or hugging_face.library_name(dataset) or type(dataset).__name__.lower()


def _unusable(value: Any) -> UsageError:
    return UsageError(f"`dataset` cannot be a {type(value).__name__}; use a name, a path, {FORMS}.")
