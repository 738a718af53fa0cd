"""What in a dataset makes accuracy look better or surer than it is."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st
from PIL import Image

from edgecil.data import integrity
from edgecil.data.dataset import Dataset, Examples
from edgecil.data.integrity import (
    Integrity,
    doubts_about,
    group_files,
    group_inputs,
    inspect_dataset,
    inspect_files,
)
from edgecil.data.load import load_dataset, open_dataset
from edgecil.errors import DataError
from edgecil.io.arrays import Inputs, Ints
from tests.toys import toy_dataset

NAMES = ("a", "b", "c")


def dataset_of(train: Inputs, train_labels: Ints, test: Inputs, test_labels: Ints) -> Dataset:
    return Dataset("mine", NAMES, Examples(train, train_labels), Examples(test, test_labels))


def images(generator: np.random.Generator, each: int) -> tuple[Inputs, Ints]:
    labels = np.repeat(np.arange(3), each)
    return generator.integers(0, 256, (len(labels), 1, 5, 5), dtype=np.uint8), labels


@pytest.fixture
def clean() -> tuple[Inputs, Ints, Inputs, Ints]:
    generator = np.random.default_rng(0)
    return *images(generator, 10), *images(generator, 6)


def test_a_clean_dataset_has_no_doubts(clean: tuple[Inputs, Ints, Inputs, Ints]) -> None:
    assert inspect_dataset(dataset_of(*clean)) == Integrity("mine", 18)
    assert doubts_about(inspect_dataset(dataset_of(*clean)), None) == ()


def test_test_inputs_in_training_are_counted(clean: tuple[Inputs, Ints, Inputs, Ints]) -> None:
    train, _, test, _ = clean
    test[:4] = train[:4]
    found = inspect_dataset(dataset_of(*clean))
    assert (found.leaked, found.is_same, found.ambiguous, found.is_refused) == (4, False, 0, False)
    assert doubts_about(found, None) == ("4 of 18 test inputs of mine occur in training.",)
    test[:9] = train[0]
    found = inspect_dataset(dataset_of(*clean))
    assert (found.leaked, found.ambiguous) == (9, 1), "an input may occur several times"
    with pytest.raises(DataError, match=r"9 of 18 .*'allow_leak'"):
        doubts_about(found, None)
    with pytest.raises(DataError, match="allow_leak"):
        doubts_about(found, " ")
    assert doubts_about(found, "a demo")[1] == "That was allowed for this reason: a demo."


def test_training_and_test_may_not_be_the_same(clean: tuple[Inputs, Ints, Inputs, Ints]) -> None:
    train, train_labels, _, _ = clean
    found = inspect_dataset(dataset_of(train, train_labels, train[::-1].copy(), train_labels[::-1]))
    assert found.is_same
    with pytest.raises(DataError, match="inputs of mine are the same"):
        doubts_about(found, None)


def test_inputs_with_two_labels_equal_classes_and_few_tests_are_noted(
    clean: tuple[Inputs, Ints, Inputs, Ints],
) -> None:
    train, train_labels, test, test_labels = clean
    train[10:20] = train[9::-1]  # class b has the images of class a, in another order
    found = inspect_dataset(dataset_of(train, train_labels, test, test_labels))
    assert (found.ambiguous, found.equal_classes) == (10, ("a = b",))
    few = dataset_of(train, train_labels, test[::2][:7], np.array([0, 0, 0, 0, 0, 1, 2]))
    assert inspect_dataset(few).small_classes == ("b", "c")
    assert "2 classes of mine have fewer than 5 test inputs (b, c)" in " ".join(
        inspect_dataset(few).sentences()
    )


@given(st.lists(st.integers(0, 3), min_size=2, max_size=30), st.integers(1, 29), st.booleans())
def test_groups_are_those_of_equal_bytes(kinds: list[int], split: int, vectors: bool) -> None:
    generator = np.random.default_rng(1)
    distinct = generator.integers(0, 256, (4, 1, 3, 3), dtype=np.uint8)
    inputs = distinct[kinds]
    if vectors:
        inputs = inputs.reshape(len(inputs), -1).astype(np.float32)
    groups = group_inputs((inputs[:split], inputs[split:]))
    assert [list(groups).index(group) for group in groups] == [kinds.index(kind) for kind in kinds]


def test_different_inputs_with_one_sum_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(integrity, "_sum_words", lambda part: np.zeros(len(part), np.uint64))
    inputs = np.array([[1.0], [2.0], [1.0], [3.0]], dtype=np.float32)
    groups = group_inputs((inputs[:2], inputs[2:]))
    assert Counter(groups.tolist()) == {groups[0]: 2, groups[1]: 1, groups[3]: 1}
    assert groups[0] == groups[2]


def test_many_images_are_compared_exactly() -> None:
    generator = np.random.default_rng(0)
    inputs = generator.integers(0, 256, (6_000, 3, 8, 8), dtype=np.uint8)
    inputs[5_000:] = inputs[:1_000]
    inputs[5_999, 2, 7, 7] ^= 1  # one bit
    groups = group_inputs((inputs[:5_000], inputs[5_000:]))
    assert np.array_equal(groups[5_000:5_999], groups[:999])
    assert len(np.unique(groups)) == 5_001


def test_the_content_is_inspected_once(monkeypatch: pytest.MonkeyPatch) -> None:
    first = inspect_dataset(toy_dataset(4))
    monkeypatch.setattr(integrity, "group_inputs", lambda parts: pytest.fail("again"))
    assert inspect_dataset(toy_dataset(4)) is first


def test_a_folder_is_compared_by_its_files(tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    for part, count in (("train", 6), ("test", 5)):
        for name in NAMES:
            folder = tmp_path / part / name
            folder.mkdir(parents=True)
            for number in range(count):
                pixels = generator.integers(0, 256, (8, 8), dtype=np.uint8)
                Image.fromarray(pixels).save(folder / f"{number}.png")
    copies = [tmp_path / "train" / "a" / f"{number}.png" for number in range(2)]
    for number, copy in enumerate(copies):
        (tmp_path / "test" / "b" / f"{number}.png").write_bytes(copy.read_bytes())
    items = open_dataset(tmp_path)
    assert not isinstance(items, Dataset)
    found = inspect_files(items, np.arange(3))
    assert found == Integrity(tmp_path.name, 15, leaked=2, ambiguous=2)
    assert inspect_files(items, np.array([1, 2])) == Integrity(tmp_path.name, 10)
    assert inspect_dataset(load_dataset(tmp_path)) == found, "as the decoded images say"
    assert len(set(group_files([*copies, tmp_path / "test" / "b" / "0.png"]))) == 2


def test_bundled_data_are_clean() -> None:
    for name in ("quickdraw", "caltech101"):
        assert inspect_dataset(load_dataset(name)).sentences() == []
