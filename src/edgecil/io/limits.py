"""Limits on the size of files, checked before they are read; environment variables raise them."""

from __future__ import annotations

import os
from dataclasses import dataclass

from edgecil.errors import DataError, UsageError, format_value


@dataclass(frozen=True)
class Limit:
    """A size that untrusted files must not exceed, and the environment variable that changes it."""

    variable: str
    default: int
    unit: str

    @property
    def value(self) -> int:
        """The limit in force."""
        text = os.environ.get(self.variable) or str(self.default)
        if not (text.isascii() and text.isdigit() and len(text) < 20 and int(text)):
            raise UsageError(
                f"{self.variable} must be an integer above 0. Got {format_value(text)}."
            )
        return int(text)

    def check(self, what: str, size: int) -> None:
        """Raise an error if `size` exceeds the limit."""
        if size > self.value:
            raise DataError(
                f"{what} has {size:,} {self.unit}, more than the limit of {self.value:,}; if you "
                f"trust it, set the environment variable {self.variable} to a higher limit."
            )


TEXT = Limit("EDGECIL_MAX_TEXT_BYTES", 2**28, "bytes")
ARRAYS = Limit("EDGECIL_MAX_ARRAY_BYTES", 2**32, "bytes when unpacked")
PIXELS = Limit("EDGECIL_MAX_IMAGE_PIXELS", 64_000_000, "pixels")
PICKLE = Limit("EDGECIL_MAX_PICKLE_BYTES", 2**29, "bytes")
