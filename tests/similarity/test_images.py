from __future__ import annotations

import numpy as np
import pytest

from edgecil.errors import EdgecilError
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
