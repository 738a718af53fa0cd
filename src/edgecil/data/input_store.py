"""One store of inputs: an array in memory, or a memory map in the user's cache.

A memory map grows block by block, so that decoding resumes where it was interrupted. Its name is a
digest of a key that determines its content, such as files and their times. Without a key it is
temporary.
"""

from __future__ import annotations

import hashlib
import math
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from edgecil.data.dataset import Dataset, Examples
from edgecil.data.decode import resize_images
from edgecil.errors import DataError, UsageError, warn
from edgecil.io.arrays import Inputs, Ints
from edgecil.io.cache import cache_directory, writable_cache
from edgecil.io.device import free_memory
from edgecil.io.directory import waiting_lock
from edgecil.io.files import replace_file

STORE_VERSION = 4  # increase it when the same source is decoded to other inputs
_AT_ONCE = 256  # inputs of a block
_SPARE = 2**28  # bytes that stay free on the disk
_LARGE = 2**27  # bytes of a file that a user should know of
_temporary: list[tempfile.TemporaryDirectory[str]] = []  # removed with this process


def store_dataset(
    name: str,
    names: tuple[str, ...],
    labels: tuple[Ints, Ints],
    shape: tuple[int, ...],
    read: Callable[[int, int], Inputs],
    *,
    key: Callable[[], object],
    notes: tuple[str, ...] = (),
    resumes: bool = False,
) -> Dataset:
    """Return a dataset whose inputs are read block by block, into memory or into a file.

    The inputs are written to a file if they would take more than half of the free memory, or if
    reading `resumes` after an interruption.

    Args:
        name: of the dataset.
        names: of the N classes.
        labels: of the training and of the test inputs.
        shape: of each input: (channels, height, width) as uint8, or (d,) as float32.
        read: returns the inputs from a begin to an end, training inputs first.
        key: returns an object that determines the inputs, so that a later process finds their
            file; None if nothing does.
        notes: of the dataset.
        resumes: whether to write a file, whatever the size.
    """
    train, test = labels
    kind: np.dtype[Any] = np.dtype(np.uint8 if len(shape) == 3 else np.float32)
    count = len(train) + len(test)
    whole = (count, *shape)
    size = math.prod(whole) * kind.itemsize
    blocks = range(0, count, _AT_ONCE)
    if not resumes and size <= free_memory() / 2:
        inputs = np.empty(whole, dtype=kind)
        for begin in blocks:
            inputs[begin : begin + _AT_ONCE] = read(begin, min(begin + _AT_ONCE, count))
        parts = Examples(inputs[: len(train)], train), Examples(inputs[len(train) :], test)
        return Dataset(name, names, *parts, notes)
    path = _directory(key(), whole, size) / "inputs"
    input_size = size // count
    written = path.stat().st_size if path.exists() else 0
    if written < size:
        _announce(name, whole, size, size - written, path.parent)
        with waiting_lock(path.parent / "lock"), path.open("ab") as file:
            block_size = input_size * _AT_ONCE
            finished_blocks = file.tell() // block_size if file.tell() < size else len(blocks)
            file.truncate(min(size, finished_blocks * block_size))  # without a partial block
            for begin in blocks[finished_blocks:]:
                block = read(begin, min(begin + _AT_ONCE, count))
                file.write(np.ascontiguousarray(block, dtype=kind).tobytes())
                file.flush()
    offset = len(train) * input_size
    parts = (
        Examples(np.memmap(path, kind, "r", 0, (len(train), *shape)), train),
        Examples(np.memmap(path, kind, "r", offset, (len(test), *shape)), test),
    )
    dataset = Dataset(name, names, *parts, notes)
    _check_fingerprint(path.parent, dataset)
    return dataset


def _directory(key: object, shape: tuple[int, ...], size: int) -> Path:
    """Return the folder of a file of inputs; a cache with the complete file may be read-only."""
    if key is None:
        home = writable_cache() / "inputs"
        home.mkdir(parents=True, exist_ok=True)
        _temporary.append(tempfile.TemporaryDirectory(prefix="temporary-", dir=home))
        return Path(_temporary[-1].name)
    text = repr((STORE_VERSION, shape, key))
    folder = Path("inputs", hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32])
    stored = cache_directory() / folder / "inputs"
    if stored.is_file() and stored.stat().st_size == size:
        return stored.parent
    return writable_cache() / folder


def _announce(name: str, shape: tuple[int, ...], size: int, needed: int, directory: Path) -> None:
    home = next(folder for folder in directory.parents if folder.is_dir())
    free = shutil.disk_usage(home).free
    values = " x ".join(map(str, shape[1:]))
    text = (
        f"The {shape[0]:,} inputs of {name!r} take {size / 1e9:,.1f} GB at {values} values. "
        f"{needed / 1e9:,.1f} GB of them must be written to {directory}, which has "
        f"{free / 1e9:,.1f} GB free"
    )
    if needed + _SPARE > free:
        raise DataError(
            f"{text}; free some space, set the environment variable EDGECIL_CACHE to a larger "
            "disk, or choose fewer `classes` or a smaller `image_size`."
        )
    if needed > _LARGE:
        warn(f"{text}.")


def _check_fingerprint(directory: Path, dataset: Dataset) -> None:
    """Raise an error if a dataset differs from the content of its file when it was written."""
    content = repr(dataset.names).encode("utf-8", "surrogatepass")
    content += dataset.train.labels.tobytes() + dataset.test.labels.tobytes()
    path = directory / f"fingerprint-{hashlib.sha256(content).hexdigest()[:32]}"
    if not path.exists():
        with replace_file(path) as file:
            file.write(dataset.fingerprint.encode())
    elif path.read_text(encoding="utf-8", errors="replace") != dataset.fingerprint:
        raise DataError(
            f"The inputs in {directory} are damaged; delete the directory, and they are read again."
        )


RESIZE_VERSION = 1  # increase it when the same images are resized to other pixels


def resize_dataset(dataset: Dataset, size: int | None) -> Dataset:
    """Return the dataset at `size` x `size` pixels; the same object if it has this size."""
    if size is None or dataset.shape[1:] == (size, size):
        return dataset
    if not dataset.channels:
        raise UsageError(f"{dataset.name!r} has vectors, not images; leave `image_size` out.")
    return derive_dataset(
        dataset,
        (dataset.channels, size, size),
        lambda inputs, _: resize_images(inputs, size),
        key=lambda: (RESIZE_VERSION, size, dataset.fingerprint),
    )


def derive_dataset(
    dataset: Dataset,
    shape: tuple[int, ...],
    change: Callable[[Inputs, int], Inputs],
    *,
    key: Callable[[], object],
    resumes: bool = False,
) -> Dataset:
    """Return a dataset of changed inputs; see :func:`store_dataset`.

    `change` takes some inputs, and the number of inputs up to the last of them.
    """
    train, test = dataset.train, dataset.test

    def read(begin: int, end: int) -> Inputs:
        later = test.inputs[max(0, begin - len(train)) : max(0, end - len(train))]
        return change(np.concatenate([train.inputs[begin:end], later]), end)

    return store_dataset(
        dataset.name,
        dataset.names,
        (train.labels, test.labels),
        shape,
        read,
        key=key,
        notes=dataset.notes,
        resumes=resumes,
    )
