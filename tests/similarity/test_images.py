from __future__ import annotations

import numpy as np
import pytest

from edgecil.errors import EdgecilError, UsageError
from edgecil.similarity import prototype_similarity
from edgecil.similarity.images import PIXELS, image_similarity
from tests.toys import toy_dataset, toy_vit


def test_pixels_give_the_cosines_of_mean_images() -> None:
    images = toy_dataset()
    actual = image_similarity(images, PIXELS)
    rows = images.train.inputs.reshape(len(images.train), -1)
    expected = prototype_similarity(rows, images.train.labels)
    np.testing.assert_allclose(actual.pairs(), expected.pairs(), rtol=1e-12)
    assert actual.names == images.names
    assert actual.source["features"] == PIXELS


def test_a_frozen_network_sees_something_else() -> None:
    images = toy_dataset()
    actual = image_similarity(images, str(toy_vit()))
    assert actual.names == images.names
    assert not np.allclose(actual.pairs(), image_similarity(images, PIXELS).pairs())


@pytest.mark.parametrize("model", ["gone.safetensors", "vit-b16-dino"])
def test_weights_that_are_not_here_are_told(model: str) -> None:
    with pytest.raises(EdgecilError, match=model.removesuffix(".safetensors").split("-")[-1]):
        image_similarity(toy_dataset(), model)


def test_a_class_is_the_mean_direction_of_its_samples() -> None:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(50, 6))
    labels = rng.permutation(np.arange(50) % 4)
    embeddings = prototype_similarity(features, labels)
    assert embeddings.names == ("class 0", "class 1", "class 2", "class 3")
    units = features / np.linalg.norm(features, axis=1, keepdims=True)
    means = np.stack([units[labels == label].mean(axis=0) for label in range(4)])
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    np.testing.assert_allclose(embeddings.values, means @ means.T - np.eye(4), atol=1e-12)


def test_a_zero_sample_changes_no_direction() -> None:
    embeddings = prototype_similarity([[0, 0], [2, 0], [0, 3]], [0, 0, 1], ["x", "y"])
    assert embeddings.values[0, 1] == 0.0
    assert embeddings.names == ("x", "y")


@pytest.mark.parametrize(
    ("features", "labels", "names", "message"),
    [
        (np.ones(4), [0, 1], None, r"\(n, d\) array and labels n integers.* \(4,\)"),
        (np.ones((0, 3)), [], None, r"\(n, d\) array"),
        (np.ones((3, 2)), [0, 1], None, r"\(3, 2\).*\(2,\)"),
        (np.ones((2, 2)), [0.0, 1.0], None, "float64"),
        ([[1, np.nan], [1, 1]], [0, 1], None, "class 0 has NaN"),
        (np.ones((2, 2)), [0, 1], ["a", "b", "c"], r"class 2 \('c'\) first"),
        (np.ones((2, 2)), [0, 2], ["a", "b"], r"in 0..1. Got 0 to 2"),
        (np.ones((2, 2)), [-1, 1], None, r"Got -1"),
        ([[1.0], [-1.0], [1.0]], [0, 0, 1], None, "must not be zero"),
    ],
)
def test_what_cannot_be_averaged_is_named(
    features: object, labels: object, names: list[str] | None, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        prototype_similarity(features, labels, names)
