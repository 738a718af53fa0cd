"""EyePACS (Kaggle Diabetic Retinopathy Detection): fundus photographs with their grade.

The labels of the competition's test images are no part of it. The split of its training images is
80/20 inside each grade with seed 0, and the two eyes of a patient are on the same side.

Reference:
    Cuadros and Bresnick, EyePACS (Journal of Diabetes Science and Technology, 2009).
"""

from __future__ import annotations

from pathlib import Path

from edgecil.data.items import Items, filed_classes, find_home, match_codes, read_columns
from edgecil.data.split import hold_out
from edgecil.errors import DataError

SIZE = 224
ADVICE = (
    "get trainLabels.csv and train/*.jpeg from "
    "https://www.kaggle.com/c/diabetic-retinopathy-detection and unpack them there"
)


def list_eyepacs(root: Path) -> Items:
    """Return the files of EyePACS: `trainLabels.csv` and `train/<image>.jpeg` below `root`."""
    home = find_home(root, "eyepacs", ("trainLabels.csv", "train"), ADVICE)
    table = home / "trainLabels.csv"
    images, levels = zip(*read_columns(table, ("image", "level")), strict=True)
    there = {path.name for path in (home / "train").iterdir()}
    missing = [image for image in images if f"{image}.jpeg" not in there]
    if missing:
        raise DataError(
            f"{home / 'train' / missing[0]}.jpeg is missing, as are {len(missing) - 1} others of "
            f"the {len(images)} images in {table.name}; {ADVICE}."
        )
    names, codes = filed_classes("eyepacs")
    labels = match_codes(table, levels, codes)
    patients = [image.rsplit("_", 1)[0] for image in images]
    return Items(
        "eyepacs",
        names,
        tuple(home / "train" / f"{image}.jpeg" for image in images),
        labels,
        hold_out(labels, patients),
        SIZE,
        channels=3,
    )
