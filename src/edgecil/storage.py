"""Files that are whole or absent, and the place where results are cached between runs."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from edgecil.errors import EdgecilError


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


@contextmanager
def locked(directory: Path) -> Iterator[None]:
    """Be the only process at work in a directory; a second one is told at once.

    The lock ends with the process that holds it, however that ends.
    """
    import fcntl

    try:
        directory.mkdir(parents=True, exist_ok=True)
        file = (directory / "lock").open("w")
    except OSError as error:
        raise EdgecilError(f"Cannot use {directory}: {error.strerror or error}.") from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise EdgecilError(
                f"Another run is at work in {directory}; wait for it, or use another directory."
            ) from error
        yield


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
