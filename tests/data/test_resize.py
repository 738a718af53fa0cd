"""Resized datasets: the same pixels in memory and on disk."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from edgecil.data import store as resize
from edgecil.data.dataset import Dataset, Examples
from edgecil.data.store import resize_dataset
from edgecil.errors import EdgecilWarning


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EDGECIL_CACHE", str(tmp_path))


def dataset(count: int = 300) -> Dataset:
    """Noise; more images than a store decodes at once."""
    rng = np.random.default_rng(0)
    train, test = (
        Examples(rng.integers(0, 256, (n, 3, 5, 5), dtype=np.uint8), np.arange(n) % 2)
        for n in (count, 7)
    )
    return Dataset("noise", ("a", "b"), train, test)


def test_images_on_disk_are_those_in_memory_and_resized_once(monkeypatch) -> None:
    memory = resize_dataset(dataset(), 8, "memory")
    with pytest.warns(EdgecilWarning, match="307 inputs"):
        disk = resize_dataset(dataset(), 8, "disk")
    assert isinstance(disk.train.inputs, np.memmap)
    for part in ("train", "test"):
        ours, theirs = getattr(disk, part), getattr(memory, part)
        assert np.array_equal(ours.inputs, theirs.inputs)
        assert np.array_equal(ours.labels, theirs.labels)
    monkeypatch.setattr(resize, "resize_images", lambda *_: pytest.fail("resized again"))
    again = resize_dataset(dataset(), 8, "disk")
    assert disk.fingerprint == memory.fingerprint == again.fingerprint


def test_the_same_size_changes_nothing() -> None:
    images = dataset(4)
    assert resize_dataset(images, 5, "disk") is images
    assert resize_dataset(images, None) is images
