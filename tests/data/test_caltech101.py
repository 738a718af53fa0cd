"""The photographs: bundled vectors, the images of the same split, and how the vectors are made."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from edgecil.classes import get_classes
from edgecil.data import load_dataset
from edgecil.data.formats.bundled import CALTECH_TEST as TEST, CALTECH_TRAIN as TRAIN, split_class


def builder() -> Any:
    path = Path(__file__).parents[2] / "tools" / "build_caltech101.py"
    spec = spec_from_file_location("build_caltech101", path)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_bundled_vectors_tell_the_classes_apart() -> None:
    """The nearest class mean is right for 90 % of the test images."""
    dataset = load_dataset("caltech101")
    assert dataset.shape == (256,)
    assert (len(dataset), len(dataset.train), len(dataset.test)) == (100, 2000, 1929)
    train, test = dataset.counts()
    assert set(train) == {TRAIN}
    assert "Faces_easy" not in dataset.names
    assert (test.min(), test.max()) == (11, TEST)
    means = np.stack([dataset.train.inputs[dataset.train.labels == c].mean(0) for c in range(100)])
    nearest = (np.square(means).sum(1) - 2.0 * dataset.test.inputs @ means.T).argmin(axis=1)
    assert np.mean(nearest == dataset.test.labels) == pytest.approx(0.904, abs=0.002)


@pytest.fixture(scope="module")
def painted(tmp_path_factory) -> Path:
    """22 images of each class and of Faces_easy; the colour tells class and number."""
    from PIL import Image

    root = tmp_path_factory.mktemp("caltech")
    for label, name in enumerate((*(get_classes("caltech101").folders or ()), "Faces_easy")):
        folder = root / "101_ObjectCategories" / name
        folder.mkdir(parents=True)
        for number in range(22):
            image = Image.new("RGB", (8, 6), (2 * label, 10 * number, 0))
            image.save(folder / f"image_{number + 1:04d}.jpg", quality=100, subsampling=0)
    return root


def test_the_images_have_the_split_of_the_vectors(painted) -> None:
    dataset = load_dataset("caltech101-images", root=painted, size=8)
    assert dataset.shape == (3, 8, 8)
    for images, places in ((dataset.train, slice(0, TRAIN)), (dataset.test, slice(TRAIN, 22))):
        red, green = images.inputs[:, 0, 4, 4] / 2.0, images.inputs[:, 1, 4, 4] / 10.0
        np.testing.assert_allclose(red, images.labels, atol=1.5)
        for label in (0, 41, 99):
            numbers = green[images.labels == label].round().astype(int).tolist()
            assert numbers == split_class(label, 22)[places].tolist()


def test_the_builder_makes_vectors_of_a_folder(painted) -> None:
    """A network of three outputs, the mean colours; two components keep the painted colours."""
    made = builder()
    stored = made.extract(painted / "101_ObjectCategories", lambda images: images.mean((2, 3)))
    assert stored["x"].shape == (101 * 22, 3)
    assert stored["files"][0] == "image_0001.jpg"
    packed = made.pack(stored, components=2)
    assert packed["components"].shape == (2, 100 * 22)
    assert packed["components"].dtype == np.int8
    assert packed["tested"].tolist() == [2] * 100
    vectors = packed["components"].T * packed["step"]
    between = np.linalg.norm(vectors[0] - vectors[22 * 99])  # red differs by 2 * 99 of 128
    assert between == pytest.approx(2 * 99 / 128, rel=0.2)
