"""Caltech-101: 100 classes of photographs, bundled as vectors, or the images from a directory.

`caltech101` has the features of a network that was trained on ImageNet (EfficientNet-Lite0), in 256
principal components: 20 images per class for training and up to 20 others for testing. The images
themselves, with the same split, are `caltech101-images`. The background is no class, and neither is
`Faces_easy`, which shows the photographs of `Faces` once more, cut out.

Reference:
    Li, Andreeto, Ranzato, Perona, Caltech 101 (CaltechDATA, 2022), licensed under CC BY 4.0.
    bundled/ATTRIBUTION.txt says how tools/build_caltech101.py made the vectors.
"""

from __future__ import annotations

import io
import lzma
from importlib.resources import files
from pathlib import Path

import numpy as np

from edgecil.classes import get_classes
from edgecil.data.dataset import Dataset, Examples
from edgecil.data.items import Items, filed_classes, find_home
from edgecil.io.arrays import Ints

NAME, IMAGES = "caltech101", "caltech101-images"
TRAIN, TEST = 20, 20
SIZE = 224
ADVICE = (
    "get caltech-101.zip from https://doi.org/10.22002/D1.20086 (CaltechDATA) and unpack it and "
    "the archive 101_ObjectCategories inside it there"
)
_SEED = 0


def read_caltech101(_: Path | None = None) -> Dataset:
    """Return the bundled vectors; needs no directory."""
    packed = (files("edgecil.data") / "bundled" / f"{NAME}.npz.xz").read_bytes()
    with np.load(io.BytesIO(lzma.decompress(packed)), allow_pickle=False) as stored:
        vectors = stored["components"].T.astype(np.float32) * stored["step"]
        tested = stored["tested"]
    labels = np.repeat(np.arange(len(tested)), TRAIN + tested)
    testing = np.concatenate([np.arange(TRAIN + count) >= TRAIN for count in tested])
    train, test = (Examples(vectors[part], labels[part]) for part in (~testing, testing))
    return Dataset(NAME, get_classes(NAME).labels, train, test)


def list_caltech101(root: Path) -> Items:
    """Return the image files below `root` or `root/101_ObjectCategories`, with the same split."""
    names, folders = filed_classes(NAME)
    home = find_home(root, "101_ObjectCategories", folders, ADVICE)
    paths: list[Path] = []
    labels: list[int] = []
    testing: list[bool] = []
    for label, folder in enumerate(folders):
        images = sorted((home / folder).glob("*.jpg"))
        chosen = split_class(label, len(images))
        paths += [images[index] for index in chosen]
        labels += [label] * len(chosen)
        testing += [place >= TRAIN for place in range(len(chosen))]
    return Items(IMAGES, names, tuple(paths), np.array(labels), np.array(testing), SIZE, channels=3)


def split_class(label: int, count: int) -> Ints:
    """Return which of a class's images, in order of their names, are used: training ones first."""
    return np.random.default_rng([_SEED, label]).permutation(count)[: TRAIN + TEST]
