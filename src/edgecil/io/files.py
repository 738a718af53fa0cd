"""Files: read with one clear error, written whole or not at all; and the user's cache directory."""

from __future__ import annotations

import csv
import gzip
import json
import os
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from edgecil.errors import DataError, EdgecilError


def read_text(path: Path) -> str:
    """A UTF-8 text file's content, `.gz` decompressed; an unreadable file is one clear error."""
    try:
        if path.suffix == ".gz":
            return gzip.decompress(path.read_bytes()).decode("utf-8-sig")
        return path.read_text(encoding="utf-8-sig")
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        raise DataError(f"Cannot read {path}: {reason}.") from error
    except UnicodeDecodeError as error:
        raise DataError(f"Cannot read {path}: it is not text in UTF-8; save it as such.") from error


def read_json(path: Path) -> Any:
    """What a JSON file holds."""
    try:
        return json.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path} is not valid JSON: {error}.") from error


def read_rows(path: Path) -> list[list[str]]:
    """The rows of a CSV file that are not blank."""
    try:
        return [row for row in csv.reader(read_text(path).splitlines()) if row]
    except csv.Error as error:
        raise DataError(f"{path} is not valid CSV: {error}.") from error


@contextmanager
def replace_file(path: Path) -> Iterator[BinaryIO]:
    """Write to a temporary neighbour and rename it to `path` at the end.

    Whatever goes wrong in between (full disk, no permission, Ctrl-C), an older file stays as it
    was and no half-written one is left.
    """
    temporary: Path | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        temporary = Path(name)
        with os.fdopen(handle, "wb") as file:
            yield file
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    except OSError as error:
        raise EdgecilError(f"Cannot write {path}: {error.strerror or error}.") from error
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def cache_directory() -> Path:
    """Where computed embeddings are kept: $EDGECIL_CACHE, else edgecil/ in the user's cache."""
    if given := os.environ.get("EDGECIL_CACHE"):
        return Path(given).expanduser()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "edgecil"


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
