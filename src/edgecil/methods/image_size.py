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
from edgecil.data.input_store import resize_dataset
from edgecil.data.stored_pixels import stored_tensor
from edgecil.errors import UsageError

_log = logging.getLogger(__name__)


def fit_images(
    dataset: Dataset,
    networks: Collection[str],
    *,
    image_size: int | None = None,
    preparation: str = "plain",
) -> tuple[Dataset, Shape]:
    """Return the dataset, resized if a pre-trained model requires a far larger or smaller size.

    Returns:
        The dataset as it is stored, and channels, height and width of what a network sees. They
        differ with the preparation `centre-crop`: stored images are larger by 8/7 (256 pixels for
        224), the centre is tested on, and `resized-crop` uses the whole image.
    """
    if not dataset.channels:
        return dataset, dataset.shape
    crop = preparation == "centre-crop"
    shown_size = "×".join(map(str, dataset.shape[1:]))
    models = sorted(filter(is_pretrained, set(networks)))
    sizes = {
        name: image_size_of(name) if crop else fitting_size(name, dataset.shape) for name in models
    }
    needed = {name: size for name, size in sizes.items() if size is not None}
    size = image_size
    if size is None and needed:
        name, size = next(iter(needed.items()))
        if len(set(needed.values())) > 1 or (not crop and len(set(networks)) > len(models)):
            raise UsageError(
                f"Images of {shown_size} pixels do not suit {name!r}, which was trained on "
                f"{size}×{size}, and the other networks of the experiment differ; set "
                "`image_size`, or run the methods separately."
            )
        if not crop:
            _log.warning(
                "Images are resized from %s to %d×%d pixels, the size that %r was trained on; set "
                "'image_size' to choose another.",
                *(shown_size, size, size, name),
            )
    elif size is None:
        if not crop:
            return dataset, dataset.shape
        size = min(dataset.shape[1:])
    else:
        for name in models:
            trained_size = fitting_size(name, (dataset.shape[0], size, size))
            if trained_size is not None:
                _log.warning(
                    "The images have %d×%d pixels, but %r was trained on %d×%d.",
                    *(size, size, name, trained_size, trained_size),
                )
    shape = (dataset.shape[0], size, size)
    return resize_dataset(dataset, stored_size(size, preparation)), shape


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
