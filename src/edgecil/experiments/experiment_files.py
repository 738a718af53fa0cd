"""The files of an experiment directory: the only ones that edgecil ever deletes from it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from edgecil.experiments.store import DATABASE, Store
from edgecil.io.directory import check_owner, claim, locked

_CONTENT = "[0-9a-f]{32}"
_FEATURES = Path("shared", "features")
_FILES = re.compile(
    rf"{re.escape(DATABASE)}(-wal|-shm|-journal)?|similarity\.npz|progress\.json"
    r"|analyses/[0-9a-f]{16}\.json"
    rf"|states/{_CONTENT}\.pt"
    r"|transcripts/[\w-]+-(hard|easy)\.json"
    rf"|shared/tasks/{_CONTENT}\.(pt|lock)"
    rf"|{_FEATURES.as_posix()}/{_CONTENT}/{_CONTENT}\.npz"
)
# A file that was not complete when its writer was killed; see `io.files.replace_file`.
_TEMPORARY = re.compile(r"\.(.+)\.[a-z0-9_]{8}")


@contextmanager
def writing(directory: str | Path, *, overwrite: bool = False) -> Iterator[Store]:
    """Return the store of an experiment directory, which this process holds exclusively."""
    path = Path(directory)
    check_owner(path, "experiment")
    with locked(path):
        claim(path, "experiment")
        if overwrite:
            clear(path)
        remove_leftovers(path)
        with closing(Store(path)) as store:
            yield store


def clear(directory: str | Path) -> None:
    """Delete what runs and analyses wrote to an experiment directory, and nothing else."""
    for path, _ in _own_files(Path(directory)):
        path.unlink(missing_ok=True)


def remove_leftovers(directory: str | Path) -> None:
    """Delete incomplete files of processes that were killed while they wrote them."""
    for path, is_complete in _own_files(Path(directory)):
        if not is_complete:
            path.unlink(missing_ok=True)


def remove_features(directory: str | Path) -> None:
    """Delete the shared features, which only unfinished runs need, and their folders if empty."""
    for path, _ in list(_own_files(Path(directory))):
        if path.relative_to(directory).is_relative_to(_FEATURES):
            path.unlink(missing_ok=True)
            for folder in path.parents[:2]:
                with suppress(OSError):  # it is not empty
                    folder.rmdir()


def _own_files(directory: Path) -> Iterator[tuple[Path, bool]]:
    """Yield each file that edgecil wrote, and whether it is complete.

    Links to folders are not followed, so that nothing outside the directory is reached.
    """
    for folder, _, names in os.walk(directory):
        for name in names:
            path, temporary = Path(folder, name), _TEMPORARY.fullmatch(name)
            whole = path.with_name(temporary[1]) if temporary else path
            if _FILES.fullmatch(whole.relative_to(directory).as_posix()) and path.is_file():
                yield path, temporary is None
