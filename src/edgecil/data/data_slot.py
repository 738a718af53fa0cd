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

ENTRY_POINTS = "edgecil.datasets"
FORMS = (
    "arrays (X, y) or (X_train, y_train, X_test, y_test), a dataset with a length and items by "
    "index, or a pair of them for training and testing"
)

OBJECT = "python:"  # begins the text that stands for an object of this process
_HUB = "hf:"

_objects: dict[str, Any] = {}


def dataset_text(given: Any) -> str:
    """Return the text that stands for a dataset in options: the path or name, or a new one."""
    if isinstance(given, (str, Path)):
        return str(given)
    for text, known in _objects.items():
        if known is given:
            return text
    text = f"{OBJECT}{_title(given)}-{uuid.uuid4().hex[:8]}"
    _objects[text] = given
    return text


def open_slot(text: str) -> Dataset | Items | None:
    """Return the dataset of a text of the slot, its items not read yet; None for other texts."""
    if text.startswith(OBJECT):
        if text not in _objects:
            raise UsageError(
                f"The dataset {text!r} was given as an object in Python; call edgecil.run with the "
                "object again."
            )
        return adapt(_objects[text], text.removeprefix(OBJECT).rpartition("-")[0])
    if text.startswith(_HUB):
        hub_id = text.removeprefix(_HUB)
        return adapt(hugging_face.load(hub_id), hub_id.partition("?")[0].rpartition("/")[2])
    if (point := installed(ENTRY_POINTS).get(text)) is not None:
        return adapt(load_code(locate_module(point.module, point.attr)), text)
    if names_code(text):
        source = locate_code(text)
        return adapt(load_code(source), source.attribute)
    return None


def adapt(given: Any, name: str) -> Dataset | Items:
    """Return an object as a dataset; its items are not read yet."""
    if isinstance(given, (Dataset, Items)):
        return given
    if callable(given) and not hasattr(given, "__getitem__"):
        return adapt(call_factory(given, f"The dataset {name!r}"), name)
    if _is_pair_of_arrays(given):
        given = (*given[0], *given[1])
    if isinstance(given, (tuple, list)) and given and all(_is_array(part) for part in given):
        keys = {2: arrays.WHOLE, 4: arrays.PARTS}.get(len(given))
        if keys is None:
            raise UsageError(f"`dataset` must be 2 or 4 arrays. Got {len(given)}; use {FORMS}.")
        given = dict(zip(keys, given, strict=True))
    if isinstance(given, Mapping) and not hugging_face.is_dataset(given):
        spelt = {str(key).lower(): value for key, value in given.items()} | dict(given)
        if not arrays.is_complete(spelt):
            raise _unusable(given)
        content = {str(key): _array(value, str(key)) for key, value in spelt.items()}
        return arrays.arrays_dataset(name, "the given arrays", content)
    if hugging_face.is_dataset(given):
        given = hugging_face.choose_parts(given)
    parts = given if isinstance(given, (tuple, list)) else (given,)
    if len(parts) not in (1, 2) or not all(
        hasattr(part, "__len__") and hasattr(part, "__getitem__") and not isinstance(part, str)
        for part in parts
    ):
        raise _unusable(given)
    return _list_parts([hugging_face.plain(part) for part in parts], name)


def _is_pair_of_arrays(given: Any) -> bool:
    """Return whether a dataset is `((X_train, y_train), (X_test, y_test))`."""
    if not isinstance(given, (tuple, list)) or len(given) != 2:
        return False
    for part in given:
        if not isinstance(part, (tuple, list)) or len(part) != 2:
            return False
        if not all(_is_array(content) for content in part):
            return False
    return True


class _Item(Readable):
    """An item of a dataset; a second reading must give the same."""

    def __init__(self, dataset: Any, index: int, columns: tuple[str, str] | None) -> None:
        self._dataset, self._index, self._columns = dataset, index, columns
        self._sum: int | None = None

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
        found = zlib.crc32(data)
        if self._sum not in (None, found):
            raise DataError(
                f"{self} differs from one reading to the next; leave out random transforms, "
                "edgecil augments by itself."
            )
        self._sum = found
        return content


def _list_parts(parts: Sequence[Any], name: str) -> Items:
    """Return the items of a dataset, or of one for training and one for testing."""
    items: list[_Item] = []
    given: list[Any] = []
    for part in parts:
        if not len(part):
            raise DataError(f"A {type(part).__name__} of the dataset has no items.")
        columns = hugging_face.columns(part)
        own = [_Item(part, index, columns) for index in range(len(part))]
        items += own
        given += _labels(part, own, columns)
    labels, names = _numbered(given, _names(parts[0]))
    keys = [hugging_face.key(part) for part in parts]
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
        listed = getattr(part, name, None)
        if listed is None or getattr(part, "target_transform", None) is not None:
            continue
        values = np.asarray(listed)
        if values.shape == (len(items),) and values.dtype.kind in "iu":
            return list(values.tolist())
    own = []
    for item in items:
        label = item.parts()[1]
        own.append(label.item() if hasattr(label, "item") else label)
        if isinstance(own[-1], bool) or not isinstance(own[-1], (int, str)):
            raise DataError(f"{item} must have an integer or a text as its label.")
    return own


def _numbered(given: Sequence[Any], names: tuple[str, ...] | None) -> tuple[Any, tuple[str, ...]]:
    """Return labels as numbers, and a name for each class."""
    if len({isinstance(label, str) for label in given}) > 1:
        raise DataError("The labels must be all numbers or all texts.")
    if isinstance(given[0], str):
        texts, labels = np.unique(given, return_inverse=True)
        return labels.astype(np.int64), tuple(texts.tolist())
    if any(label is None or label < 0 for label in given):
        raise DataError(
            "An item has no label, or one below 0; name a part that has labels, for example "
            "'hf:NAME?test=validation'."
        )
    labels = arrays.as_labels(np.asarray(given))
    known = None if names is None else np.array(names)
    return labels, arrays.class_names("the dataset", known, labels)


def _names(part: Any) -> tuple[str, ...] | None:
    """Return the class names that a dataset knows, in label order."""
    listed = hugging_face.class_names(part) or getattr(part, "classes", None)
    if isinstance(listed, (list, tuple)) and listed and all(isinstance(it, str) for it in listed):
        return tuple(listed)
    return None


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
    numbers = isinstance(value, list) and value and isinstance(value[0], (int, float, list))
    return isinstance(value, np.ndarray) or hasattr(value, "detach") or bool(numbers)


def _title(given: Any) -> str:
    """Return a name for an object."""
    if isinstance(given, Dataset):
        return given.name
    if isinstance(given, (tuple, list)) and given and not _is_array(given[0]):
        given = given[0]
    if isinstance(given, (tuple, list, Mapping)) and not hugging_face.is_dataset(given):
        return "arrays"
    named = getattr(given, "__name__", None) if callable(given) else None
    return named or hugging_face.title(given) or type(given).__name__.lower()


def _unusable(given: Any) -> UsageError:
    return UsageError(f"`dataset` cannot be a {type(given).__name__}; use a name, a path, {FORMS}.")
