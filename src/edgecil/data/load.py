"""Image datasets by name or path, and how their images are read."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from edgecil.classes import ClassList, get_classes, select_classes
from edgecil.classes.lists import ALIASES, CLASS_LISTS
from edgecil.data.data_slot import DATASET_ENTRY_POINTS, adapt_dataset, dataset_text, open_slot
from edgecil.data.dataset import Dataset
from edgecil.data.formats import array_files as arrays, bundled, cifar, folder, hugging_face
from edgecil.data.formats.hugging_face import SHARDS, find_shards
from edgecil.data.formats.photographs import HOW_TO_GET, LISTINGS
from edgecil.data.input_store import resize_dataset
from edgecil.data.items import Items, first_vector
from edgecil.errors import (
    DataError,
    PrerequisiteError,
    UsageError,
    format_value,
    unknown_name_error,
    warn,
)
from edgecil.io.arrays import Ints
from edgecil.io.code import refusing_exit
from edgecil.registry import Registry, installed


@dataclass(frozen=True)
class DatasetFormat:
    """How a named dataset is read from a directory in its official layout.

    Attributes:
        open: reads or lists the dataset in a directory.
        advice: how to get the images, as a clause of an error message; "" for bundled datasets.
        vectors: whether it has vectors in place of images.
    """

    open: Callable[[Path], Dataset | Items]
    advice: str = ""
    vectors: bool = False


_FORMATS = {
    **{name: DatasetFormat(partial(bundled.read_quickdraw, name)) for name in bundled.DRAWINGS},
    **{
        layout.name: DatasetFormat(partial(cifar.read_cifar, layout), layout.advice)
        for layout in cifar.LAYOUTS.values()
    },
    bundled.CALTECH: DatasetFormat(bundled.read_caltech101, vectors=True),
    **{
        name: DatasetFormat(partial(LISTINGS[name], name, advice=advice), advice)
        for name, advice in HOW_TO_GET.items()
    },
}
IMAGE_DATASETS: Registry[DatasetFormat] = Registry("image dataset", _FORMATS, aliases=ALIASES)

_ARRAYS = ".npz"


def load_dataset(
    name: Any,
    *,
    root: str | Path | None = None,
    count: int | None = None,
    seed: int | None = None,
    ids: Sequence[int] | Ints | None = None,
    size: int | None = None,
) -> Dataset:
    """Return the images of a dataset, or of some of its classes.

    Args:
        name: a name in `IMAGE_DATASETS` (`quickdraw` and `quickdraw-pretrain` are bundled) or of an
            entry point of the group `edgecil.datasets`; a folder of images with one sub-folder per
            class, a folder of WebDataset, Parquet or Arrow shards or one such file, or an .npz
            file; `hf:ID` for a dataset of the Hugging Face hub; `FILE.py:function`; or an object:
            arrays (X, y) or (X_train, y_train, X_test, y_test), a dataset of torch or of Hugging
            Face, or a pair of them for training and testing.
        root: the directory that holds the images of a named dataset.
        count: only the first `count` classes, in label order.
        seed: draw the `count` classes instead.
        ids: only these classes, relabelled in this order.
        size: scale to `size` x `size` pixels; by default photographs are scaled to 224, and images
            that all have one small size keep it.

    Returns:
        The chosen classes, relabelled from 0; images of other classes are not decoded. Decoded or
        resized images that would take more than half of the free memory are kept in the user's
        cache.

    Warns:
        EdgecilWarning: about images that were held out for testing, or scaled to a default size.
    """
    opened = open_dataset(name, root=root)
    chosen = select_classes(len(opened.names), count=count, seed=seed, ids=ids)
    return read_dataset(opened, chosen, size)


def read_dataset(opened: Dataset | Items, ids: Ints, size: int | None = None) -> Dataset:
    """Return some classes of an opened dataset, relabelled from 0; see :func:`load_dataset`."""
    if size is not None and size < 1:
        raise UsageError(f"`image_size` must be at least 1. Got {size} instead.")
    with refusing_exit(f"The dataset {format_value(opened.name)}"):
        taken = opened.take(ids) if isinstance(opened, Dataset) else opened.read(ids, size)
    dataset = resize_dataset(taken, size)
    for note in dataset.notes:
        warn(note)
    return dataset


def open_dataset(name: Any, *, root: str | Path | None = None) -> Dataset | Items:
    """Return a dataset; image files are listed and not decoded. See :func:`load_dataset`."""
    name = dataset_text(name)
    with refusing_exit(f"The dataset {format_value(name)}"):
        opened = _open(name)
    form = None if opened is not None else IMAGE_DATASETS[_resolve(name)]
    if root is not None and (form is None or not form.advice):
        raise UsageError(f"{name} does not use `root`. Got {root}; leave it out.")
    if form is None:
        assert opened is not None
        return opened
    if form.advice and root is None:
        raise PrerequisiteError(
            f"The images of {name!r} must be in a local directory; set `root` ({form.advice})."
        )
    return form.open(Path(root or "").expanduser())


def _open(name: str) -> Dataset | Items | None:
    """Return a dataset that is not a registered name, without its items; None for a name."""
    opened = open_slot(name)
    path = dataset_path(name)
    if opened is not None or path is None:
        return opened
    suffix = "" if path.is_dir() else path.suffix.lower()
    if suffix == _ARRAYS:
        return arrays.read_arrays(path)
    shards = find_shards(path)
    if shards:
        title = folder.class_name(path.resolve().stem)
        return adapt_dataset(hugging_face.load_shards(path, shards), title)
    if suffix in SHARDS:
        raise PrerequisiteError(f"There is no file {path}; give a folder of shards, or one shard.")
    return folder.list_folder(path)


def has_vectors(name: Any) -> bool:
    """Return whether a dataset has vectors in place of images; no image is decoded."""
    name = dataset_text(name)
    opened = _open(name)
    if opened is None:
        return name in IMAGE_DATASETS and IMAGE_DATASETS[name].vectors
    if isinstance(opened, Dataset):
        return not opened.channels
    return first_vector(opened.items) is not None


def dataset_path(name: str | Path) -> Path | None:
    """Return the path if a dataset is named by its path; None for a name.

    A registered name is a name, even if there is a folder of that name here; `./name` is always a
    path.
    """
    text = os.fspath(name)
    path = Path(text).expanduser()
    is_path = isinstance(name, Path) or "/" in text or os.sep in text
    if is_path or path.suffix.lower() in (_ARRAYS, *SHARDS):
        return path
    is_name = text in IMAGE_DATASETS or text in CLASS_LISTS
    return None if is_name or not path.is_dir() else path


def dataset_classes(name: Any) -> ClassList:
    """Return the classes of a dataset in label order; no image is decoded."""
    name = dataset_text(name)
    opened = _open(name)
    return get_classes(name) if opened is None else ClassList(opened.name, opened.names)


def dataset_status(name: str | Path, root: str | Path | None = None) -> tuple[bool, str]:
    """Return whether a dataset could be loaded, and one sentence: where it is, or how to get it.

    No image is decoded, so damaged images are not detected.
    """
    try:
        path = dataset_path(name)
        if path is None and not IMAGE_DATASETS[_resolve(str(name))].advice:
            return True, "Bundled with edgecil."
        open_dataset(path or name, root=None if path else root)
    except (PrerequisiteError, DataError) as error:
        return False, str(error)
    return True, f"In {path or Path(root or '').expanduser()}."


def _resolve(name: str) -> str:
    if name not in IMAGE_DATASETS:
        raise unknown_name_error(
            "image dataset",
            name,
            (*IMAGE_DATASETS, *installed(DATASET_ENTRY_POINTS), "FOLDER", "FILE.npz", "hf:ID"),
        )
    return IMAGE_DATASETS.resolve(name)
