"""The image size that the methods of an experiment need."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from edgecil.backbones.pretrained import fitting_size, image_size_of, is_pretrained
from edgecil.data.dataset import ImageDataset
from edgecil.data.decode import resize_dataset
from edgecil.errors import UsageError
from edgecil.methods.registry import MethodEntry

_log = logging.getLogger(__name__)


def fit_images(
    dataset: ImageDataset,
    methods: Iterable[MethodEntry],
    *,
    backbone: str,
    pretrained: str,
    image_size: int | None = None,
) -> ImageDataset:
    """The dataset, resized if a pre-trained model requires a far larger or smaller size.

    Args:
        dataset: images as loaded.
        methods: the methods of the experiment.
        backbone: network of methods that train a backbone.
        pretrained: model of methods on a frozen model.
        image_size: size that the user chose; the dataset is then not changed.
    """
    networks = {pretrained if method.pretrained else backbone for method in methods}
    models = sorted(name for name in networks if is_pretrained(name))
    sizes = {name: fitting_size(name, dataset.shape) for name in models}
    misfits = {name: size for name, size in sizes.items() if size is not None}
    if not misfits:
        return dataset
    name, size = next(iter(misfits.items()))
    given = "×".join(map(str, dataset.shape[1:]))
    if image_size is not None:
        _log.warning(
            "The images have %s pixels, but %r was trained on %d×%d.", given, name, size, size
        )
        return dataset
    if len(networks) > len(models) or len(set(misfits.values())) > 1:
        raise UsageError(
            f"Images of {given} pixels do not suit {name!r}, which was trained on {size}×{size}, "
            "and the other networks of the experiment differ; set 'image_size', or run the methods "
            "separately."
        )
    _log.warning(
        "Images are resized from %s to %d×%d pixels, the size that %r was trained on; set "
        "'image_size' to choose another.",
        given,
        size,
        size,
        name,
    )
    return resize_dataset(dataset, image_size_of(name))
