"""The user's cache of what can be computed or downloaded again."""

from __future__ import annotations

import os
import tempfile
from functools import cache
from pathlib import Path

from edgecil.errors import PrerequisiteError, warn

CACHE = "EDGECIL_CACHE"
# A cache for the processes that this one starts, where the user's cache cannot be written.
_TEMPORARY_CACHE = "EDGECIL_TEMPORARY_CACHE"

_temporary: list[tempfile.TemporaryDirectory[str]] = []  # removed with this process


def cache_directory() -> Path:
    """Return the cache directory: $EDGECIL_CACHE, or edgecil/ in the user's cache."""
    chosen = os.environ.get(CACHE)
    return Path(chosen).expanduser() if chosen else user_cache() / "edgecil"


def user_cache() -> Path:
    """Return the user's cache directory."""
    chosen = os.environ.get("XDG_CACHE_HOME")
    return Path(chosen) if chosen else home_directory() / ".cache"


def home_directory() -> Path:
    """Return the user's home; the root where there is none, as for a container's unnamed user."""
    try:
        return Path.home()
    except RuntimeError:
        return Path(os.sep)


def writable_cache() -> Path:
    """Return the cache directory, or a temporary one, with a warning, if it cannot be written.

    This process and those that it starts have the same temporary cache, which ends with it.
    """
    return _writable_cache(cache_directory())


@cache
def _writable_cache(place: Path) -> Path:
    try:
        place.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=place):
            return place
    except OSError as error:
        reason = error.strerror or str(error)
    inherited = os.environ.get(_TEMPORARY_CACHE)
    if inherited is not None and Path(inherited).is_dir():
        return Path(inherited)
    try:
        _temporary.append(tempfile.TemporaryDirectory(prefix="edgecil-cache-"))
    except OSError as error:
        raise PrerequisiteError(
            f"The cache {place} cannot be written ({reason}), nor any folder for temporary files; "
            f"set the environment variable {CACHE} to a folder that can be written."
        ) from error
    warn(
        f"The cache {place} cannot be written ({reason}): what is computed for it is lost at the "
        f"end. Set the environment variable {CACHE} to a folder that can be written."
    )
    os.environ[_TEMPORARY_CACHE] = _temporary[-1].name
    return Path(_temporary[-1].name)
