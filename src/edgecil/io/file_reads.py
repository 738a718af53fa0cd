"""The files that code of the user reads from its own folder, as Python's audit events show them.

Files that are opened by code in C or by other processes are not seen.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path

MOST_FILES = 200  # files whose content is part of an identity
MISSING = "missing"

_WRITING_FLAGS = os.O_WRONLY | os.O_RDWR
_active: list[Callable[[str, bool], None]] = []  # each takes a path, and whether it is written


@dataclass(frozen=True)
class ReadFiles:
    """Files that a program has read from its folder, by path relative to the folder.

    Attributes:
        digests: content of the files that determine what the program does.
        unrecorded: files that changed meanwhile, and files beyond the first 200.
    """

    digests: Mapping[str, str] = field(default_factory=dict)
    unrecorded: tuple[str, ...] = ()


class FileUse:
    """The files below a folder that a program has opened."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._starts = tuple(dict.fromkeys((_absolute(folder), str(folder.resolve()))))
        self._read: set[str] = set()  # absolute paths
        self._written: set[str] = set()

    def add(self, path: str, is_written: bool) -> None:
        """Add a file, if it is below the folder."""
        path = _absolute(path)
        if path.startswith(self._starts):
            files = self._written if is_written else self._read
            files.add(path)

    def files(
        self, *, besides: Iterable[Path] = (), outside: Iterable[Path] = (), since: float
    ) -> ReadFiles:
        """Return the files that were read, with their contents.

        Args:
            besides: files to leave out.
            outside: folders to leave out.
            since: time after which a change of a file keeps it from being recorded.
        """
        ignored_files = {_absolute(path) for path in besides}
        ignored_folders = [*_library_folders(self.folder), *map(_absolute, outside)]
        digests: dict[str, str] = {}
        unrecorded: list[str] = []
        for path in sorted({_source_of(path) for path in self._read}):
            name = self._relative(path)
            is_ignored = path in ignored_files or _is_below_any(path, ignored_folders)
            if name is None or is_ignored:
                continue
            with suppress(OSError):
                status = Path(path).stat()
                has_changed = path in self._written or status.st_mtime > since
                if has_changed or len(digests) == MOST_FILES:
                    unrecorded.append(name)
                else:
                    digests[name] = _digest(path, status.st_size, status.st_mtime_ns)
        return ReadFiles(digests, tuple(unrecorded))

    def _relative(self, path: str) -> str | None:
        """Return a path relative to the folder, also through links; None if outside."""
        for start in self._starts:
            if path != start and _is_below(path, start):
                return Path(path).relative_to(start).as_posix()
        return None


@contextmanager
def recording(use: FileUse) -> Iterator[None]:
    """Add the files that are opened in the meantime."""
    _install()
    _active.append(use.add)
    try:
        yield
    finally:
        _active.remove(use.add)


def digest_files(folder: Path, names: Iterable[str]) -> dict[str, str]:
    """Return the contents of files of a folder as they are now."""
    digests = {}
    for name in names:
        path = folder / name
        try:
            status = path.stat()
            digests[name] = _digest(str(path), status.st_size, status.st_mtime_ns)
        except OSError:
            digests[name] = MISSING
    return digests


@cache
def _install() -> None:
    """Install the audit hook, which cannot be removed."""
    sys.addaudithook(_notice)


def _notice(event: str, arguments: tuple[object, ...]) -> None:
    if event != "open" or not _active:
        return
    path, mode, flags = arguments
    if not isinstance(path, (str, bytes)):  # the number of an open file
        return
    if isinstance(mode, str):
        is_written = any(letter in mode for letter in "wax+")
    else:
        is_written = isinstance(flags, int) and bool(flags & _WRITING_FLAGS)
    for add in _active:
        add(os.fsdecode(path), is_written)


def _absolute(path: str | Path) -> str:
    """Return an absolute path without `..`; links stay as they are."""
    return os.path.normpath(Path(path).absolute())


def _source_of(path: str) -> str:
    """Return the source file of bytecode; any other path unchanged."""
    if path.endswith(".pyc"):
        with suppress(ValueError):
            return importlib.util.source_from_cache(path)
    return path


def _library_folders(folder: Path) -> list[str]:
    """Return the folders of Python and its libraries, unless the folder is in them itself."""
    package = str(Path(__file__).parents[1])
    libraries = {_absolute(path) for path in (sys.prefix, sys.base_prefix, package)}
    return [library for library in libraries if not _is_below(str(folder), library)]


def _is_below_any(path: str, folders: Iterable[str]) -> bool:
    return any(_is_below(path, folder) for folder in folders)


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


@lru_cache(maxsize=1024)
def _digest(path: str, size: int, changed: int) -> str:
    """Return a digest of a file; size and time of its last change make the cache notice changes."""
    digest = hashlib.sha256()
    with Path(path).open("rb") as file:
        while block := file.read(2**20):
            digest.update(block)
    return digest.hexdigest()[:32]
