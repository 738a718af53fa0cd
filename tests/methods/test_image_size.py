from __future__ import annotations

import logging

import numpy as np
import pytest

from edgecil.data import ImageDataset, Images
from edgecil.errors import UsageError
from edgecil.methods import get_method
from edgecil.methods.image_size import fit_images


def small(side: int = 32) -> ImageDataset:
    images = Images(np.zeros((2, 3, side, side), dtype=np.uint8), np.array([0, 1]))
    return ImageDataset("small", ("a", "b"), images, images)


def fitted(*methods: str, image_size: int | None = None, backbone: str = "resnet32") -> tuple:
    entries = [get_method(name) for name in methods]
    return fit_images(
        small(), entries, backbone=backbone, pretrained="vit-b16-in1k", image_size=image_size
    ).shape


def test_a_frozen_model_s_own_size_is_the_default(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        assert fitted("ease", "ranpac") == (3, 224, 224)
    assert "resized from 32×32 to 224×224" in caplog.text
    assert fitted("finetune", backbone="vit-b16-in21k") == (3, 224, 224)


def test_networks_from_scratch_keep_the_dataset_s_size() -> None:
    assert fitted("icarl") == (3, 32, 32)


def test_a_size_of_your_own_is_kept_with_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        assert fitted("ease", image_size=32) == (3, 32, 32)
    assert "trained on 224×224" in caplog.text


def test_different_needs_in_one_experiment_are_refused() -> None:
    with pytest.raises(UsageError, match=r"32×32 pixels do not suit 'vit-b16-in1k'.*'image_size'"):
        fitted("icarl", "ease")
