"""Files: read with one clear error, written completely or not at all."""

from __future__ import annotations

import gzip
import json
import os
import re
import stat
import sys
import tempfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from edgecil.errors import DataError, EdgecilError, UsageError, first_line
from edgecil.io import limits
from edgecil.io.cache import CACHE, cache_directory
from edgecil.io.limits import Limit

try:
    import fcntl
except ModuleNotFoundError:  # Windows
    fcntl = None  # type: ignore[assignment]

_ATTEMPTS = 10
_START = 64  # bytes
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")  # an escape that is part of a character


def check_file(path: Path, limit: Limit | None = None) -> int:
    """Return the size of a regular file in bytes; FIFOs, devices and folders are refused."""
    try:
        status = path.stat()
    except (OSError, ValueError) as error:
        raise DataError(f"Cannot read {path}: {reason(error)}.") from error
    kind = _kind_unless_file(status.st_mode)
    if kind is not None:
        raise DataError(f"Cannot read {path}: it is {kind}; give a file.")
    if limit is not None:
        limit.check(str(path), status.st_size)
    return status.st_size


@contextmanager
def readable(path: Path, kind: str) -> Iterator[None]:
    """Check that a path is a file, and turn any error of the reader into one sentence."""
    check_file(path)
    try:
        yield
    except EdgecilError:
        raise
    except Exception as error:  # libraries raise anything for a damaged file, also KeyError(101)
        cause = first_line(error)
        raise DataError(
            f"Cannot read {path}: it is cut short, damaged, or not {kind} "
            f"({cause if ' ' in cause else type(error).__name__})."
        ) from error


def read_text(path: Path) -> str:
    """Read a UTF-8 text file, which is unpacked if its name ends in `.gz`."""
    check_file(path, limits.TEXT)
    try:
        if path.suffix != ".gz":
            return path.read_text(encoding="utf-8-sig")
        with gzip.open(path) as file:
            content = file.read(limits.TEXT.value + 1)
        limits.TEXT.check(str(path), len(content))
        return content.decode("utf-8-sig")
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"Cannot read {path}: {reason(error)}.") from error
    except UnicodeDecodeError as error:
        form = "CSV" if path.suffix in (".xlsx", ".xls", ".ods") else "UTF-8"
        raise DataError(f"Cannot read {path}: it is not UTF-8 text; save it as {form}.") from error


def read_json(path: Path) -> Any:
    """Return the content of a JSON file."""
    return parse_json(read_text(path), str(path))


def parse_json(text: str, source: str) -> Any:
    """Return the value of a JSON text; `source` names the text in the error."""
    try:
        value = json.loads(text, object_pairs_hook=_unique)
        if _SURROGATE.search(text):
            json.dumps(value, ensure_ascii=False).encode()
        return value
    except UnicodeEncodeError as error:
        raise DataError(
            f"{source} contains {error.object[error.start : error.end]!r}, which is half of a "
            "character; write the whole one."
        ) from error
    except (RecursionError, ValueError) as error:
        raise DataError(f"{source} is not valid JSON: {error}.") from error


def read_toml(path: str | Path) -> dict[str, Any]:
    """Return the content of a TOML file."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    text = read_text(Path(path))
    try:
        return tomllib.loads(text)
    except (RecursionError, ValueError) as error:  # also of numbers with too many digits
        raise DataError(f"{path} is not valid TOML: {error}.") from error


def _unique(members: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the members of a JSON object; two of the same name are an error."""
    content = dict(members)
    if len(content) != len(members):
        counts = Counter(name for name, _ in members)
        repeated = next(name for name, count in counts.items() if count > 1)
        raise ValueError(f"it has the name {repeated[:80]!r} twice in one object")
    return content


def check_new(
    path: str | Path,
    *,
    overwrite: bool,
    name: str = "out",
    is_ours: Callable[[bytes], bool] = lambda start: False,
) -> None:
    """Raise an error if a file exists that must not be replaced; an empty one may be."""
    path = Path(path)
    _check_regular(path)
    try:
        with path.open("rb") as file:
            start = file.read(_START)
    except FileNotFoundError:
        return
    except (OSError, ValueError) as error:
        raise EdgecilError(f"Cannot write {path}: {reason(error)}.") from error
    if start and not overwrite and not is_ours(start):
        raise UsageError(
            f"{path} exists already; give another path as `{name}`, or use `overwrite` to replace "
            "it."
        )


def _check_regular(path: Path) -> None:
    """Raise an error if a path exists and is a folder, a pipe, a socket or a device."""
    kind = other_kind(path)
    if kind is not None:
        raise EdgecilError(f"Cannot write {path}: it is {kind}; give a file.")


def other_kind(path: Path) -> str | None:
    """Return what a path is, such as "a folder", if it exists and is not a regular file."""
    try:
        return _kind_unless_file(path.stat().st_mode)
    except (OSError, ValueError):
        return None  # reading or writing will give the reason


def _kind_unless_file(mode: int) -> str | None:
    if stat.S_ISREG(mode):
        return None
    return "a folder" if stat.S_ISDIR(mode) else "a pipe, a socket or a device"


@contextmanager
def replace_file(path: Path, *, private: bool = False) -> Iterator[BinaryIO]:
    """Write to a temporary neighbour and rename it to `path` at the end.

    After any failure (full disk, missing permission, Ctrl-C) an older file is unchanged and no
    partial one remains. The temporary file of a killed process is removed at the next writing.
    """
    temporary: Path | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700 if private else 0o777)
        remove_abandoned(path)
        handle, temporary = _new_temporary(path)
        with os.fdopen(handle, "wb") as file:
            yield file
        temporary.chmod(0o600 if private else 0o666 & ~_umask())
        temporary.replace(path)
    except OSError as error:
        remedy = ""
        if path.is_relative_to(cache_directory()):
            remedy = f"; set the environment variable {CACHE} to a folder that can be written"
        raise EdgecilError(f"Cannot write {path}: {reason(error)}{remedy}.") from error
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def replace_files(files: Iterable[tuple[Path, bytes]]) -> None:
    """Write files that belong together: either all of them, or after a failure none.

    No older file is replaced before the last new one is complete. A kill during the renaming leaves
    each file complete, old or new. No other process may write the same files at the same time.
    """
    with ExitStack() as stack:
        for path, content in files:
            file = stack.enter_context(replace_file(path))
            file.write(content)
            file.flush()  # a full disk must show before the first file is renamed


def remove_abandoned(path: Path) -> None:
    """Delete temporary neighbours of a file whose writers were killed.

    A writer holds a lock on its temporary file, which ends with its process.
    """
    if fcntl is None:
        return
    name = re.escape(f".{path.name}.") + "[a-z0-9_]{8}"
    for neighbour in list(path.parent.iterdir()):
        if re.fullmatch(name, neighbour.name) and neighbour.is_file():
            with suppress(OSError), neighbour.open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                neighbour.unlink()


def _new_temporary(path: Path) -> tuple[int, Path]:
    """Return an open temporary neighbour of a file, locked where the file system has locks."""
    _check_regular(path)  # /dev/null must not become a file
    for _ in range(_ATTEMPTS):
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        if fcntl is not None:
            with suppress(OSError):
                fcntl.flock(handle, fcntl.LOCK_EX)
        if Path(name).exists():
            return handle, Path(name)
        os.close(handle)  # another process removed it before it was locked
    raise EdgecilError(f"Cannot write {path}: its temporary files vanish.")


def reason(error: Exception) -> str:
    """Return the cause of a failure in a few words."""
    return str(getattr(error, "strerror", None) or error)


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
