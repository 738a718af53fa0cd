"""Food-101, FGVC-Aircraft and Stanford Cars in their official layouts, with their official splits.

References:
    Bossard et al., Food-101: Mining Discriminative Components with Random Forests (ECCV 2014).
    Maji et al., Fine-Grained Visual Classification of Aircraft (2013).
    Krause et al., 3D Object Representations for Fine-Grained Categorization (2013).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from edgecil.classes import get_classes
from edgecil.data.items import Items, filed_classes, find_home, match_codes
from edgecil.errors import DataError
from edgecil.io.arrays import Ints
from edgecil.io.files import check_file, read_text
from edgecil.io.limits import PICKLE

SIZE = 224
FOOD_ADVICE = (
    "get food-101.tar.gz from https://data.vision.ee.ethz.ch/cvl/datasets_extra/food-101/ and "
    "unpack it there"
)
AIRCRAFT_ADVICE = (
    "get fgvc-aircraft-2013b.tar.gz from "
    "https://www.robots.ox.ac.uk/~vgg/data/fgvc-aircraft/ and unpack it there"
)
CARS_ADVICE = (
    "get cars_train, cars_test, devkit and cars_test_annos_withlabels.mat of Stanford Cars "
    "(https://www.kaggle.com/datasets/rickyyyyyyy/torchvision-stanford-cars holds them) and put "
    "them there"
)


def list_food101(root: Path) -> Items:
    """List the files of Food-101: `images/<class>/<id>.jpg`, listed in `meta/{train,test}.txt`."""
    home = find_home(root, "food-101", ("images", "meta"), FOOD_ADVICE)
    names, folders = filed_classes("food101")
    parts = []
    for part in ("train", "test"):
        table = home / "meta" / f"{part}.txt"
        images = read_text(table).split()
        labels = match_codes(table, [image.split("/")[0] for image in images], folders)
        parts.append(([_inside(home / "images", f"{image}.jpg") for image in images], labels))
    return _joined("food101", names, *parts)


def list_aircraft(root: Path) -> Items:
    """Return the files of FGVC-Aircraft, listed in `data/images_variant_{trainval,test}.txt`."""
    home = find_home(root, "fgvc-aircraft-2013b", ("data",), AIRCRAFT_ADVICE) / "data"
    names = get_classes("fgvc-aircraft").labels
    parts = []
    for part in ("trainval", "test"):
        table = home / f"images_variant_{part}.txt"
        rows = [line.split(maxsplit=1) for line in read_text(table).splitlines() if line.strip()]
        if any(len(row) != 2 for row in rows):
            raise DataError(f"Each line of {table} must contain an image id and a variant.")
        labels = match_codes(table, [variant.strip() for _, variant in rows], names)
        parts.append(([_inside(home / "images", f"{image}.jpg") for image, _ in rows], labels))
    return _joined("fgvc-aircraft", names, *parts)


def list_cars(root: Path) -> Items:
    """List the files of Stanford Cars from its devkit and `cars_test_annos_withlabels.mat`."""
    home = find_home(root, "stanford_cars", ("devkit", "cars_train", "cars_test"), CARS_ADVICE)
    names = get_classes("stanford-cars").labels
    labelled = home / "cars_test_annos_withlabels.mat"
    if not labelled.is_file():
        labelled = home / "devkit" / labelled.name
    parts = [
        _read_annotations(
            home / "devkit" / "cars_train_annos.mat", home / "cars_train", len(names)
        ),
        _read_annotations(labelled, home / "cars_test", len(names)),
    ]
    return _joined("stanford-cars", names, *parts)


def _read_annotations(path: Path, folder: Path, classes: int) -> tuple[list[Path], Ints]:
    """Return files and labels (n,) of a MATLAB table with `fname` and `class` (from 1)."""
    from scipy.io import loadmat

    check_file(path, PICKLE)
    try:
        table = loadmat(path, squeeze_me=True)["annotations"]
        images = [str(name) for name in np.atleast_1d(table["fname"])]
        labels = np.array([int(number) for number in np.atleast_1d(table["class"])]) - 1
    except Exception as error:  # a damaged file may raise anything
        raise DataError(f"Cannot read {path}: {error}; {CARS_ADVICE}.") from error
    if len(labels) and not (labels.min() >= 0 and labels.max() < classes):
        raise DataError(f"{path} must contain the classes 1 to {classes}; {CARS_ADVICE}.")
    return [_inside(folder, name) for name in images], labels.astype(np.int64)


def _inside(folder: Path, name: str) -> Path:
    """Return a file below a folder; a name that leads elsewhere is refused."""
    if Path(name).is_absolute() or ".." in Path(name).parts:
        raise DataError(f"{name} is not a file below {folder}; this copy is damaged.")
    return folder / name


def _joined(name: str, names: Sequence[str], *parts: tuple[list[Path], Ints]) -> Items:
    (train, train_labels), (test, test_labels) = parts
    paths = (*train, *test)
    return Items(
        name,
        tuple(names),
        paths,
        np.concatenate([train_labels, test_labels]),
        np.arange(len(paths)) >= len(train),
        SIZE,
        channels=3,
    )
