"""Data that is missing, incomplete or damaged is one error that names the file."""

from __future__ import annotations

import pickle
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from edgecil.data import IMAGE_DATASETS, Dataset, dataset_status, load_dataset
from edgecil.errors import DataError, EdgecilError, PrerequisiteError, UsageError
from tests.data.painting import WRITERS, paint, save, write_split_folder

Painted = Callable[[str], Path]


@pytest.fixture
def copy(tmp_path: Path, painted: Painted) -> Callable[[str], Path]:
    """A painted dataset that may be damaged."""
    return lambda name: Path(shutil.copytree(painted(name), tmp_path / "copy"))


pytestmark = pytest.mark.filterwarnings("ignore::edgecil.errors.EdgecilWarning")


def load(name: str, root: Path) -> Dataset:
    return load_dataset(root) if name == "folder" else load_dataset(name, root=root, size=8)


def assert_refused(name: str, root: Path, kind: type[EdgecilError], *words: str) -> None:
    with pytest.raises(kind) as refused:
        load(name, root)
    message = str(refused.value)
    assert message.endswith((".", ")"))
    assert "\n" not in message
    for word in words:
        assert word in message


@pytest.mark.parametrize("name", WRITERS)
def test_a_missing_directory_is_named(name, tmp_path) -> None:
    nowhere = tmp_path / "nowhere"
    assert_refused(name, nowhere, PrerequisiteError, str(nowhere))
    available, reason = (
        dataset_status(nowhere) if name == "folder" else dataset_status(name, nowhere)
    )
    assert not available
    assert str(nowhere) in reason


@pytest.mark.parametrize("name", [name for name in IMAGE_DATASETS if IMAGE_DATASETS[name].advice])
def test_an_empty_directory_and_none_at_all_say_how_to_get_the_images(name, tmp_path) -> None:
    assert_refused(name, tmp_path, PrerequisiteError, str(tmp_path))
    with pytest.raises(PrerequisiteError, match=f"'{name}'.*'root'"):
        load_dataset(name)
    available, reason = dataset_status(name)
    assert not available
    assert "http" in reason


@pytest.mark.parametrize(
    ("name", "lost", "words"),
    [
        ("cifar100", "cifar-100-python/test", ["cifar-100-python/test is missing", "kriz"]),
        ("cub200", "CUB_200_2011/train_test_split.txt", ["train_test_split.txt is missing"]),
        ("cub200", "CUB_200_2011/images", ["images is missing"]),
        ("imagenet-r", "imagenet-r/n01484850", ["imagenet-r/n01484850 is missing", "hendrycks"]),
        ("ham10000", "HAM10000_images_part_2", ["ISIC_00001", "34 others of the 70"]),
        ("eyepacs", "train/0_left.jpeg", ["0_left is missing", "kaggle"]),
        ("eyepacs", "train", ["train is missing"]),
    ],
)
def test_half_a_dataset_is_told_without_opening_an_image(name, lost, words, copy) -> None:
    root = copy(name)
    gone = root / lost
    shutil.rmtree(gone) if gone.is_dir() else gone.unlink()
    assert_refused(name, root, DataError, *words)
    available, reason = dataset_status(name, root)
    assert not available
    assert words[0] in reason


def test_a_listed_image_that_is_not_there_is_named(copy) -> None:
    root = copy("cub200")
    lost = next((root / "CUB_200_2011/images/001.Black_footed_Albatross").iterdir())
    lost.unlink()
    assert_refused("cub200", root, DataError, str(lost))


