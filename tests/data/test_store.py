"""Decoded images on disk: decoded once, in order, and the same as in memory."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import edgecil
from edgecil.data import Dataset, Examples, input_store as store, items, load_dataset
from edgecil.errors import DataError, EdgecilWarning
from tests.data.painting import save
from tests.grouped import grouped

CLASSES, EACH = 4, 6


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("EDGECIL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(store, "_AT_ONCE", 5)
    return tmp_path / "cache"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    for part in ("train", "test"):
        for label in range(CLASSES):
            for index in range(EACH):
                shade = int(rng.integers(0, 99))
                save(tmp_path / "images" / part / f"c{label}" / f"{index}.png", label, shade)
    return tmp_path / "images"


@pytest.fixture
def full(monkeypatch: pytest.MonkeyPatch) -> None:
    """No memory is free: inputs go to the disk."""
    monkeypatch.setattr(store, "free_memory", lambda: 0)


def test_pixels_on_disk_are_those_in_memory(folder, monkeypatch) -> None:
    memory = load_dataset(folder)
    monkeypatch.setattr(store, "free_memory", lambda: 0)
    disk = load_dataset(folder)
    assert isinstance(disk.train.inputs, np.memmap)
    for part in ("train", "test"):
        np.testing.assert_array_equal(getattr(disk, part).inputs, getattr(memory, part).inputs)
        np.testing.assert_array_equal(getattr(disk, part).labels, getattr(memory, part).labels)
    assert disk.fingerprint == memory.fingerprint
    assert load_dataset(folder).fingerprint == memory.fingerprint
    some = load_dataset(folder, ids=[2, 0])
    assert some.fingerprint == memory.take([2, 0]).fingerprint


def test_what_does_not_fit_into_memory_goes_to_disk(folder, monkeypatch) -> None:
    size = 2 * CLASSES * EACH * 3 * 12 * 8
    monkeypatch.setattr(store, "free_memory", lambda: 2 * size)
    assert not isinstance(load_dataset(folder).train.inputs, np.memmap)
    monkeypatch.setattr(store, "free_memory", lambda: 2 * size - 1)
    monkeypatch.setattr(store, "_LARGE", size - 1)
    with pytest.warns(EdgecilWarning, match="48.*'images'.*GB.* must be written"):
        assert isinstance(load_dataset(folder).train.inputs, np.memmap)


def test_resized_images_are_those_in_memory_and_resized_once(monkeypatch) -> None:
    rng = np.random.default_rng(0)
    parts = (
        Examples(rng.integers(0, 256, (n, 3, 5, 5), dtype=np.uint8), np.arange(n) % 2)
        for n in (12, 7)
    )
    noise = Dataset("noise", ("a", "b"), *parts)
    assert store.resize_dataset(noise, 5) is noise
    assert store.resize_dataset(noise, None) is noise
    memory = store.resize_dataset(noise, 8)
    monkeypatch.setattr(store, "free_memory", lambda: 0)
    disk = store.resize_dataset(noise, 8)
    assert isinstance(disk.train.inputs, np.memmap)
    monkeypatch.setattr(store, "resize_images", lambda *_: pytest.fail("resized again"))
    again = store.resize_dataset(noise, 8)
    assert disk.fingerprint == memory.fingerprint == again.fingerprint


@pytest.mark.usefixtures("full")
def test_reading_resumes_where_it_was_interrupted(folder, monkeypatch) -> None:
    decode, decoded = items.decode_images, []

    def interrupted(part: Any, shape: Any) -> Any:
        if len(decoded) == 3:
            raise KeyboardInterrupt
        decoded.append(list(part))
        return decode(part, shape)

    monkeypatch.setattr(items, "decode_images", interrupted)
    with pytest.raises(KeyboardInterrupt):
        load_dataset(folder)
    monkeypatch.setattr(
        items, "decode_images", lambda part, shape: decoded.append(part) or decode(part, shape)
    )
    disk = load_dataset(folder)
    assert sum(map(len, decoded)) == 2 * CLASSES * EACH, "no image is decoded twice"
    monkeypatch.undo()
    assert disk.fingerprint == load_dataset(folder).fingerprint


@pytest.mark.usefixtures("full")
def test_a_changed_file_is_read_again(folder, cache) -> None:
    for _ in range(2):
        load_dataset(folder)
    assert len(list(cache.glob("inputs/*"))) == 1
    os.utime(sorted(folder.rglob("*.png"))[3], ns=(1, 1))
    load_dataset(folder)
    assert len(list(cache.glob("inputs/*"))) == 2


@pytest.mark.usefixtures("full")
def test_damage_on_the_disk_is_noticed(folder, cache) -> None:
    load_dataset(folder)
    (path,) = cache.rglob("inputs/*/inputs")
    content = bytearray(path.read_bytes())
    content[77] ^= 4
    path.write_bytes(content)
    with pytest.raises(DataError, match="damaged"):
        load_dataset(folder)


@pytest.mark.usefixtures("full")
def test_a_disk_without_space_is_refused_before_anything_is_written(
    folder, cache, monkeypatch
) -> None:
    monkeypatch.setattr(store, "_SPARE", 2**60)
    with pytest.raises(DataError, match="EDGECIL_CACHE"):
        load_dataset(folder)
    assert list(cache.iterdir()) == []


def counts(experiment: edgecil.Experiment) -> dict[Any, Any]:
    return {
        (run.method, run.sequence): [node.class_correct for node in run.nodes]
        for run in experiment.results()
    }


@pytest.mark.slow
@pytest.mark.usefixtures("quick_workers")
def test_learners_give_the_same_results_from_disk(folder, tmp_path, monkeypatch) -> None:
    """In this process, with selections that stay on disk, and in worker processes."""
    from edgecil.data import stored_pixels

    monkeypatch.setattr(stored_pixels, "AT_ONCE", 500)
    options: dict[str, Any] = {
        "method": ("icarl", "joint"),
        "dataset": folder,
        "tasks": 2,
        "epochs": 2,
        "protocol": "random",
        "budget": 2,
        "image_size": 8,
    }
    memory = edgecil.run(**grouped(out=tmp_path / "memory", workers=1, **options))
    monkeypatch.setattr("edgecil.data.input_store.free_memory", lambda: 0)
    here = edgecil.run(**grouped(out=tmp_path / "here", workers=1, **options))
    elsewhere = edgecil.run(**grouped(out=tmp_path / "elsewhere", workers=2, **options))
    assert here.identity == memory.identity
    assert counts(here) == counts(memory)
    assert counts(elsewhere) == counts(memory)
