"""Locks between processes; the operating system releases them when the process ends."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from edgecil.errors import EdgecilError


@contextmanager
def locked(directory: Path) -> Iterator[None]:
    """Hold a directory exclusively; a second process gets an error at once."""
    with waiting_lock(directory / "lock", timeout=0.0):
        yield


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
