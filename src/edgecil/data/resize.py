"""Datasets at another image size, in memory or on disk."""

from __future__ import annotations

import numpy as np

from edgecil.data.dataset import Dataset
from edgecil.data.decode import resize_images
from edgecil.data.store import store_dataset
from edgecil.errors import UsageError
from edgecil.io.arrays import Pixels

RESIZE_VERSION = 1  # increase it when the same images are resized to other pixels


def resize_dataset(dataset: Dataset, size: int | None, storage: str = "auto") -> Dataset:
    """Return the dataset at `size` x `size` pixels; the same object if it has that size already.

    Args:
        dataset: images of any size.
        size: pixels per side; None to keep the size.
        storage: `memory`, `disk`, or `auto` for the disk if the pixels would take more than half
            of the memory that is free.
    """
    if size is None or dataset.shape[1:] == (size, size):
        return dataset
    if not dataset.channels:
        raise UsageError(f"{dataset.name!r} has vectors, not images; leave 'image_size' out.")
    train, test = dataset.train, dataset.test
    middle = len(train)

    def read(begin: int, end: int) -> Pixels:
        later = test.inputs[max(0, begin - middle) : max(0, end - middle)]
        return resize_images(np.concatenate([train.inputs[begin:end], later]), size)

    return store_dataset(
        dataset.name,
        dataset.names,
        (train.labels, test.labels),
        (dataset.channels, size, size),
        read,
        storage=storage,
        key=lambda: (RESIZE_VERSION, size, dataset.fingerprint),
        notes=dataset.notes,
    )
