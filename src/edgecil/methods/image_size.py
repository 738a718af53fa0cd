"""The size and the normalisation of images that the methods of an experiment need."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable

from edgecil.backbones.pretrained import (
    Shape,
    fitting_size,
    image_size_of,
    is_pretrained,
    statistics_of,
)
from edgecil.data.augment import Normalise, channel_statistics
from edgecil.data.dataset import Dataset
from edgecil.data.store import resize_dataset
from edgecil.data.stored_pixels import stored_tensor
from edgecil.errors import UsageError

_log = logging.getLogger(__name__)


def fit_images(
    dataset: Dataset,
    networks: Collection[str],
    *,
    image_size: int | None = None,
    preparation: str = "plain",
    storage: str = "auto",
) -> tuple[Dataset, Shape]:
    """Return the dataset, resized if a pre-trained model requires a far larger or smaller size.

    Returns:
        The dataset as it is stored, and channels, height and width of what a network sees. They
        differ with the preparation `centre-crop`: stored images are larger by 8/7 (256 pixels for
        224), the centre is tested on, and `resized-crop` uses the whole image.
    """
    if not dataset.channels:
        return dataset, dataset.shape
    stored = stored_size(image_size, preparation)
    if image_size is not None and preparation == "centre-crop":
        shape: Shape = (dataset.shape[0], image_size, image_size)
        _warn_of_misfits(shape, networks)
        return resize_dataset(dataset, stored, storage), shape
    models = sorted({name for name in networks if is_pretrained(name)})
    sizes = {name: fitting_size(name, dataset.shape) for name in models}
    misfits = {name: size for name, size in sizes.items() if size is not None}
    if preparation == "centre-crop":
        sizes_of_models = sorted(
            {size for name in models if (size := image_size_of(name)) is not None}
        )
        return _centre_cropped(dataset, sizes_of_models, storage)
    if not misfits:
        return dataset, dataset.shape
    name, size = next(iter(misfits.items()))
    given = "×".join(map(str, dataset.shape[1:]))
    if image_size is not None:
        _warn_of_misfits(dataset.shape, networks)
        return dataset, dataset.shape
    if len(set(networks)) > len(models) or len(set(misfits.values())) > 1:
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
    resized = resize_dataset(dataset, image_size_of(name), storage)
    return resized, resized.shape


def stored_size(size: int | None, preparation: str) -> int | None:
    """Return the size at which images are stored for a size that a network sees."""
    return None if size is None else size * 8 // 7 if preparation == "centre-crop" else size


def image_statistics(dataset: Dataset, networks: Iterable[str], *, normalisation: str) -> Normalise:
    """Return mean and standard deviation of the training images, or 0 and 1 if unused."""
    if not dataset.channels:
        return Normalise((), ())
    by_model = normalisation == "model" and all(
        is_pretrained(name) and statistics_of(name) is not None for name in networks
    )
    if normalisation == "none" or by_model:
        channels = dataset.shape[0]
        return Normalise((0.0,) * channels, (1.0,) * channels)
    return channel_statistics(stored_tensor(dataset.train.inputs))


def _centre_cropped(dataset: Dataset, sizes: list[int], storage: str) -> tuple[Dataset, Shape]:
    """Scale the dataset to 8/7 of the size of the only pre-trained model, or of the images."""
    if len(sizes) > 1:
        raise UsageError(
            f"The pre-trained models were trained on images of {' and '.join(map(str, sizes))} "
            "pixels; set 'image_size', or run the methods separately."
        )
    size = sizes[0] if sizes else min(dataset.shape[1:])
    stored = stored_size(size, "centre-crop")
    return resize_dataset(dataset, stored, storage), (dataset.shape[0], size, size)


def _warn_of_misfits(shape: Shape, networks: Iterable[str]) -> None:
    for name in sorted(filter(is_pretrained, set(networks))):
        size = fitting_size(name, shape)
        if size is not None:
            given = "×".join(map(str, shape[1:]))
            _log.warning(
                "The images have %s pixels, but %r was trained on %d×%d.", given, name, size, size
            )
