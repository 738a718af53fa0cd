"""Every format on tiny files in its official layout, painted so that mistakes are visible."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from edgecil.classes import get_classes
from edgecil.data import Dataset, dataset_status, load_dataset
from edgecil.data.load import IMAGE_DATASETS
from tests.data.painting import (
    TEST,
    TRAIN,
    UNKNOWN,
    WRITERS,
    classes_painted,
    paint,
    parts_painted,
    save,
    write_ham10000,
    write_split_folder,
)

Painted = Callable[[str], Path]
ARCHIVED = ("cifar10", "cifar100", "cub200")
OFFICIAL = (
    *ARCHIVED, "imagenet100", "imagenet100-lucir", "tiny-imagenet", "food101", "fgvc-aircraft",
    "stanford-cars",
)  # fmt: skip
pytestmark = pytest.mark.filterwarnings("ignore::edgecil.errors.EdgecilWarning")


def load(name: str, root: Path, **options: Any) -> Dataset:
    if name == "folder":
        return load_dataset(root, **options)
    return load_dataset(name, root=root, **options)


def assert_painted(dataset: Dataset, ids: np.ndarray) -> None:
    for part in (dataset.train, dataset.test):
        assert np.array_equal(classes_painted(part), ids[part.labels])
    assert dataset.train.inputs.flags.c_contiguous


@pytest.mark.parametrize("name", WRITERS)
def test_every_image_keeps_its_class(name: str, painted: Painted) -> None:
    root = painted(name)
    status = dataset_status(root) if name == "folder" else dataset_status(name, root)
    assert status == (True, f"In {root}.")
    dataset = load(name, root, size=8)
    assert dataset.shape == (3, 8, 8)
    assert_painted(dataset, np.arange(len(dataset)))
    if name == "folder":
        assert dataset.names == ("Bee", "ant", "cat", "train")
        assert dataset.name == root.name
    else:
        if name != "tiny-imagenet":
            assert dataset.names == get_classes(name).labels
        assert dataset.name == name
    parts = ({TRAIN}, {TEST}) if name in OFFICIAL else ({UNKNOWN}, {UNKNOWN})
    assert (parts_painted(dataset.train), parts_painted(dataset.test)) == parts


@pytest.mark.parametrize("name", WRITERS)
def test_chosen_classes_are_relabelled_and_split_as_before(name: str, painted: Painted) -> None:
    root = painted(name)
    whole = load(name, root, size=8)
    chosen = load(name, root, size=8, ids=[3, 0, 2])
    assert_painted(chosen, np.array([3, 0, 2]))
    assert chosen.names == tuple(whole.names[index] for index in (3, 0, 2))
    assert chosen.fingerprint == whole.take([3, 0, 2]).fingerprint
    assert_painted(load(name, root, size=8, count=2), np.arange(2))
    drawn = np.sort(np.random.default_rng(42).permutation(len(whole))[:3])
    assert_painted(load(name, root, size=8, count=3, seed=42), drawn)


@pytest.mark.parametrize("name", [name for name in WRITERS if name != "folder"])
def test_photographs_come_at_224_and_cifar_at_32(name: str, painted: Painted) -> None:
    side = 32 if name.startswith("cifar") else 64 if name == "tiny-imagenet" else 224
    dataset = load(name, painted(name), count=2)
    assert dataset.shape == (3, side, side)
    assert_painted(dataset, np.arange(2))


@pytest.mark.parametrize("name", [*ARCHIVED, "imagenet-r", "imagenet-a"])
def test_the_archives_own_folder_may_be_the_root(name: str, painted: Painted) -> None:
    (inner,) = painted(name).iterdir()
    dataset = load_dataset(name, root=str(inner), count=2, size=8)
    assert_painted(dataset, np.arange(2))


def test_a_folder_that_is_split_stays_split(tmp_path: Path) -> None:
    write_split_folder(tmp_path)
    (tmp_path / "train" / "ant" / "notes.txt").write_text("not an image")
    (tmp_path / "train" / "ant" / "._0.png").write_text("not an image")
    (tmp_path / "train").rename(tmp_path / "Training")
    (tmp_path / "__MACOSX").mkdir()
    dataset = load_dataset(tmp_path)
    assert dataset.notes == ()
    assert dataset.shape == (3, 8, 12)
    assert_painted(dataset, np.arange(3))
    assert parts_painted(dataset.train) == {TRAIN}
    assert parts_painted(dataset.test) == {TEST}


@pytest.mark.parametrize(
    ("name", "inner"),
    [("imagenet-a", "imagenet-a"), ("imagenet-r", "imagenet-r"), ("cub200", "cub")],
)
def test_the_split_of_the_pilot_toolbox_is_kept(tmp_path: Path, name: str, inner: str) -> None:
    for label, folder in enumerate(get_classes(name).folders or ()):
        save(tmp_path / inner / "train" / folder / "0.jpg", label, TRAIN)
        save(tmp_path / inner / "test" / folder / "1.jpg", label, TEST)
    dataset = load_dataset(name, root=tmp_path, size=8)
    assert_painted(dataset, np.arange(200))
    assert parts_painted(dataset.test) == {TEST}


def test_a_folder_of_grey_images_stays_grey(tmp_path: Path) -> None:
    for label, name in enumerate(("a", "b")):
        for index in range(2):
            (tmp_path / name).mkdir(exist_ok=True)
            Image.new("L", (5, 6), 100 * label).save(tmp_path / name / f"{index}.png")
    grey = load_dataset(tmp_path)
    assert grey.shape == (1, 6, 5)
    assert np.array_equal(grey.train.inputs[:, 0, 0, 0], 100 * grey.train.labels)
    Image.new("RGB", (5, 6), (1, 2, 3)).save(tmp_path / "b" / "1.png")
    coloured = load_dataset(tmp_path)
    assert coloured.shape == (3, 6, 5)
    assert np.array_equal(np.unique(coloured.train.inputs[coloured.train.labels == 0]), [0])


def test_no_lesion_is_on_both_sides(painted: Painted) -> None:
    files = IMAGE_DATASETS["ham10000"].open(painted("ham10000"))
    lesion = np.array([f"{path.stem[:8]}{int(path.stem[-2:]) // 2}" for path in files.items])
    assert np.bincount(files.labels[files.testing]).tolist() == [2] * 7
    assert not set(lesion[files.testing]) & set(lesion[~files.testing])


def test_ham10000_may_be_tabbed_and_in_one_folder(tmp_path: Path, painted: Painted) -> None:
    write_ham10000(tmp_path)
    table = tmp_path / "HAM10000_metadata.csv"
    (tmp_path / "HAM10000_metadata.tab").write_text(
        table.read_text(encoding="utf-8").replace(",", "\t"), encoding="utf-8"
    )
    table.unlink()
    one = tmp_path / "images"
    one.mkdir()
    for path in sorted(tmp_path.glob("HAM10000_images_part_*/*.jpg")):
        path.rename(one / path.name)
    parts = load_dataset("ham10000", root=painted("ham10000"), size=8)
    assert load_dataset("ham10000", root=tmp_path, size=8).fingerprint == parts.fingerprint


def test_both_eyes_of_a_patient_are_on_one_side(painted: Painted) -> None:
    files = IMAGE_DATASETS["eyepacs"].open(painted("eyepacs"))
    patients = np.array([path.stem.split("_")[0] for path in files.items])
    assert files.testing.sum() == 20
    assert not set(patients[files.testing]) & set(patients[~files.testing])


@pytest.mark.parametrize("layout", ["NCHW", "NHWC", "NHW"])
@pytest.mark.parametrize("column", [False, True])
def test_arrays_are_read_in_any_layout(tmp_path: Path, layout: str, column: bool) -> None:
    rng = np.random.default_rng(0)
    train, test = (rng.permutation(np.repeat(np.arange(4, dtype=np.uint8), n)) for n in (5, 2))
    turn = {
        "NCHW": lambda pixels: pixels,
        "NHWC": lambda pixels: pixels.transpose(0, 2, 3, 1),
        "NHW": lambda pixels: pixels[:, 1],
    }[layout]
    np.savez(
        tmp_path / "toy.npz",
        x_train=turn(paint(train, TRAIN)[..., :7]),
        y_train=train[:, None] if column else train,
        x_test=turn(paint(test, TEST)[..., :7]),
        y_test=test[:, None] if column else test,
        names=np.array(["n0", "n1", "n2", "n3"]),
    )
    dataset = load_dataset(str(tmp_path / "toy.npz"), ids=[2, 1])
    assert dataset.name == "toy"
    assert dataset.names == ("n2", "n1")
    assert dataset.shape == (1 if layout == "NHW" else 3, 8, 7)
    green = dataset.train.inputs[:, 0 if layout == "NHW" else 1, 0, 0] // 16
    assert np.array_equal(green, np.array([2, 1])[dataset.train.labels])
    assert dataset.counts()[1].tolist() == [2, 2]
