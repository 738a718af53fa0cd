"""Decoded images on disk, for datasets larger than memory.

A store is one memory-mapped array in the user's cache. It is named by what determines its content:
for image files their paths, sizes and modification times, the shape of the decoded images, and the
version of the decoder. It is filled in order, so that decoding resumes where it was interrupted.
Beside the pixels there is a checksum of each image, which is verified when an image is first read.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from edgecil.data.decode import decode_images
from edgecil.data.packed import ImageSource
from edgecil.errors import DataError, warn
from edgecil.io.arrays import Pixels
from edgecil.io.files import cache_directory, replace_file
from edgecil.io.locks import waiting_lock

STORE_VERSION = 2  # increase it when the same files are decoded to other pixels

SUMS = "sums"  # the file of the images' checksums

_SUM = np.dtype(np.uint32).itemsize
_AT_ONCE = 256  # images between two notes of the progress
_SPARE = 2**28  # bytes that stay free on the disk


class PixelStore(ABC):
    """Pixels in a file; a subclass computes those that are missing.

    Attributes:
        directory: where the pixels are.
        shape: (n, channels, height, width).
    """

    def __init__(
        self, name: str, shape: tuple[int, int, int, int], directory: Path | None = None
    ) -> None:
        self.shape = shape
        home = cache_directory() / "images" if directory is None else directory
        self.directory = home / name

    @abstractmethod
    def decode(self, begin: int, end: int) -> Pixels:
        """Return images `begin` to `end` - 1."""

    @property
    def size(self) -> int:
        """Bytes of all pixels."""
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def done(self) -> int:
        """The number of images that are decoded and on disk."""
        try:
            return min(int(_read_note(self.directory / "done") or 0), self.shape[0])
        except ValueError:
            return 0

    def fill(self, name: str) -> None:
        """Decode the images that are missing.

        Args:
            name: the dataset, for messages.

        Warns:
            EdgecilWarning: before anything is decoded, with the size on disk.
        """
        if self.done < self.shape[0]:
            self._announce(name)
            with waiting_lock(self.directory / "lock"):
                self._decode()

    def rows(self, begin: int, end: int) -> Pixels:
        """Return some images as a read-only array in a file."""
        shape = (end - begin, *self.shape[1:])
        offset = begin * (self.size // self.shape[0])
        return np.memmap(self.directory / "pixels", np.uint8, "r", offset, shape)

    def _announce(self, name: str) -> None:
        row = self.size // self.shape[0]
        needed = (self.shape[0] - self.done) * row
        home = next(folder for folder in self.directory.parents if folder.is_dir())
        free = shutil.disk_usage(home).free
        text = (
            f"The {self.shape[0]:,} images of {name} take {self.size / 1e9:,.1f} GB at "
            f"{self.shape[2]} x {self.shape[3]} pixels. {needed / 1e9:,.1f} GB of them must be "
            f"decoded to {self.directory}, which has {free / 1e9:,.1f} GB free"
        )
        if needed + _SPARE > free:
            raise DataError(
                f"{text}; free some space, set the environment variable EDGECIL_CACHE to a larger "
                "disk, or choose fewer 'classes' or a smaller 'image_size'."
            )
        warn(f"{text}.")

    def _decode(self) -> None:
        path, sums_path = self.directory / "pixels", self.directory / SUMS
        start = self.done if path.exists() and sums_path.exists() else 0
        count = self.shape[0]
        row = self.size // count
        for whole, size in ((path, self.size), (sums_path, _SUM * count)):
            with whole.open("r+b" if whole.exists() else "w+b") as file:
                file.truncate(size)
        with path.open("r+b") as file, sums_path.open("r+b") as sums:
            file.seek(start * row)
            sums.seek(start * _SUM)
            for begin in range(start, count, _AT_ONCE):
                end = min(begin + _AT_ONCE, count)
                images = self.decode(begin, end)
                file.write(images.tobytes())
                sums.write(image_sums(images).tobytes())
                for written in (file, sums):
                    written.flush()
                    os.fsync(written.fileno())
                _write_note(self.directory / "done", str(end))

    def digest(self, key: bytes, compute: Callable[[], str]) -> str:
        """Return a digest of the pixels and of something else, computed once and kept beside them.

        Args:
            key: what else determines the digest.
            compute: reads all pixels.
        """
        path = self.directory / f"digest-{hashlib.sha256(key).hexdigest()[:32]}"
        kept = _read_note(path)
        if kept is None:
            kept = compute()
            _write_note(path, kept)
        return kept


class ImageStore(PixelStore):
    """The decoded pixels of some image files."""

    def __init__(
        self,
        paths: Sequence[ImageSource],
        shape: tuple[int, int, int],
        directory: Path | None = None,
    ) -> None:
        self._paths = paths
        super().__init__(_name(paths, shape), (len(paths), *shape), directory)

    def decode(self, begin: int, end: int) -> Pixels:
        """Return the images in some of the files."""
        return decode_images(self._paths[begin:end], self.shape[1:])


def image_sums(images: Pixels) -> NDArray[np.uint32]:
    """Return a checksum of each image, shape (n,)."""
    return np.array([zlib.crc32(image.tobytes()) for image in images], dtype=np.uint32)


def _write_note(path: Path, text: str) -> None:
    """Write a text with its checksum."""
    with replace_file(path) as file:
        file.write(f"{text} {zlib.crc32(text.encode()):08x}".encode())


def _read_note(path: Path) -> str | None:
    """Return the text in such a file; None if it is missing or damaged."""
    try:
        text, _, checksum = path.read_text(encoding="utf-8").rpartition(" ")
    except (OSError, ValueError):
        return None
    return text if checksum == f"{zlib.crc32(text.encode()):08x}" else None


def _name(images: Sequence[ImageSource], shape: tuple[int, int, int]) -> str:
    digest = hashlib.sha256(repr((STORE_VERSION, shape)).encode())
    shards: dict[Path, bytes] = {}
    for image in images:
        if isinstance(image, Path):
            digest.update(_version(image))
        else:
            if image.file not in shards:
                shards[image.file] = _version(image.file)
            digest.update(shards[image.file] + repr(image.place).encode())
    return digest.hexdigest()[:32]


def _version(path: Path) -> bytes:
    """Return a file's path, size and modification time."""
    try:
        status = path.stat()
    except OSError as error:
        raise DataError(
            f"{path} belongs to the dataset but does not exist; this copy is incomplete."
        ) from error
    return (
        os.fsencode(path.absolute()) + b"\0" + repr((status.st_size, status.st_mtime_ns)).encode()
    )
