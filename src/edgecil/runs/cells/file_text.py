"""The text of a result file, whatever its encoding; its size is checked before it is read."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Sequence
from pathlib import Path

from edgecil.errors import DataError
from edgecil.io import limits
from edgecil.io.files import check_file, reason
from edgecil.io.limits import Limit

HEAD = 2**16
"""How many bytes of a file its form is recognised by."""

CELLS = Limit("EDGECIL_MAX_CELLS", 5_000_000, "cells")
"""The most cells that a table may have."""

_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")  # not tab, new line, escape
_GZIP = b"\x1f\x8b"


def read_head(path: Path) -> bytes:
    """Return the beginning of a file, unpacked if it is gzip's."""
    check_file(path)
    try:
        with path.open("rb") as file:
            head = file.read(HEAD)
        if head.startswith(_GZIP):
            with gzip.open(path) as file:
                head = file.read(HEAD)
        return head
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"Cannot read {path}: {reason(error)}.") from error


def read_file_text(path: Path) -> str:
    """Return the text of a file in UTF-8, UTF-16 with its mark, or Windows-1252."""
    check_file(path, limits.TEXT)
    try:
        content = path.read_bytes()
        if content.startswith(_GZIP):
            with gzip.open(path) as file:
                content = file.read(limits.TEXT.value + 1)
            limits.TEXT.check(str(path), len(content))
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"Cannot read {path}: {reason(error)}.") from error
    text = decode(content)
    if text is None:
        raise DataError(f"Cannot read {path}: it is not text in UTF-8; save it as UTF-8.")
    return text


def decode(content: bytes) -> str | None:
    """Return bytes as text; None if they are none. The last character may be cut.

    >>> decode("80.5 ± 1.5".encode("cp1252")), decode(bytes([0, 1, 2]))
    ('80.5 ± 1.5', None)
    """
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16", errors="replace")
    if _CONTROL.search(content):
        return None
    whole = content[: len(content) - _cut_bytes(content)]
    try:
        return whole.decode("utf-8-sig")
    except UnicodeDecodeError:
        try:
            return content.decode("cp1252")
        except UnicodeDecodeError:
            return None


def suffix_of(path: Path) -> str:
    """Return the suffix of a file without `.gz`, in lower case.

    >>> suffix_of(Path("runs/A.CSV.gz")), suffix_of(Path("README"))
    ('.csv', '')
    """
    suffixes: Sequence[str] = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] == ".gz":
        suffixes = suffixes[:-1]
    return suffixes[-1] if suffixes else ""


def _cut_bytes(content: bytes) -> int:
    """Return how many bytes at the end are the beginning of a character."""
    for count in range(1, min(4, len(content)) + 1):
        byte = content[-count]
        if byte & 0xC0 == 0xC0:
            length = 2 + (byte >= 0xE0) + (byte >= 0xF0)
            return count if count < length else 0
        if byte < 0x80:
            return 0
    return 0
