from __future__ import annotations

import numpy as np
import pytest

from edgecil.errors import EdgecilError
from edgecil.similarity.images import PIXELS, image_similarity
from tests.toys import toy_dataset, toy_vit


def test_a_class_is_the_mean_direction_of_its_images() -> None:
    images = toy_dataset()
    images.train.inputs[0] = 0  # without a direction
    actual = image_similarity(images, PIXELS)
    rows, labels = images.train.inputs.reshape(len(images.train), -1), images.train.labels
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    units = rows / np.maximum(lengths, 1e-9)
    means = np.stack([units[labels == label].mean(axis=0) for label in range(len(images))])
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    np.testing.assert_allclose(
        actual.values, means @ means.T * (1 - np.eye(len(means))), atol=1e-12
    )
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