@pytest.mark.parametrize("damage", ["cut", "noise", "empty"])
@pytest.mark.parametrize("suffix", [".png", ".jpg"])
def test_a_corrupt_image_is_named(tmp_path, damage, suffix) -> None:
    for label in range(2):
        for index in range(4):
            save(tmp_path / f"c{label}" / f"{index}{suffix}", label, size=(64, 64))
    bad = tmp_path / "c1" / f"2{suffix}"
    content = bad.read_bytes()
    bad.write_bytes(
        {"cut": content[: len(content) * 2 // 3], "noise": b"x" * 99, "empty": b""}[damage]
    )
    assert_refused("folder", tmp_path, DataError, f"Cannot decode image {bad}")


def test_an_image_deeper_than_8_bits_is_told(tmp_path) -> None:
    write_split_folder(tmp_path)
    deep = tmp_path / "val" / "bee" / "1.png"
    Image.fromarray(np.zeros((8, 12), dtype=np.uint16)).save(deep)
    assert_refused("folder", tmp_path, DataError, str(deep), "more than 8 bits")


@pytest.mark.parametrize(
    ("lost", "made", "message"),
    [
        ("val", None, "test is missing"),
        ("val/bee", None, "val/bee"),
        ("val/bee", "val/bee", "val/bee"),
        (None, "val/fox", "val/fox"),
        (None, "train/fox", "train/fox"),
    ],
)
def test_class_folders_that_do_not_match_are_told(tmp_path, lost, made, message) -> None:
    write_split_folder(tmp_path)
    if lost:
        shutil.rmtree(tmp_path / lost)
    if made:
        (tmp_path / made).mkdir()
    with pytest.raises(DataError, match=message):
        load_dataset(tmp_path)


def test_a_class_of_one_image_cannot_be_split(tmp_path) -> None:
    save(tmp_path / "a" / "0.png", 0)
    save(tmp_path / "b" / "0.png", 1)
    save(tmp_path / "b" / "1.png", 1)
    assert_refused("folder", tmp_path, DataError, "Class 0 ('a')", "no test inputs")


@pytest.mark.parametrize(
    ("name", "table", "old", "new", "message"),
    [
        ("cub200", "images.txt", " 001.Black", " 201.Black", "'201.Black_footed_Albatross', which"),
        ("cub200", "train_test_split.txt", "1 1\n", "", "list different images"),
        ("cub200", "images.txt", "1 001", "1001", "an image and a value"),
        ("cub200", "images.txt", "Albatross/", "Albatross/../", "not below"),
        ("food101", "train.txt", "apple_pie/", "apple_pie/../", "not below"),
        ("fgvc-aircraft", "images_variant_test.txt", " 707-320", "/../x 707-320", "not below"),
        ("stanford-cars", "cars_train_annos.mat", "00001.jpg", "../01.jpg", "not below"),
        ("stanford-cars", "cars_train_annos.mat", "00001.jpg", "/0001.jpg", "not below"),
        ("ham10000", "HAM10000_metadata.csv", ",nv,", ",wart,", "class 'wart', which is none"),
        ("ham10000", "HAM10000_metadata.csv", "lesion_id", "id", "headed 'lesion_id'"),
        ("ham10000", "HAM10000_metadata.csv", ",nv,", ",,", "has no value for"),
        ("eyepacs", "trainLabels.csv", "0_left,0", "0_left,5", "class '5', which is none"),
        ("eyepacs", "trainLabels.csv", "0_left,0", "0_left", "Row 2 of"),
    ],
)
def test_tables_that_make_no_sense_are_told(name, table, old, new, message, copy) -> None:
    root = copy(name)
    path = next(root.rglob(table))
    content = path.read_bytes()
    assert old.encode() in content
    path.write_bytes(content.replace(old.encode(), new.encode(), 1))
    assert_refused(name, root, DataError, table, message)


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("train", b"\x80\x02}q\x00(X\x04\x00", "Cannot read"),
        ("train", pickle.dumps([1, 2]), "does not hold the arrays"),
        ("train", pickle.dumps({"data": 1}), "'fine_labels'"),
        ("train", pickle.dumps({"data": [1.5] * 7, "fine_labels": [0]}), "n x 3072"),
        ("train", b"cbuiltins\neval\n(S'1'\ntR.", "asks for builtins.eval"),
        ("meta", pickle.dumps({"fine_label_names": ["apple"]}), "100 classes of cifar100"),
    ],
)
def test_a_damaged_or_hostile_pickle_is_refused(tmp_path, file, content, message) -> None:
    WRITERS["cifar100"](tmp_path)
    (tmp_path / "cifar-100-python" / file).write_bytes(content)
    assert_refused("cifar100", tmp_path, DataError, message)


def arrays(**changed: np.ndarray | None) -> dict[str, np.ndarray]:
    labels = np.arange(3)
    content = {f"{kind}_{part}": labels for part in ("train", "test") for kind in "xy"}
    content |= {"x_train": paint(labels), "x_test": paint(labels)}
    return {key: value for key, value in (content | changed).items() if value is not None}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"y_test": None}, "x_train.*y_train.*x_test"),
        ({"x_train": paint(range(3))[0, 0, 0]}, "axes"),
        ({"x_train": paint(range(3))[..., :3]}, "not both"),
        ({"x_train": paint(range(3))[:, :2]}, "not neither"),
        ({"y_train": np.arange(3) / 2}, "integers. Got float64"),
        ({"names": np.array(["a", None, "c"], dtype=object)}, "Cannot read"),
    ],
)
def test_arrays_that_make_no_sense_are_told(tmp_path, changed, message) -> None:
    np.savez(tmp_path / "toy.npz", **arrays(**changed))
    with pytest.raises(DataError, match=message):
        load_dataset(str(tmp_path / "toy.npz"))


def test_a_file_that_is_no_array_file_is_told(tmp_path) -> None:
    path = tmp_path / "toy.npz"
    with pytest.raises(PrerequisiteError, match=r"no file .*toy.npz"):
        load_dataset(str(path))
    assert not dataset_status(str(path))[0]
    path.write_bytes(b"not a zip")
    with pytest.raises(DataError, match=r"not a .npz file"):
        load_dataset(str(path))


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("cifar1000", {}, "'cifar1000'.*'cifar100'"),
        ("quickdraw", {"root": "."}, "'root'"),
        ("quickdraw", {"size": 0}, "1.*0"),
        ("quickdraw", {"count": 101}, r"in \[2, 100\]. Got 101"),
    ],
)
def test_options_that_make_no_sense_are_told(name, options, message) -> None:
    with pytest.raises(UsageError, match=message):
        load_dataset(name, **options)
