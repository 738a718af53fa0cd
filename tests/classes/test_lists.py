from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from edgecil.classes import (
    ClassList,
    dataset_names,
    get_classes,
    read_classes,
    register_classes,
    select_classes,
    words_of,
)
from edgecil.classes.lists import BUNDLED
from edgecil.errors import DataError, UsageError

COUNTS = {
    "cifar10": 10, "cifar100": 100, "cub200": 200, "caltech101": 100, "imagenet": 1000,
    "imagenet100": 100, "imagenet100-lucir": 100, "food101": 101, "fgvc-aircraft": 100,
    "stanford-cars": 196, "ham10000-paper": 7, "eyepacs-paper": 5, "imagenet-r": 200,
    "imagenet-a": 200, "ham10000": 7, "eyepacs": 5, "quickdraw": 100, "quickdraw-pretrain": 245,
    "quickdraw-all": 345,
}  # fmt: skip


@pytest.mark.parametrize(
    ("label", "words"),
    [
        ("aquarium_fish", "aquarium fish"),
        ("goldfish, Carassius auratus", "goldfish"),
        ("001.Black_footed_Albatross", "Black footed Albatross"),
        ("jack-o\u2019-lantern", "jack-o'-lantern"),
        ("Chuck\u02bcs_will\u00b4s widow", "Chuck's will's widow"),
        ("  two   blanks ", "two blanks"),
        ("100.", "100."),
        ("3.14", "3.14"),
        (",odd", ",odd"),
    ],
)
def test_labels_become_words(label: str, words: str) -> None:
    assert words_of(label) == words


@given(st.text(min_size=1).filter(str.strip))
def test_words_are_words_already(label: str) -> None:
    once = words_of(label)
    assert once == " ".join(once.split())
    assert "_" not in once


def test_classes_that_would_read_the_same_keep_what_tells_them_apart() -> None:
    classes = ClassList("x", ("crane, bird", "crane, machine", "dog, hound"))
    assert classes.words == ("crane, bird", "crane, machine", "dog")
    assert ClassList("pets", ("cat_one", "cat one", "dog")).words == ("cat_one", "cat one", "dog")


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ((), "'pets' is empty"),
        (("cat", " "), r"blank name at label 1 \(' '\)"),
        (("cat", 3), r"blank name at label 1 \(3\)"),
        (("cat", "dog", "cat"), "'cat'.*1"),
        ("cat", "list of names"),
    ],
)
def test_a_bad_list_is_told(labels: tuple[str, ...], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        ClassList("pets", labels)


@pytest.mark.parametrize("name", BUNDLED)
def test_every_bundled_list_is_whole(name: str) -> None:
    classes = get_classes(name)
    assert (classes.name, len(classes)) == (name, COUNTS[name])
    assert len(set(classes.words)) == len(classes)
    assert all(words == " ".join(words.split()) for words in classes.words)


@pytest.mark.parametrize(
    ("name", "first", "last"),
    [
        ("cifar10", "airplane", "truck"),
        ("cifar100", "apple", "worm"),
        ("cub200", "Black footed Albatross", "Common Yellowthroat"),
        ("caltech101", "Faces", "yin yang"),
        ("imagenet-r", "goldfish", "acorn"),
        ("imagenet-1k", "tench", "toilet tissue"),
        ("food101", "apple pie", "waffles"),
        ("FGVC Aircraft", "707-320", "Yak-42"),
        ("stanford-cars", "AM General Hummer SUV 2000", "smart fortwo Convertible 2012"),
        ("eyepacs-paper", "no", "proliferative"),
        ("ham10000-paper", "Actinic keratosis", "Vascular lesion"),
        ("ham10000", "Actinic keratosis", "Vascular lesion"),
        ("eyepacs", "No diabetic retinopathy", "Proliferative diabetic retinopathy"),
    ],
)
def test_label_orders_are_the_official_ones(name: str, first: str, last: str) -> None:
    words = get_classes(name).words
    assert (words[0], words[-1]) == (first, last)


@pytest.mark.parametrize(
    "name", ["imagenet", "imagenet100", "imagenet100-lucir", "imagenet-r", "imagenet-a"]
)
def test_imagenet_labels_are_in_sorted_wnid_order(name: str) -> None:
    folders = get_classes(name).folders
    assert list(folders) == sorted(folders)


def test_the_two_lists_of_100_are_those_of_podnet_and_lucir() -> None:
    wnids = get_classes("imagenet").folders
    assert get_classes("imagenet100-podnet").folders == wnids[:100]
    drawn = np.random.RandomState(1993).choice(wnids, 100, replace=False)
    assert get_classes("imagenet100-lucir").folders == tuple(sorted(drawn))


def test_imagenet_names_a_class_as_its_variants_do() -> None:
    whole = get_classes("imagenet")
    label_of = dict(zip(whole.folders or (), whole.labels, strict=True))
    for name in ("imagenet-r", "imagenet-a"):
        classes = get_classes(name)
        assert [label_of[wnid] for wnid in classes.folders or ()] == list(classes.labels)


def test_quickdraw_is_split_into_100_and_245() -> None:
    evaluated, others, everything = (
        get_classes(name).labels for name in ("quickdraw", "quickdraw-pretrain", "quickdraw-all")
    )
    assert not set(evaluated) & set(others)
    assert set(evaluated) | set(others) == set(everything)
    for labels in (evaluated, others, everything):
        assert list(labels) == sorted(labels, key=str.lower)


@pytest.mark.parametrize("name", ["CIFAR-100", "cifar_100", "cifar", "Cifar224"])
def test_spelling_of_a_name_does_not_matter(name: str) -> None:
    assert get_classes(name) is get_classes("cifar100")


def test_an_unknown_name_comes_with_the_nearest_ones() -> None:
    with pytest.raises(UsageError, match="Did you mean 'cub200'"):
        get_classes("cub20")


@pytest.mark.parametrize("name", ["cifar100", "CIFAR_100", "cub"])
def test_bundled_names_cannot_be_taken(name: str) -> None:
    with pytest.raises(UsageError, match="is bundled already"):
        register_classes(name, ["cat", "dog"])


def test_a_dataset_of_ones_own_and_another_spelling_of_its_name() -> None:
    register_classes("My-Set", ["a", "b"])
    assert get_classes("my set").labels == ("a", "b")
    register_classes("my_set", ["c", "d", "e"])
    assert get_classes("My-Set").labels == ("c", "d", "e")
    assert [name for name in dataset_names() if "set" in name.lower()] == ["my_set"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("pets.txt", "cat\ndog, hound\n"),
        ("pets.txt", "\ufeffcat\r\ndog, hound\r\n"),
        ("pets.csv", 'label,name\n0,cat\n1,"dog, hound"\n'),
        ("pets.csv", 'cat\n"dog, hound"\n'),
        ("pets.CSV", 'id,Class\n7,cat\n8,"dog, hound"\n'),
        ("pets.json", '["cat", "dog, hound"]'),
    ],
)
def test_names_are_read_in_label_order(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_bytes(content.encode())
    classes = read_classes(tmp_path / name)
    assert classes.name == "pets"
    assert classes.labels == ("cat", "dog, hound")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("pets.txt", "", "blank name at label 0"),
        ("pets.txt", "cat\n\ndog\n", "blank name at label 1"),
        ("pets.txt", "cat\ncat\n", "more than once"),
        ("pets.csv", "", "is empty"),
        ("pets.csv", "0,cat\n1,dog\n", "2.*'name'"),
        ("pets.csv", "id,name\n0,cat\n1\n", "column.*2"),
        ("pets.json", '{"cat": 0, "dog": 1}', "a list of names. Got dict"),
        ("pets.json", "[1, 2]", "blank name at label 0"),
        ("pets.yaml", "- cat\n", "json files"),
    ],
)
def test_a_bad_file_is_told(tmp_path: Path, name: str, content: str, message: str) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(UsageError, match=message):
        read_classes(tmp_path / name)


