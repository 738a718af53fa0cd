"""Any image folder: one sub-folder per class.

`root/train/<class>/*` with `root/test/<class>/*` (or `val`) keeps that split; `root/<class>/*`
is split 80/20 inside each class with seed 0 (:mod:`edgecil.data.split`).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from edgecil.data.decode import SUFFIXES
from edgecil.data.image_files import ImageFiles
from edgecil.data.split import hold_out
from edgecil.errors import DataError, PrerequisiteError
from edgecil.io.arrays import Ints

ADVICE = "give a folder with one sub-folder of images per class, or with such a train and a test"


def list_folder(root: Path) -> ImageFiles:
    """The files of an image folder; classes in the alphabetical order of their sub-folders.

    A sub-folder `train` that itself has sub-folders is a split, not a class.
    """
    if not root.is_dir():
        raise PrerequisiteError(f"There is no directory {root}; {ADVICE}.")
    folders = _folders(root / "train") or _folders(root)
    if not folders:
        raise PrerequisiteError(f"{root} has no sub-folders; {ADVICE}.")
    return list_class_folders(root.resolve().name, root, folders, folders)


def list_class_folders(
    name: str,
    root: Path,
    folders: Sequence[str],
    names: Sequence[str],
    *,
    size: int | None = None,
    channels: int | None = None,
) -> ImageFiles:
    """The files below known class folders, with or without train and test above them.

    Args:
        name: the dataset's name.
        root: where the class folders, or train and test (or val), are.
        folders: N sub-folders, in label order.
        names: N class names.
        size: see :class:`ImageFiles`.
        channels: see :class:`ImageFiles`.
    """
    if _folders(root / "train"):
        train, train_labels = _files(root / "train", folders)
        test, test_labels = _files(_test_part(root, folders), folders)
        paths, labels = train + test, np.concatenate([train_labels, test_labels])
        testing = np.arange(len(paths)) >= len(train)
    else:
        paths, labels = _files(root, folders)
        testing = hold_out(labels)
    return ImageFiles(name, tuple(names), tuple(paths), labels, testing, size, channels)


def _folders(path: Path) -> list[str]:
    if not path.is_dir():
        return []
    return sorted(
        entry.name for entry in path.iterdir() if entry.is_dir() and not entry.name.startswith(".")
    )


def _test_part(root: Path, folders: Sequence[str]) -> Path:
    for part in ("test", "val"):
        if found := _folders(root / part):
            strange = sorted(set(found) - set(folders))
            if strange:
                raise DataError(
                    f"{root / part / strange[0]} has no counterpart in {root / 'train'}; both "
                    "must hold the same classes."
                )
            return root / part
    raise DataError(
        f"{root / 'test'} is missing: {root / 'train'} holds class folders, so the test images "
        f"must be in class folders of {root / 'test'} or {root / 'val'}."
    )


def _files(part: Path, folders: Sequence[str]) -> tuple[list[Path], Ints]:
    """Image files of each class by name, and their labels, shape (n,)."""
    paths: list[Path] = []
    counts = []
    for folder in folders:
        if not (part / folder).is_dir():
            raise DataError(f"The class folder {part / folder} is missing.")
        found = sorted(
            path
            for path in (part / folder).iterdir()
            if path.suffix.lower() in SUFFIXES and not path.name.startswith(".")
        )
        if not found:
            raise DataError(f"The class folder {part / folder} holds no images.")
        paths += found
        counts.append(len(found))
    return paths, np.repeat(np.arange(len(folders), dtype=np.int64), counts)
