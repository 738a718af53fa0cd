"""Datasets at another image size, in memory or on disk."""

from __future__ import annotations

import hashlib

import numpy as np

from edgecil.data.dataset import ImageDataset, Images
from edgecil.data.decode import resize_images
from edgecil.data.image_files import keeps_on_disk
from edgecil.data.image_store import PixelStore
from edgecil.errors import UsageError
from edgecil.io.arrays import Pixels

RESIZE_VERSION = 1  # increase it when the same images are resized to other pixels


def resize_dataset(dataset: ImageDataset, size: int | None, storage: str = "auto") -> ImageDataset:
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
    parts = (dataset.train, dataset.test)
    count, channels = sum(len(part.labels) for part in parts), dataset.shape[0]
    if not keeps_on_disk(storage, count * channels * size * size):
        train, test = (Images(resize_images(part.pixels, size), part.labels) for part in parts)
        return ImageDataset(dataset.name, dataset.names, train, test, dataset.notes)
    store = ResizedStore(dataset, size)
    store.fill(repr(dataset.name))
    middle = len(dataset.train.labels)
    train = Images(store.rows(0, middle), dataset.train.labels)
    test = Images(store.rows(middle, count), dataset.test.labels)
    resized = ImageDataset(dataset.name, dataset.names, train, test, dataset.notes)
    resized.keep_fingerprint(store.digest)
    return resized


class ResizedStore(PixelStore):
    """The training images of a dataset and then its test images, at another size."""

    def __init__(self, dataset: ImageDataset, size: int) -> None:
        self._parts = (dataset.train.pixels, dataset.test.pixels)
        self._size = size
        content = repr((RESIZE_VERSION, size, dataset.fingerprint))
        name = hashlib.sha256(content.encode()).hexdigest()[:32]
        count = sum(map(len, self._parts))
        super().__init__(name, (count, dataset.shape[0], size, size))

    def decode(self, begin: int, end: int) -> Pixels:
        """Return some images, resized."""
        train, test = self._parts
        middle = len(train)
        chosen = np.concatenate(
            [train[begin:end], test[max(0, begin - middle) : max(0, end - middle)]]
        )
        return resize_images(chosen, self._size)
