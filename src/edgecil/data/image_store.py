"""Decoded images on disk, for datasets larger than memory.

A store is one memory-mapped array in the user's cache. It is named by what determines its content:
paths, sizes and modification times of the image files, the shape of the decoded images, and the
version of the decoder. It is filled in order, so that decoding resumes where it was interrupted.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from edgecil.data.decode import decode_images
from edgecil.errors import DataError, EdgecilWarning
from edgecil.io.arrays import Pixels
from edgecil.io.files import cache_directory, replace_file
from edgecil.io.locks import waiting_lock

STORE_VERSION = 1  # increase it when the same files are decoded to other pixels

_AT_ONCE = 256  # images between two notes of the progress
_SPARE = 2**28  # bytes that stay free on the disk


class ImageStore:
    """The decoded pixels of some image files.

    Attributes:
        directory: where the pixels are.
        shape: (n, channels, height, width).
    """

    def __init__(
        self, paths: Sequence[Path], shape: tuple[int, int, int], directory: Path | None = None
    ) -> None:
        self._paths = paths
        self.shape = (len(paths), *shape)
        home = cache_directory() / "images" if directory is None else directory
        self.directory = home / _name(paths, shape)

    @property
    def size(self) -> int:
        """Bytes of all pixels."""
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def done(self) -> int:
        """The number of images that are decoded and on disk."""
        try:
            return min(int((self.directory / "done").read_text()), len(self._paths))
        except (OSError, ValueError):
            return 0

    def fill(self, name: str) -> None:
        """Decode the images that are missing.

        Args:
            name: the dataset, for messages.

        Warns:
            EdgecilWarning: before anything is decoded, with the size on disk.
        """
        if self.done < len(self._paths):
            self._announce(name)
            with waiting_lock(self.directory / "lock"):
                self._decode()

    def rows(self, begin: int, end: int) -> Pixels:
        """Some images as a read-only array in a file."""
        shape = (end - begin, *self.shape[1:])
        offset = begin * (self.size // len(self._paths))
        return np.memmap(self.directory / "pixels", np.uint8, "r", offset, shape)

    def _announce(self, name: str) -> None:
        row = self.size // len(self._paths)
        needed = (len(self._paths) - self.done) * row
        home = next(folder for folder in self.directory.parents if folder.is_dir())
        free = shutil.disk_usage(home).free
        text = (
            f"The {len(self._paths):,} images of {name} take {self.size / 1e9:,.1f} GB at "
            f"{self.shape[2]} x {self.shape[3]} pixels. {needed / 1e9:,.1f} GB of them must be "
            f"decoded to {self.directory}, which has {free / 1e9:,.1f} GB free"
        )
        if needed + _SPARE > free:
            raise DataError(
                f"{text}; free some space, set the environment variable EDGECIL_CACHE to a larger "
                "disk, or choose fewer 'classes' or a smaller 'image_size'."
            )
        warnings.warn(f"{text}.", EdgecilWarning, stacklevel=4)

    def _decode(self) -> None:
        path = self.directory / "pixels"
        start = self.done if path.exists() else 0
        with path.open("r+b" if path.exists() else "w+b") as file:
            file.truncate(self.size)
        row = self.size // len(self._paths)
        with path.open("r+b") as file:
            file.seek(start * row)
            for begin in range(start, len(self._paths), _AT_ONCE):
                part = self._paths[begin : begin + _AT_ONCE]
                file.write(decode_images(part, self.shape[1:]).tobytes())
                file.flush()
                os.fsync(file.fileno())
                with replace_file(self.directory / "done") as note:
                    note.write(str(begin + len(part)).encode())

    def digest(self, key: bytes, compute: Callable[[], str]) -> str:
        """A digest of the pixels and of something else, computed once and kept beside them.

        Args:
            key: what else determines the digest.
            compute: reads all pixels.
        """
        path = self.directory / f"digest-{hashlib.sha256(key).hexdigest()[:32]}"
        if not path.exists():
            with replace_file(path) as file:
                file.write(compute().encode())
        return path.read_text()


def _name(paths: Sequence[Path], shape: tuple[int, int, int]) -> str:
    digest = hashlib.sha256(repr((STORE_VERSION, shape)).encode())
    for path in paths:
        try:
            status = path.stat()
        except OSError as error:
            raise DataError(
                f"{path} belongs to the dataset but does not exist; this copy is incomplete."
            ) from error
        digest.update(os.fsencode(path.absolute()) + b"\0")
        digest.update(repr((status.st_size, status.st_mtime_ns)).encode())
    return digest.hexdigest()[:32]
