"""DomainNet as published, and the ObjectNet, OmniBenchmark and VTAB that PILOT distributes.

The class names of these are read from the copy: DomainNet's lists give a label to every image,
and the folders of the others are the classes, in alphabetical order.

References:
    Peng et al., Moment Matching for Multi-Source Domain Adaptation (ICCV 2019).
    Barbu et al., ObjectNet (NeurIPS 2019).
    Zhang et al., Benchmarking Omni-Vision Representation through the Lens of Visual Realms (2022).
    Zhai et al., A Large-scale Study of Representation Learning with the Visual Task Adaptation
    Benchmark (2019).
    Zhou et al., Revisiting Class-Incremental Learning with Pre-Trained Models (IJCV 2024), for the
    200, 300 and 50 classes.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from edgecil.data.formats.folder import list_folder
from edgecil.data.items import Items, find_home
from edgecil.errors import DataError, PrerequisiteError
from edgecil.io.files import read_text

SIZE = 224
DOMAINS = ("clipart", "infograph", "painting", "quickdraw", "real", "sketch")
DOMAINNET_CLASSES = 345
DOMAINNET_ADVICE = (
    "get the images and the lists of one or more domains, such as real.zip, real_train.txt and "
    "real_test.txt, from http://ai.bu.edu/M3SDA/ and unpack them there"
)
# Number of classes, and folders of PILOT's archive that hold train and test.
SUBSETS = {
    "objectnet": (200, "objectnet"),
    "omnibenchmark": (300, "omnibenchmark"),
    "vtab": (50, "vtab-cil/vtab"),
}


def subset_advice(name: str) -> str:
    """Return where to get the images of `objectnet`, `omnibenchmark` or `vtab`."""
    return (
        f"get the copy of {name} with train and test folders that "
        "https://github.com/LAMDA-CL/LAMDA-PILOT links to, and unpack it there"
    )


def list_subset(name: str, root: Path) -> Items:
    """List the files of `objectnet`, `omnibenchmark` or `vtab`: `train/<class>`, `test/<class>`."""
    classes, inner = SUBSETS[name]
    home = root / inner
    if not (home / "train").is_dir():
        home = find_home(root, name, ("train", "test"), subset_advice(name))
    files = list_folder(home)
    if len(files.names) != classes:
        raise DataError(
            f"{home / 'train'} must have {classes} class folders. Got {len(files.names)}; "
            f"{subset_advice(name)}."
        )
    return replace(files, name=name, size=SIZE, channels=3)


def list_domainnet(root: Path) -> Items:
    """List the files of all domains in a copy of DomainNet, with the official split and labels."""
    homes = (root, root / "domainnet", root / "DomainNet")
    home = next((home for home in homes if _domains(home)), None)
    if home is None:
        raise PrerequisiteError(
            f"There is no list such as real_train.txt in {root}; {DOMAINNET_ADVICE}."
        )
    names: dict[int, str] = {}
    paths: list[Path] = []
    labels: list[int] = []
    testing: list[bool] = []
    for domain in _domains(home):
        for part in ("train", "test"):
            table = home / f"{domain}_{part}.txt"
            for line in read_text(table).splitlines():
                image, _, number = line.strip().rpartition(" ")
                where = Path(image).parts
                if not number.isdecimal() or len(where) != 3 or ".." in where or where[0] == "/":
                    raise DataError(
                        f"Each line of {table} must contain domain/class/image and a label. Got "
                        f"{line!r}."
                    )
                if names.setdefault(int(number), where[1]) != where[1]:
                    raise DataError(
                        f"{table} gives label {number} to {where[1]!r}, which is the label of "
                        f"{names[int(number)]!r}."
                    )
                paths.append(home / image)
                labels.append(int(number))
                testing.append(part == "test")
    if sorted(names) != list(range(DOMAINNET_CLASSES)):
        raise DataError(
            f"The lists in {home} must have the labels 0 to {DOMAINNET_CLASSES - 1}. Got "
            f"{len(names)} labels; {DOMAINNET_ADVICE}."
        )
    absent = [domain for domain in DOMAINS if domain not in _domains(home)]
    note = f"DomainNet is used without the domains {', '.join(absent)}, which are not in {home}."
    return Items(
        "domainnet",
        tuple(names[label] for label in range(DOMAINNET_CLASSES)),
        tuple(paths),
        np.array(labels, dtype=np.int64),
        np.array(testing),
        SIZE,
        channels=3,
        notes=(note,) if absent else (),
    )


def _domains(home: Path) -> list[str]:
    """Return the domains with both lists."""
    return [
        domain
        for domain in DOMAINS
        if all((home / f"{domain}_{part}.txt").is_file() for part in ("train", "test"))
    ]
