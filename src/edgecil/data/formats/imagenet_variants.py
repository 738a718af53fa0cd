"""ImageNet-R and ImageNet-A: one folder per WordNet id, in the label order of the class list.

Neither comes with a split into training and test images: 80/20 inside each class with seed 0,
unless the copy has train and test folders, as those of the PILOT toolbox have.

References:
    Hendrycks et al., The Many Faces of Robustness (ICCV 2021).
    Hendrycks et al., Natural Adversarial Examples (CVPR 2021).
"""

from __future__ import annotations

from pathlib import Path

from edgecil.data.formats.folder import list_class_folders
from edgecil.data.items import Items, filed_classes, find_home

NAMES = ("imagenet-r", "imagenet-a")
SIZE = 224


def advice(name: str) -> str:
    """Return where to get the images of `imagenet-r` or `imagenet-a`."""
    return (
        f"get {name}.tar from https://people.eecs.berkeley.edu/~hendrycks/{name}.tar "
        "and unpack it there"
    )


def list_imagenet_variant(name: str, root: Path) -> Items:
    """Return the files of `imagenet-r` or `imagenet-a` below `root` or `root/<name>`."""
    names, folders = filed_classes(name)
    split = any((home / "train").is_dir() for home in (root, root / name))
    needed = ("train",) if split else folders
    home = find_home(root, name, needed, advice(name))
    return list_class_folders(name, home, folders, names, size=SIZE, channels=3)
