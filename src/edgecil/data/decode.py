"""Image files to pixels: one colour mode, one size."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from edgecil.errors import DataError, EdgecilError, first_line
from edgecil.io import limits
from edgecil.io.arrays import Pixels
from edgecil.io.files import check_file
from edgecil.io.packages import import_package

if TYPE_CHECKING:
    from PIL.Image import Image


class Readable(Protocol):
    """An item that is not a file of its own; its text names its place in error messages."""

    def read(self) -> bytes | Image | NDArray[Any]:
        """Return an encoded image, an image, or a vector (d,)."""


Item: TypeAlias = Path | Readable

SUFFIXES = (".jpg", ".jpeg", ".png", ".bmp", ".gif", ".ppm", ".pgm", ".tif", ".tiff", ".webp")

_GREY = ("1", "L", "LA")
_DEEP = ("I", "F")
# A JPEG is decoded at a fraction of its size, but at least at this multiple of the target size:
# several times faster, without a visible difference.
_MARGIN = 2
# Images that differ in size, or are larger than _LARGE, are scaled to one of these sides: the
# largest that is not above their median shorter side.
_SIDES = (32, 64, 224)
_LARGE = 256
# What Pillow may decode; other formats, some of which start programs, are refused.
_FORMATS = ("BMP", "GIF", "JPEG", "PNG", "PPM", "TIFF", "WEBP")


def choose_shape(
    paths: Sequence[Item], size: int | None
) -> tuple[tuple[int, int, int], str | None]:
    """Return (channels, height, width) for a set of images, from their headers alone.

    There is one channel if all images are grey, else three. Without `size`, images of one size keep
    it up to 256 pixels; others are scaled to 32, 64 or 224, whichever is next below their median
    size, and the second value is a sentence about it.
    """
    grey = True
    shapes: list[tuple[int, int]] = []
    for path in paths:
        with _opened(path) as image:
            grey &= image.mode in _GREY
            shapes.append((image.height, image.width))
    channels = 1 if grey else 3
    if size is not None:
        return (channels, size, size), None
    height, width = shapes[0]
    if set(shapes) == {(height, width)} and max(height, width) <= _LARGE:
        return (channels, height, width), None
    shorter = sorted(min(shape) for shape in shapes)
    median = shorter[len(shorter) // 2]
    side = max((side for side in _SIDES if side <= median), default=_SIDES[0])
    return (channels, side, side), (
        f"Images from {shorter[0]} to {max(map(max, shapes))} pixels per side are scaled and "
        f"cropped to {side} x {side}; set 'image_size' to choose another size."
    )


def decode_images(paths: Sequence[Item], shape: tuple[int, ...]) -> Pixels:
    """Return the pixels of image files, scaled by their shorter side and cropped at the centre.

    The shape of each is (channels, height, width); 1 channel is grey, 3 are RGB.
    """
    channels, height, width = shape
    pixels = np.empty((len(paths), *shape), dtype=np.uint8)

    def decode(index: int) -> None:
        with _opened(paths[index]) as image:
            image.draft(None, (_MARGIN * width, _MARGIN * height))
            if image.mode == "P" and channels == 3:  # transparency has no meaning in RGB
                image = image.convert("RGBA")
            fitted = _fit(image.convert("L" if channels == 1 else "RGB"), height, width)
            decoded = np.asarray(fitted).reshape(height, width, channels)
        pixels[index] = decoded.transpose(2, 0, 1)

    are_files = all(isinstance(path, Path) for path in paths)
    threads = os.cpu_count() if are_files else 1  # foreign datasets may not allow more
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(decode, range(len(paths))))
    return pixels


def resize_images(pixels: Pixels, size: int) -> Pixels:
    """Return images (n, channels, size, size): scaled, and cropped at the centre if not square."""
    import_package("PIL", "train", "Reading image files")
    from PIL.Image import fromarray

    resized = np.empty((*pixels.shape[:2], size, size), dtype=np.uint8)

    def resize(index: int) -> None:
        for channel, grey in enumerate(pixels[index]):
            resized[index, channel] = np.asarray(_fit(fromarray(grey), size, size))

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(resize, range(len(pixels))))
    return resized


@contextmanager
def _opened(path: Item) -> Iterator[Image]:
    """Read an image, whose size is checked before any pixel is decoded."""
    import_package("PIL", "train", "Reading image files")
    import PIL.Image

    limit = limits.PIXELS.value
    if PIL.Image.MAX_IMAGE_PIXELS is not None and limit > PIL.Image.MAX_IMAGE_PIXELS:
        PIL.Image.MAX_IMAGE_PIXELS = limit  # the user has raised ours above Pillow's
    file: Any = path if isinstance(path, Path) else path.read()
    if isinstance(file, Path):
        check_file(file)
    if isinstance(file, np.ndarray):
        raise DataError(f"{path} is a vector, but others of the dataset are images.")
    try:
        opened: AbstractContextManager[Image] = nullcontext(file)
        if not isinstance(file, PIL.Image.Image):
            content = BytesIO(file) if isinstance(file, bytes) else file
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", PIL.Image.DecompressionBombWarning)
                opened = PIL.Image.open(content, formats=_FORMATS)
        with opened as image:
            limits.PIXELS.check(str(path), image.width * image.height)
            if image.mode.startswith(_DEEP):
                raise DataError(
                    f"{path} has more than 8 bits per channel ({image.mode}); save it with 8."
                )
            yield image
    except (EdgecilError, MemoryError):
        raise
    except PIL.Image.DecompressionBombError as error:
        raise DataError(
            f"{path} has more than the limit of {limit:,} pixels; if you trust it, set the "
            f"environment variable {limits.PIXELS.variable} to a higher limit."
        ) from error
    except Exception as error:  # a decoder may raise anything
        raise DataError(
            f"Cannot decode image {path} ({first_line(error)}): it is damaged, or not in a format "
            f"that is read ({', '.join(_FORMATS)}); replace or remove it."
        ) from error


def _fit(image: Image, height: int, width: int) -> Image:
    from PIL.Image import Resampling
    from PIL.ImageOps import fit

    if image.size == (width, height):
        return image
    return fit(image, (width, height), method=Resampling.BICUBIC)
