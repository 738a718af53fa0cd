"""HAM10000: skin lesions with their diagnosis.

The official data has no test images with labels; several images show the same lesion. The split
is 80/20 inside each diagnosis with seed 0, and no lesion has images on both sides.

Reference:
    Tschandl, Rosendahl and Kittler, The HAM10000 dataset (Scientific Data, 2018).
"""

from __future__ import annotations

from pathlib import Path

from edgecil.data.decode import SUFFIXES
from edgecil.data.items import Items, filed_classes, match_codes, read_columns
from edgecil.data.split import hold_out
from edgecil.errors import DataError, PrerequisiteError

SIZE = 224
ADVICE = (
    "get HAM10000_metadata and the two parts of the images from "
    "https://doi.org/10.7910/DVN/DBW86T and unpack them there"
)
_TABLES = ("HAM10000_metadata.csv", "HAM10000_metadata.tab", "HAM10000_metadata")


def list_ham10000(root: Path) -> Items:
    """List the files of HAM10000: the metadata in `root`, the images there or one folder below."""
    table = next((root / name for name in _TABLES if (root / name).is_file()), None)
    if table is None:
        raise PrerequisiteError(f"There is no {root / _TABLES[0]} (or .tab); {ADVICE}.")
    rows = read_columns(table, ("image_id", "dx", "lesion_id"))
    images, diagnoses, lesions = zip(*rows, strict=True)
    there = _index(root)
    missing = [image for image in images if image not in there]
    if missing:
        raise DataError(
            f"{missing[0]}.jpg is neither in {root} nor in a folder of it, nor are "
            f"{len(missing) - 1} others of the {len(images)} images in {table.name}; {ADVICE}."
        )
    names, codes = filed_classes("ham10000")
    labels = match_codes(table, diagnoses, codes)
    return Items(
        "ham10000",
        names,
        tuple(there[image] for image in images),
        labels,
        hold_out(labels, lesions),
        SIZE,
        channels=3,
    )


def _index(root: Path) -> dict[str, Path]:
    """Image id to file, over `root` and the folders in it."""
    folders = [root, *sorted(entry for entry in root.iterdir() if entry.is_dir())]
    return {
        path.stem: path
        for folder in folders
        for path in folder.iterdir()
        if path.suffix.lower() in SUFFIXES
    }
