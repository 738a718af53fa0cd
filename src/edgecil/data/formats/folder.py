"""Any folder of images: one sub-folder per class.

`root/train/<class>/*` with `root/test/<class>/*` (or `val`) keeps that split; `root/<class>/*`
is split 80/20 inside each class with seed 0 (:mod:`edgecil.data.split`). Images may be in folders
below a class folder.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from edgecil.data.decode import SUFFIXES
from edgecil.data.items import Items
from edgecil.data.split import held_out_note, hold_out
from edgecil.errors import DataError, PrerequisiteError
from edgecil.io.arrays import Ints

_ADVICE = (
    "give a folder with one sub-folder of images per class, or with train/ and test/ folders of "
    "that form"
)
TRAIN = ("train", "training")
TEST = ("test", "testing", "val", "valid", "validation")

_IGNORED = ("__MACOSX",)


def list_folder(root: Path) -> Items:
    """Return the files of an image folder, with classes in alphabetical order of sub-folders.

    A sub-folder `train` that itself has sub-folders is a split, not a class.
    """
    if not root.is_dir():
        raise PrerequisiteError(f"There is no directory {root}; {_ADVICE}.")
    train = _part(root, TRAIN)
    folders = _folders(root if train is None else train)
    if not folders:
        raise PrerequisiteError(f"{root} has no sub-folders; {_ADVICE}.")
    names = [class_name(folder) for folder in folders]
    files = list_class_folders(class_name(root.resolve().name), root, folders, names)
    if train is not None:
        return files
    note = held_out_note(f"{root} has no train and test folders", files.testing, "images")
    return replace(files, notes=(note,))


def list_class_folders(
    name: str, root: Path, folders: Sequence[str], names: Sequence[str]
) -> Items:
    """Return the files below some class folders, with or without train and test above them."""
    training = _part(root, TRAIN)
    if training is not None:
        test_folder = _part(root, TEST)
        if test_folder is None:
            raise DataError(
                f"{root / 'test'} is missing: {training} has class folders, so the test images "
                f"must be in class folders of {root / 'test'} or {root / 'val'}."
            )
        extra = sorted(set(_folders(test_folder)) - set(folders))
        if extra:
            raise DataError(
                f"{test_folder / extra[0]} has no counterpart in {training}; both must have the "
                "same classes."
            )
        train, train_labels = class_files(training, folders)
        test, test_labels = class_files(test_folder, folders)
        paths = train + test
        labels = np.concatenate([train_labels, test_labels])
        testing = np.arange(len(paths)) >= len(train)
    else:
        paths, labels = class_files(root, folders)
        testing = hold_out(labels)
    return Items(name, tuple(names), tuple(paths), labels, testing)


def class_name(folder: str) -> str:
    r"""Return the name of a class folder as text: composed characters, no undecodable bytes.

    >>> class_name("cafe\u0301") == "caf\u00e9"
    True
    """
    return unicodedata.normalize("NFC", os.fsencode(folder).decode("utf-8", "replace"))


def _part(root: Path, names: Sequence[str]) -> Path | None:
    """Find the first folder of one of these names that has class folders; case does not matter."""
    folder_of_name = {folder.lower(): folder for folder in reversed(_folders(root))}
    for name in names:
        if name in folder_of_name and _folders(root / folder_of_name[name]):
            return root / folder_of_name[name]
    return None


def _folders(path: Path) -> list[str]:
    if not path.is_dir():
        return []
    return sorted(
        entry.name
        for entry in path.iterdir()
        if entry.is_dir() and not entry.name.startswith(".") and entry.name not in _IGNORED
    )


def class_files(part: Path, folders: Sequence[str]) -> tuple[list[Path], Ints]:
    """Return the image files of each class by name, and their labels, shape (n,)."""
    paths: list[Path] = []
    counts = []
    for folder in folders:
        if not (part / folder).is_dir():
            raise DataError(f"The class folder {part / folder} is missing.")
        images = _image_paths(part / folder)
        if not images:
            raise DataError(
                f"The class folder {part / folder} contains no images ({', '.join(SUFFIXES)})."
            )
        paths += images
        counts.append(len(images))
    return paths, np.repeat(np.arange(len(folders), dtype=np.int64), counts)


def _image_paths(folder: Path) -> list[Path]:
    """Return the image files in a folder and below it, sorted, without hidden ones."""
    paths = []
    for directory, inner, files in os.walk(folder):
        inner[:] = [name for name in inner if not name.startswith(".")]
        paths += [
            Path(directory, name)
            for name in files
            if not name.startswith(".") and Path(name).suffix.lower() in SUFFIXES
        ]
    return sorted(paths)
