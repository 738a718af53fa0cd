"""Image files to pixels: one colour mode, one size."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from edgecil.data.dataset import ImageDataset, Images
from edgecil.errors import DataError, EdgecilError, PrerequisiteError
from edgecil.io.arrays import Pixels

if TYPE_CHECKING:
    from PIL.Image import Image

SUFFIXES = (".jpg", ".jpeg", ".png", ".bmp", ".gif", ".ppm", ".pgm", ".tif", ".tiff", ".webp")

_GREY = ("1", "L", "LA")
_DEEP = ("I", "F")
# A JPEG much larger than what is asked for is decoded at a fraction of its size, but at no less
# than this many times what is asked for: many times faster, and the eye sees no difference.
_MARGIN = 2


def common_shape(paths: Sequence[Path], size: int | None) -> tuple[int, int, int]:
    """(channels, height, width) that these images can share, from their headers alone.

    One channel if all are grey, else three. Without `size`, all must be equally large.
    """
    grey = True
    seen: dict[tuple[int, int], Path] = {}
    for path in paths:
        with _opened(path) as image:
            grey &= image.mode in _GREY
            seen.setdefault((image.height, image.width), path)
    channels = 1 if grey else 3
    if size is not None:
        return channels, size, size
    if len(seen) > 1:
        one, other = (f"{path} is {w} x {h}" for (h, w), path in list(seen.items())[:2])
        raise DataError(f"Images differ in size ({one}, {other}); give one size for them all.")
    height, width = next(iter(seen))
    return channels, height, width


def decode_images(paths: Sequence[Path], shape: tuple[int, int, int]) -> Pixels:
    """The pixels of image files, scaled by their shorter side and cropped at the centre.

    Args:
        paths: n files that Pillow can read.
        shape: (channels, height, width) to bring each to; 1 channel is grey, 3 are RGB.

    Returns:
        (n, channels, height, width) uint8.
    """
    channels, height, width = shape
    pixels = np.empty((len(paths), *shape), dtype=np.uint8)

    def decode(index: int) -> None:
        with _opened(paths[index]) as image:
            image.draft(None, (_MARGIN * width, _MARGIN * height))
            fitted = _fit(_coloured(image, channels), height, width)
            decoded = np.asarray(fitted).reshape(height, width, channels)
        pixels[index] = decoded.transpose(2, 0, 1)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for _ in pool.map(decode, range(len(paths))):
            pass
    return pixels


def resize_dataset(dataset: ImageDataset, size: int | None) -> ImageDataset:
    """The dataset at `size` x `size` pixels; the dataset itself where it is so already."""
    if size is None or dataset.shape[1:] == (size, size):
        return dataset
    train, test = (
        Images(_resize(part.pixels, size), part.labels) for part in (dataset.train, dataset.test)
    )
    return ImageDataset(dataset.name, dataset.names, train, test)


def _resize(pixels: Pixels, size: int) -> Pixels:
    _require_pillow()
    from PIL.Image import fromarray

    resized = np.empty((*pixels.shape[:2], size, size), dtype=np.uint8)
    for index in np.ndindex(pixels.shape[:2]):
        resized[index] = np.asarray(_fit(fromarray(pixels[index]), size, size))
    return resized


@contextmanager
def _opened(path: Path) -> Iterator[Image]:
    """The image in a file; whatever a decoder may trip over names the file."""
    _require_pillow()
    from PIL.Image import open as open_image

    try:
        with open_image(path) as image:
            if image.mode.startswith(_DEEP):
                raise DataError(
                    f"{path} has more than 8 bits per channel ({image.mode}); save it with 8."
                )
            yield image
    except (EdgecilError, MemoryError):
        raise
    except FileNotFoundError as error:
        raise DataError(
            f"{path} belongs to the dataset but is not there; this copy is incomplete."
        ) from error
    except Exception as error:
        raise DataError(f"Cannot decode image {path}: {error}.") from error


def _coloured(image: Image, channels: int) -> Image:
    if channels == 1:
        return image.convert("L")
    if image.mode == "P":  # a palette's transparency has no meaning in RGB
        image = image.convert("RGBA")
    return image.convert("RGB")


def _fit(image: Image, height: int, width: int) -> Image:
    from PIL.Image import Resampling
    from PIL.ImageOps import fit

    if image.size == (width, height):
        return image
    return fit(image, (width, height), method=Resampling.BICUBIC)


def _require_pillow() -> None:
    try:
        import PIL  # noqa: F401
    except ImportError as error:
        raise PrerequisiteError(
            "Reading image files needs Pillow; install it with: pip install 'edgecil[train]'"
        ) from error
