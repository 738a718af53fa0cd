"""The files of an experiment directory: the only ones that edgecil ever deletes from it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from edgecil.engine.store import DATABASE, Store
from edgecil.io.directory import check_owner, claim
from edgecil.io.locks import locked

# Names of our files by folder; a folder's name may be a pattern too.
_CONTENT_NAME = r"[0-9a-f]{32}"
FILES: dict[tuple[str, ...], str] = {
    (): rf"{re.escape(DATABASE)}(-wal|-shm|-journal)?|similarity\.npz|progress\.json",
    ("analyses",): r"[0-9a-f]{16}\.json",
    ("states",): rf"{_CONTENT_NAME}\.pt",
    ("transcripts",): r"[\w-]+-(hard|easy)\.json",
    ("shared", "tasks"): rf"{_CONTENT_NAME}\.(pt|lock)",
    ("shared", "features", _CONTENT_NAME): rf"{_CONTENT_NAME}\.npz",
}
_FEATURES = ("shared", "features", _CONTENT_NAME)
# A file that was not complete when its writer was killed; see `io.files.replace_file`.
_TEMPORARY = r"\.(?:{name})\.[a-z0-9_]{{8}}"


def check_directory(directory: str | Path) -> None:
    """Raise an error if a directory holds files of anybody else and no experiment."""
    check_owner(directory, "experiment")


@contextmanager
def writing(directory: str | Path, *, overwrite: bool = False) -> Iterator[Store]:
    """Return the store of an experiment directory, which this process holds exclusively."""
    path = Path(directory)
    check_directory(path)
    with locked(path):
        claim(path, "experiment")
        if overwrite:
            clear(path)
        remove_leftovers(path)
        with closing(Store(path)) as store:
            yield store


def clear(directory: str | Path) -> None:
    """Delete what runs and analyses wrote to an experiment directory, and nothing else."""
    for folder, pattern in FILES.items():
        _remove(Path(directory), folder, rf"{pattern}|{_TEMPORARY.format(name=pattern)}")


def remove_leftovers(directory: str | Path) -> None:
    """Delete incomplete files of processes that were killed while they wrote them."""
    for folder, pattern in FILES.items():
        _remove(Path(directory), folder, _TEMPORARY.format(name=pattern))


def remove_features(directory: str | Path) -> None:
    """Delete the shared features, which only unfinished runs need."""
    _remove(Path(directory), _FEATURES, FILES[_FEATURES])
    with suppress(OSError):  # not empty, or not there
        Path(directory).joinpath(*_FEATURES[:-1]).rmdir()


def _remove(directory: Path, folder: tuple[str, ...], pattern: str) -> None:
    """Delete files whose whole name matches; a folder that is empty then is deleted too.

    Links to folders are not followed, so that nothing outside the directory is reached.
    """
    inside = list(directory.iterdir()) if directory.is_dir() else []
    if folder:
        for path in inside:
            if re.fullmatch(folder[0], path.name) and path.is_dir() and not path.is_symlink():
                _remove(path, folder[1:], pattern)
        return
    matching = [path for path in inside if re.fullmatch(pattern, path.name) and path.is_file()]
    for path in matching:
        path.unlink(missing_ok=True)
    if len(matching) == len(inside) > 0 and re.fullmatch(_CONTENT_NAME, directory.name):
        directory.rmdir()