@pytest.mark.parametrize(("name", "content"), [("pets.json", b"["), ("pets.txt", b"\xff\xfe\xff")])
def test_a_damaged_file_is_named(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=name):
        read_classes(tmp_path / name)
    with pytest.raises(DataError, match=r"Cannot read .*nowhere"):
        read_classes(tmp_path / "nowhere.txt")


@given(st.integers(2, 300), st.data())
def test_the_first_or_a_draw_or_all(total: int, data: st.DataObject) -> None:
    count = data.draw(st.integers(2, total))
    seed = data.draw(st.integers(0, 2**32))
    assert select_classes(total).tolist() == list(range(total))
    assert select_classes(total, count=count).tolist() == list(range(count))
    drawn = select_classes(total, count=count, seed=seed)
    assert drawn.dtype == np.int64
    permuted = np.random.default_rng(seed).permutation(total)[:count]
    assert drawn.tolist() == sorted(permuted.tolist())


@pytest.mark.parametrize("ids", [[3, 0, 2], (3, 0, 2), np.array([3, 0, 2], dtype=np.uint8)])
def test_given_ids_keep_their_order(ids: Any) -> None:
    chosen = select_classes(4, ids=ids)
    assert chosen.dtype == np.int64
    assert chosen.tolist() == [3, 0, 2]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"count": 1}, r"must be in \[2, 10\]. Got 1"),
        ({"count": 11}, r"in \[2, 10\]. Got 11"),
        ({"seed": 0}, "give 'classes'"),
        ({"count": 2, "seed": -1}, "0.*-1"),
        ({"ids": [1, 2], "count": 2}, "not both"),
        ({"ids": [1, 2], "seed": 2}, "not both"),
        ({"ids": [1, 10]}, r"in \[0, 9\]. Got 10"),
        ({"ids": [-1, 1]}, r"in \[0, 9\]. Got -1"),
        ({"ids": [1, 2, 1]}, "Got 1 more than once"),
        ({"ids": [1]}, "at least 2 integers"),
        ({"ids": []}, "at least 2 integers"),
        ({"ids": [0.5, 1.5]}, "integers"),
        ({"ids": [[0, 1], [2, 3]]}, "integers"),
    ],
)
def test_a_choice_that_makes_no_sense_is_told(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        select_classes(10, **options)
