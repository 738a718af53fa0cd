"""A folder of images is a dataset given by its path."""

from __future__ import annotations

import os

import pytest
from PIL import Image

from edgecil.data import dataset_classes, load_dataset
from edgecil.errors import DataError, EdgecilWarning, UsageError
from edgecil.similarity import build_similarity
from tests.data.painting import save, write_folder, write_split_folder


def test_images_are_held_out_aloud(tmp_path) -> None:
    write_folder(tmp_path)
    with pytest.warns(EdgecilWarning, match="4.*20.*images") as warned:
        dataset = load_dataset(str(tmp_path))
    assert [part.tolist() for part in dataset.counts()] == [[4] * 4, [1] * 4]
    assert dataset.notes == tuple(str(warning.message) for warning in warned)


@pytest.mark.parametrize(
    ("sizes", "side"),
    [([(7, 9), (12, 8)], 32), ([(70, 90), (100, 80)], 64), ([(300, 300)], 224), ([(50, 60)], None)],
)
def test_images_of_any_size_come_at_a_default_size(tmp_path, sizes, side) -> None:
    for index in range(4):
        for label, name in enumerate("ab"):
            save(tmp_path / "train" / name / f"{index}.png", label, size=sizes[index % len(sizes)])
            save(tmp_path / "test" / name / f"{index}.png", label, size=sizes[index % len(sizes)])
    if side is None:
        assert load_dataset(tmp_path).shape == (3, 60, 50)
    else:
        with pytest.warns(EdgecilWarning, match="'image_size'"):
            assert load_dataset(tmp_path).shape == (3, side, side)
    assert load_dataset(tmp_path, size=8).shape == (3, 8, 8)


def test_names_are_in_any_script_and_images_in_deeper_folders(tmp_path) -> None:
    names = ("cafe\u0301", "\u732b", "\u043a\u043e\u0442", "\u0642\u0637\u0629")
    for label, name in enumerate(names):
        for index in range(3):
            save(tmp_path / "train" / name / "deep" / f"{index}.png", label)
            save(tmp_path / "val" / name / f"{index}.png", label)
    expected = ("caf\u00e9", *sorted(names[1:]))
    assert load_dataset(tmp_path).names == expected
    assert dataset_classes(tmp_path).labels == expected
    assert build_similarity(dataset=str(tmp_path), images="pixels").names == expected


@pytest.mark.skipif(os.name == "nt", reason="names are bytes on POSIX alone")
def test_a_name_that_is_not_unicode_is_no_obstacle(tmp_path) -> None:
    for name in (b"caf\xe9", b"tea"):
        for part in (b"train", b"test"):
            folder = tmp_path / os.fsdecode(part) / os.fsdecode(name)
            try:
                save(folder / "0.png", 0)
            except OSError:
                pytest.skip("this file system takes Unicode names alone")
    dataset = load_dataset(tmp_path)
    assert dataset.names == ("caf\ufffd", "tea")
    assert len(dataset.fingerprint) == 64


def test_a_registered_name_wins_over_a_folder_here(tmp_path, monkeypatch) -> None:
    write_split_folder(tmp_path / "quickdraw")
    write_split_folder(tmp_path / "pets")
    monkeypatch.chdir(tmp_path)
    assert len(load_dataset("quickdraw", count=2)) == 2
    assert load_dataset("quickdraw", count=2).shape == (1, 28, 28)
    assert load_dataset("./quickdraw").shape == (3, 8, 12)
    assert load_dataset("pets").name == "pets"
    with pytest.raises(UsageError, match="does not use 'root'"):
        load_dataset("pets", root=tmp_path)


def test_large_images_are_refused_before_they_are_decoded(tmp_path, monkeypatch) -> None:
    write_split_folder(tmp_path)
    big = tmp_path / "val" / "bee" / "9.png"
    Image.new("1", (12_000, 15_000)).save(big)
    assert big.stat().st_size < 100_000
    with pytest.raises(DataError, match="EDGECIL_MAX_IMAGE_PIXELS"):
        load_dataset(tmp_path, size=8)
    monkeypatch.setenv("EDGECIL_MAX_IMAGE_PIXELS", "1000")
    with pytest.raises(DataError, match="EDGECIL_MAX_IMAGE_PIXELS"):
        load_dataset(tmp_path, size=8)
    big.unlink()
    assert load_dataset(tmp_path, size=8).shape == (3, 8, 8)


def test_postscript_and_pipes_in_place_of_images_are_refused(tmp_path) -> None:
    write_split_folder(tmp_path)
    bad = tmp_path / "val" / "bee" / "9.png"
    bad.write_bytes(b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n%%EndComments\n")
    with pytest.raises(DataError, match="Cannot decode image"):
        load_dataset(tmp_path, size=8)
    bad.unlink()
    os.mkfifo(bad)
    with pytest.raises(DataError, match="pipe"):
        load_dataset(tmp_path, size=8)
