"""ImageNet-1k and its subsets of 100 classes: `train/<wnid>` and `val/<wnid>`; Tiny-ImageNet.

A subset is read from a copy of all of ImageNet as well; other class folders are ignored. The
validation images are the test images, as usual in class-incremental learning.

References:
    Russakovsky et al., ImageNet Large Scale Visual Recognition Challenge (IJCV 2015).
    Hou et al., Learning a Unified Classifier Incrementally via Rebalancing (CVPR 2019).
    Douillard et al., PODNet (ECCV 2020).
    Le and Yang, Tiny ImageNet Visual Recognition Challenge (2015).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from edgecil.classes import get_classes
from edgecil.data.formats.folder import class_files
from edgecil.data.items import Items, filed_classes, find_home, match_codes
from edgecil.errors import DataError
from edgecil.io.arrays import Ints
from edgecil.io.files import read_text

NAMES = ("imagenet", "imagenet100", "imagenet100-lucir")
SIZE = 224
ADVICE = (
    "get ILSVRC2012 from https://www.image-net.org and put its images in train/<wnid> and "
    "val/<wnid> there"
)
TINY = "tiny-imagenet"
TINY_ADVICE = "get http://cs231n.stanford.edu/tiny-imagenet-200.zip and unpack it there"
_TINY_SIZE = 64
_TINY_CLASSES = 200


def list_imagenet(name: str, root: Path) -> Items:
    """Return the files of ImageNet-1k or one of its subsets below `root`."""
    home = find_home(root, "imagenet", ("train", "val"), ADVICE)
    names, folders = filed_classes(name)
    train, train_labels = class_files(home / "train", folders)
    test, test_labels = class_files(home / "val", folders)
    return _joined(name, names, (train, train_labels), (test, test_labels), SIZE)


def list_tiny_imagenet(root: Path) -> Items:
    """List the files of Tiny-ImageNet below `root`; labels follow the sorted `wnids.txt`.

    The labels of its test images are not public: the validation images are the test images. They
    are in one folder with `val_annotations.txt`, as published, or in class folders.
    """
    home = find_home(root, "tiny-imagenet-200", ("wnids.txt", "train", "val"), TINY_ADVICE)
    wnids = sorted(read_text(home / "wnids.txt").split())
    of_imagenet = get_classes("imagenet")
    label_of = dict(zip(of_imagenet.folders or (), of_imagenet.labels, strict=True))
    if len(set(wnids)) != _TINY_CLASSES or not set(wnids) <= set(label_of):
        raise DataError(
            f"{home / 'wnids.txt'} must list {_TINY_CLASSES} different classes of ImageNet. It "
            f"lists {len(set(wnids))}; {TINY_ADVICE}."
        )
    names = tuple(label_of[wnid] for wnid in wnids)
    train = class_files(home / "train", wnids)
    annotations = home / "val" / "val_annotations.txt"
    if annotations.is_file():
        rows = [line.split("\t") for line in read_text(annotations).splitlines() if line.strip()]
        if any(len(row) < 2 for row in rows):
            raise DataError(f"Each line of {annotations} must contain an image and a class.")
        paths = [home / "val" / "images" / Path(row[0]).name for row in rows]
        test = paths, match_codes(annotations, [row[1] for row in rows], wnids)
    else:
        test = class_files(home / "val", wnids)
    return _joined(TINY, names, train, test, _TINY_SIZE)


def _joined(
    name: str,
    names: tuple[str, ...],
    train: tuple[list[Path], Ints],
    test: tuple[list[Path], Ints],
    size: int,
) -> Items:
    paths = (*train[0], *test[0])
    return Items(
        name,
        names,
        paths,
        np.concatenate([train[1], test[1]]),
        np.arange(len(paths)) >= len(train[0]),
        size,
        channels=3,
    )
