"""CUB-200-2011 in its official layout, with its official split.

Reference:
    Wah et al., The Caltech-UCSD Birds-200-2011 Dataset (2011).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from edgecil.data.items import Items, filed_classes, find_home, match_codes
from edgecil.errors import DataError
from edgecil.io.files import read_text

SIZE = 224
ADVICE = (
    "get CUB_200_2011.tgz from https://www.vision.caltech.edu/datasets/cub_200_2011/ "
    "and unpack it there"
)
_TABLES = ("images.txt", "image_class_labels.txt", "train_test_split.txt")


def list_cub(root: Path) -> Items:
    """Return the files of CUB-200-2011 below `root` or `root/CUB_200_2011`."""
    home = find_home(root, "CUB_200_2011", (*_TABLES, "images"), ADVICE)
    images, class_of, training = (_read_table(home / table) for table in _TABLES)
    for table, rows in zip(_TABLES[1:], (class_of, training), strict=True):
        if rows.keys() != images.keys():
            raise DataError(f"{home / table} and {home / _TABLES[0]} list different images.")
    names, folders = filed_classes("cub200")
    numbers = tuple(str(label + 1) for label in range(len(names)))
    labels = match_codes(home / _TABLES[1], [class_of[image] for image in images], numbers)
    for path, label in zip(images.values(), labels, strict=True):
        if not path.startswith(f"{folders[label]}/"):
            raise DataError(
                f"{home / _TABLES[1]} gives class {label + 1} to {path}, but that class is filed "
                f"under {folders[label]}."
            )
    return Items(
        "cub200",
        names,
        tuple(home / "images" / path for path in images.values()),
        labels,
        np.array([training[image] == "0" for image in images]),
        SIZE,
        channels=3,
    )


def _read_table(path: Path) -> dict[str, str]:
    """Image id to value, in file order."""
    rows = [line.split(maxsplit=1) for line in read_text(path).splitlines() if line.strip()]
    if any(len(row) != 2 for row in rows):
        raise DataError(f"Each line of {path} must contain an image id and a value.")
    return {image: value.strip() for image, value in rows}
