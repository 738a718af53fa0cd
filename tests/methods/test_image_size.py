from __future__ import annotations

import logging
from collections.abc import Sequence

import numpy as np
import pytest

from edgecil.data import Dataset, Examples
from edgecil.data.augment import Normalise
from edgecil.errors import UsageError
from edgecil.methods import get_method
from edgecil.methods.image_size import fit_images, image_statistics


def small(side: int = 32) -> Dataset:
    images = Examples(np.zeros((2, 3, side, side), dtype=np.uint8), np.array([0, 1]))
    return Dataset("small", ("a", "b"), images, images)


def networks(methods: Sequence[str], backbone: str = "resnet32") -> list[str]:
    return ["vit-b16-in1k" if get_method(name).pretrained else backbone for name in methods]


def fitted(*methods: str, image_size: int | None = None, backbone: str = "resnet32") -> tuple:
    dataset, shape = fit_images(small(), networks(methods, backbone), image_size=image_size)
    assert dataset.shape == shape
    return shape


@pytest.mark.parametrize(
    ("method", "image_size", "stored", "seen"),
    [("ease", None, 256, 224), ("ease", 112, 128, 112), ("icarl", 28, 32, 28)],
)
def test_centre_crops_store_larger_images_than_a_network_sees(
    method: str, image_size: int | None, stored: int, seen: int
) -> None:
    dataset, shape = fit_images(
        small(), networks([method]), image_size=image_size, preparation="centre-crop"
    )
    assert dataset.shape == (3, stored, stored)
    assert shape == (3, seen, seen)


@pytest.mark.parametrize(
    ("methods", "normalisation", "mean"),
    [
        ("ease", "model", 0.0),
        ("ease", "dataset", 51 / 255),
        ("ease", "none", 0.0),
        ("icarl", "model", 51 / 255),
        ("icarl", "none", 0.0),
        ("icarl,ease", "model", 51 / 255),
    ],
)
def test_statistics_are_computed_only_where_a_learner_uses_them(
    methods: str, normalisation: str, mean: float
) -> None:
    images = Examples(np.full((2, 3, 4, 4), 51, dtype=np.uint8), np.array([0, 1]))
    statistics = image_statistics(
        Dataset("grey", ("a", "b"), images, images),
        networks(methods.split(",")),
        normalisation=normalisation,
    )
    assert statistics == Normalise((mean,) * 3, (1.0,) * 3)


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
    with pytest.raises(UsageError, match=r"32.*32.*'vit-b16-in1k'"):
        fitted("icarl", "ease")
