"""Tiny datasets in their official layouts, each image painted with its class and its part."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from scipy.io import savemat

from edgecil.classes import get_classes
from edgecil.data import Dataset, Examples
from edgecil.data.formats.cifar import LAYOUTS, CifarLayout
from edgecil.io.arrays import Ints, Pixels

UNKNOWN, TRAIN, TEST = 40, 120, 200


def colour(label: int, part: int = UNKNOWN) -> tuple[int, int, int]:
    """A colour that survives JPEG: red and green say the class, blue the part."""
    return 16 * (label // 16) + 8, 16 * (label % 16) + 8, part


def paint(labels: Iterable[int], part: int = UNKNOWN, side: int = 8) -> Pixels:
    """One image per label, shape (n, 3, side, side)."""
    flat = np.array([colour(label, part) for label in labels], dtype=np.uint8).reshape(-1, 3, 1, 1)
    return np.broadcast_to(flat, (len(flat), 3, side, side)).copy()


def classes_painted(images: Examples) -> Ints:
    """The class that each image was painted with, shape (n,)."""
    red, green, _ = images.inputs.mean(axis=(2, 3)).T // 16
    return (16 * red + green).astype(np.int64)


def parts_painted(images: Examples) -> set[int]:
    """Every part that these images were painted with."""
    blue = images.inputs[:, 2].mean(axis=(1, 2))
    return {part for part in (UNKNOWN, TRAIN, TEST) if np.any(abs(blue - part) < 30)}


def painted_dataset(classes: int = 5, each: int = 3) -> Dataset:
    """A shuffled dataset in memory."""
    rng = np.random.default_rng(0)
    labels = [rng.permutation(np.repeat(np.arange(classes), n)) for n in (2 * each, each)]
    train, test = (
        Examples(paint(part, mark), part.astype(np.int64))
        for part, mark in zip(labels, (TRAIN, TEST), strict=True)
    )
    return Dataset("painted", tuple(f"class {i}" for i in range(classes)), train, test)


def save(path: Path, label: int, part: int = UNKNOWN, size: tuple[int, int] = (12, 8)) -> None:
    """An image file of one colour."""
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", size, colour(label, part)).save(path)


def write_folder(root: Path) -> None:
    for label, name in enumerate(("ant", "Bee", "cat", "train")):
        for index in range(5):
            save(root / name / f"{index}.png", {"Bee": 0, "ant": 1}.get(name, label))


def write_split_folder(root: Path) -> None:
    for label, name in enumerate(("ant", "bee", "cat")):
        for index in range(3):
            save(root / "train" / name / f"{index}.JPEG", label, TRAIN)
            save(root / "val" / name / f"{index}.png", label, TEST)


def python2_pickle(value: dict[str, Any] | list[Any] | str | int | Pixels) -> bytes:
    """What Python 2 and NumPy 1 wrote: text as byte strings, arrays by numpy.core."""
    if isinstance(value, dict):
        pairs = (python2_pickle(key) + python2_pickle(item) for key, item in value.items())
        return b"}(" + b"".join(pairs) + b"u"
    if isinstance(value, list):
        return b"](" + b"".join(python2_pickle(item) for item in value) + b"e"
    if isinstance(value, int):
        return b"J" + struct.pack("<i", value)
    if isinstance(value, str):
        return b"T" + struct.pack("<i", len(value)) + value.encode("latin1")
    empty = b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(K\x00tU\x01btR"
    shape = b"(" + b"".join(python2_pickle(length) for length in value.shape) + b"t"
    dtype = b"cnumpy\ndtype\n(U\x02u1K\x00K\x01tR"
    dtype += b"(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
    content = b"T" + struct.pack("<i", value.nbytes) + value.tobytes()
    return empty + b"(K\x01" + shape + dtype + b"\x89" + content + b"tb"


def write_cifar(layout: CifarLayout, root: Path, marks: tuple[int, int] = (TRAIN, TEST)) -> None:
    home = root / layout.folder
    home.mkdir(parents=True)
    rng = np.random.default_rng(0)
    classes = get_classes(layout.name)
    for files, part, each in ((layout.train, marks[0], 3), (layout.test, marks[1], 2)):
        for file in files:
            labels = rng.permutation(np.repeat(np.arange(len(classes)), each))
            content = {
                "data": paint(labels, part, side=32).reshape(len(labels), 3072),
                layout.labels: labels.tolist(),
                "coarse_labels": [0] * len(labels),
                "filenames": ["x.png"] * len(labels),
            }
            (home / file).write_bytes(b"\x80\x02" + python2_pickle(content) + b".")
    names = {layout.names: list(classes.labels)}
    (home / layout.meta).write_bytes(b"\x80\x02" + python2_pickle(names) + b".")


def write_cub200(root: Path) -> None:
    home = root / "CUB_200_2011"
    images, splits = [], []
    for label, folder in enumerate(get_classes("cub200").folders or ()):
        for index, part in enumerate((TRAIN, TEST, TRAIN)):
            number = len(images) + 1
            save(home / "images" / folder / f"Bird_{index}.jpg", label, part)
            images.append(f"{number} {folder}/Bird_{index}.jpg\n")
            splits.append(f"{number} {int(part == TRAIN)}\n")
    for name, lines in (("images.txt", images), ("train_test_split.txt", splits)):
        (home / name).write_text("".join(lines), encoding="utf-8")


def _write_wnids(name: str) -> Callable[[Path], None]:
    def write(root: Path) -> None:
        for label, folder in enumerate(get_classes(name).folders or ()):
            for index in range(3):
                save(root / name / folder / f"art_{index}.jpg", label)
        (root / name / "README.txt").write_text("not a class")

    return write


def write_ham10000(root: Path) -> None:
    lines = ["lesion_id,image_id,dx,dx_type,age,sex,localization"]
    for label, code in enumerate(get_classes("ham10000").folders or ()):
        for index in range(10):
            image = f"ISIC_{label:03}{index:02}"
            part = root / f"HAM10000_images_part_{1 + index % 2}"
            save(part / f"{image}.jpg", label)
            lines.append(f"HAM_{label}{index // 2},{image},{code},histo,80.0,male,scalp")
    (root / "HAM10000_metadata.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_eyepacs(root: Path) -> None:
    lines = ["image,level"]
    for patient in range(50):
        for eye, level in (("left", patient % 5), ("right", patient % 5)):
            save(root / "train" / f"{patient}_{eye}.jpeg", level)
            lines.append(f"{patient}_{eye},{level}")
    (root / "trainLabels.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_imagenet(name: str, root: Path) -> None:
    for part, mark in (("train", TRAIN), ("val", TEST)):
        for label, wnid in enumerate(get_classes(name).folders or ()):
            save(root / "imagenet" / part / wnid / "a.JPEG", label, mark)
        save(root / "imagenet" / part / "n99999999" / "a.JPEG", 0, mark)


def write_tiny_imagenet(root: Path) -> None:
    home = root / "tiny-imagenet-200"
    wnids = (get_classes("imagenet").folders or ())[100:300]
    lines = []
    for label, wnid in enumerate(wnids):
        save(home / "train" / wnid / "images" / f"{wnid}_0.JPEG", label, TRAIN)
        save(home / "val" / "images" / f"val_{label}.JPEG", label, TEST)
        lines.append(f"val_{label}.JPEG\t{wnid}\t0\t32\t44\t62\n")
    (home / "wnids.txt").write_text("\n".join(reversed(wnids)), encoding="utf-8")
    (home / "val" / "val_annotations.txt").write_text("".join(reversed(lines)), encoding="utf-8")


def write_food101(root: Path) -> None:
    home = root / "food-101"
    (home / "meta").mkdir(parents=True)
    for name, mark in (("train", TRAIN), ("test", TEST)):
        images = []
        for label, folder in enumerate(get_classes("food101").folders or ()):
            images.append(f"{folder}/{mark}{label}")
            save(home / "images" / f"{images[-1]}.jpg", label, mark)
        (home / "meta" / f"{name}.txt").write_text("\n".join(images) + "\n", encoding="utf-8")


def write_aircraft(root: Path) -> None:
    data = root / "fgvc-aircraft-2013b" / "data"
    for name, mark in (("trainval", TRAIN), ("test", TEST)):
        lines = []
        for label, variant in enumerate(get_classes("fgvc-aircraft").labels):
            save(data / "images" / f"{mark}{label:04}.jpg", label, mark)
            lines.append(f"{mark}{label:04} {variant}\n")
        (data / f"images_variant_{name}.txt").write_text("".join(lines), encoding="utf-8")


def write_cars(root: Path) -> None:
    (root / "devkit").mkdir(parents=True)
    for folder, mark, table in (
        ("cars_train", TRAIN, "devkit/cars_train_annos.mat"),
        ("cars_test", TEST, "cars_test_annos_withlabels.mat"),
    ):
        count = len(get_classes("stanford-cars"))
        rows = np.zeros(count, dtype=[("bbox_x1", "O"), ("class", "O"), ("fname", "O")])
        for label in range(count):
            name = f"{label + 1:05}.jpg"
            rows[label] = (1, label + 1, name)
            save(root / folder / name, label, mark)
        savemat(root / table, {"annotations": rows})


WRITERS: dict[str, Callable[[Path], None]] = {
    **{name: partial(write_cifar, layout) for name, layout in LAYOUTS.items()},
    "cub200": write_cub200,
    "imagenet-r": _write_wnids("imagenet-r"),
    "imagenet-a": _write_wnids("imagenet-a"),
    "imagenet100": partial(write_imagenet, "imagenet100"),
    "imagenet100-lucir": partial(write_imagenet, "imagenet100-lucir"),
    "tiny-imagenet": write_tiny_imagenet,
    "food101": write_food101,
    "fgvc-aircraft": write_aircraft,
    "stanford-cars": write_cars,
    "ham10000": write_ham10000,
    "eyepacs": write_eyepacs,
    "folder": write_folder,
}
