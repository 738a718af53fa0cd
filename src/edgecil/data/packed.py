"""Images inside larger files: the shards of a dataset."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeAlias, runtime_checkable

from edgecil.errors import DataError
from edgecil.io import limits


@runtime_checkable
class PackedImage(Protocol):
    """An image inside a file; its text says where, for messages."""

    @property
    def file(self) -> Path:
        """The file."""

    @property
    def place(self) -> int:
        """Where in the file the image is."""

    def read(self) -> bytes:
        """Return the encoded image."""


ImageSource: TypeAlias = Path | PackedImage


@dataclass(frozen=True)
class FilePart:
    """An image whose bytes are in a row in a file, as in a tar archive.

    Attributes:
        file: the file.
        place: offset of its first byte.
        size: number of bytes.
        name: its name in the archive.
    """

    file: Path
    place: int
    size: int
    name: str

    def __str__(self) -> str:
        return f"{self.name} in {self.file}"

    def read(self) -> bytes:
        """Return the encoded image."""
        limits.IMAGE.check(str(self), self.size)
        try:
            with self.file.open("rb") as file:
                file.seek(self.place)
                content = file.read(self.size)
        except OSError as error:
            raise DataError(f"Cannot read {self}: {error.strerror or error}.") from error
        if len(content) < self.size:
            raise DataError(f"{self.file} ends within {self.name}; this copy is incomplete.")
        return content
