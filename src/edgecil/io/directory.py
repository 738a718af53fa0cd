"""Directories that edgecil writes, with a marker file by which it knows them, and locks on them.

A directory belongs to edgecil if it contains the marker file `.edgecil`. A directory with other
files and no marker is refused, so that edgecil never overwrites or deletes other people's files.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from errno import ENAMETOOLONG
from pathlib import Path
from typing import Any

from edgecil.errors import DataError, EdgecilError, UsageError, format_value
from edgecil.io.files import read_json, reason, replace_file

MARKER = ".edgecil"
LOCK = "lock"

# What a process that was killed before it claimed a directory may have left.
_UNCLAIMED = re.compile(rf"{LOCK}|\.{re.escape(MARKER)}\.\w+|ray-[a-z0-9_]{{8}}")


def check_path(path: Any) -> None:
    """Raise an error if a path is possible on no file system."""
    try:
        Path(path).stat()
    except OSError as error:
        if error.errno == ENAMETOOLONG:
            raise UsageError(f"A path must be shorter. Got {format_value(str(path))}.") from error
    except (TypeError, ValueError) as error:
        raise UsageError(
            f"A path must be a text or a Path without null characters. Got {format_value(path)}."
        ) from error


def check_owner(directory: str | Path, kind: str) -> None:
    """Raise an error unless a directory is missing, empty, or of this kind and edgecil's."""
    path = Path(directory)
    check_path(path)
    try:
        if not path.exists():
            return
        if not path.is_dir():
            raise UsageError(f"{path} is a file; give a directory as `out`.")
        if (path / MARKER).exists():
            try:
                written = read_json(path / MARKER)["kind"]
            except (DataError, LookupError, TypeError):
                written = "unknown"
            if written != kind:
                raise UsageError(
                    f"{path} has the kind {written!r}, not {kind!r}; give another directory as "
                    "`out`."
                )
            return
        names = [file.name for file in path.iterdir()]
        foreign_names = [name for name in names if not _UNCLAIMED.fullmatch(name)]
    except OSError as error:
        raise EdgecilError(f"Cannot use {path}: {reason(error)}.") from error
    if foreign_names:
        raise UsageError(
            f"{path} contains files that edgecil did not write, such as "
            f"{sorted(foreign_names)[0]!r}; "
            "give a new or empty directory as `out`."
        )


def claim(directory: str | Path, kind: str) -> None:
    """Mark a directory as edgecil's; call :func:`check_owner` before."""
    marker = Path(directory) / MARKER
    if not marker.exists():
        with replace_file(marker) as file:
            file.write(json.dumps({"schema": "edgecil.directory/1", "kind": kind}).encode())


def locked(directory: Path) -> AbstractContextManager[None]:
    """Hold a directory exclusively; a second process gets an error at once."""
    return waiting_lock(directory / LOCK, timeout=0.0)


@contextmanager
def waiting_lock(path: Path, *, timeout: float = -1.0) -> Iterator[None]:
    """Hold the lock file `path` exclusively; by default wait while another process holds it."""
    from filelock import FileLock, Timeout

    if path.is_symlink() or (path.exists() and not path.is_file()):
        raise EdgecilError(
            f"Cannot use {path.parent}: its lock {path.name!r} is a link or not a regular file, "
            "which edgecil never creates; remove it."
        )
    lock = FileLock(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=timeout)
    except Timeout as error:
        raise EdgecilError(
            f"{path.parent} is in use by another process; wait until it ends, or use another "
            "directory."
        ) from error
    except OSError as error:
        raise EdgecilError(f"Cannot use {path.parent}: {error.strerror or error}.") from error
    try:
        yield
    finally:
        lock.release()
