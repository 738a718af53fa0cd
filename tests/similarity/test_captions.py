from __future__ import annotations

from pathlib import Path

import pytest

from edgecil.classes import ClassList, get_classes
from edgecil.errors import UsageError
from edgecil.similarity import bundled_captions, check_captions, read_captions
from edgecil.similarity.captions import CAPTIONED

PETS = ClassList("pets", ("house_cat", "dog"))
EXPECTED = ("a furry one, purring", "a barking one")


@pytest.mark.parametrize("dataset", CAPTIONED)
def test_bundled_captions_are_visual_sentences_of_8_to_20_words(dataset: str) -> None:
    classes = get_classes(dataset)
    captions = bundled_captions(dataset)
    assert len(set(captions)) == len(classes)
    for label, caption in zip(classes.labels, captions, strict=True):
        assert 8 <= len(caption.split()) <= 20
        assert label.lower() not in caption.lower()


def test_a_dataset_without_captions_says_which_have_them() -> None:
    with pytest.raises(UsageError, match="quickdraw"):
        bundled_captions("cifar100")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("c.json", '{"dog": "a barking one", "house_cat": "a furry one, purring"}'),
        ("c.json", '{"dog": "a barking one", "house cat": "a furry one, purring"}'),
        ("c.csv", 'caption,name\na barking one,dog\n"a furry one, purring",house_cat\n'),
        ("c.csv", 'name, caption\nhouse cat, "a furry one, purring"\ndog, a barking one\n'),
        ("c.txt", "a furry one, purring\na barking one\n"),
        ("C.TXT", "a furry one, purring\r\na barking one"),
    ],
)
def test_captions_are_read_in_label_order(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    assert read_captions(tmp_path / name, PETS) == EXPECTED


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("c.json", '{"dog": "x"}', "1.*2.*'pets'"),
        ("c.json", '{"dog": "x", "house_cat": "y", "cow": "z"}', "'pets'.*'cow'"),
        ("c.json", '{"dog": "x", "house_cat": "y", "house cat": "z"}', "more than one caption"),
        ("c.json", '{"dog": "", "house_cat": "y"}', "'dog'"),
        ("c.json", '{"dog": {"a": "b"}, "house_cat": "y"}', "must be a text"),
        ("c.json", '["x", "y"]', "must be a .json object"),
        ("c.csv", "dog,x\nhouse_cat,y\n", "columns name"),
        ("c.csv", "name,caption\ndog,x, y\nhouse_cat,z\n", "in quotes"),
        ("c.csv", "", "header line"),
        ("c.txt", "x\ny\nz\n", "needs 2 captions"),
        ("c.txt", "x\n\n", "needs 2 captions"),
        ("c.md", "x\ny\n", "in a .csv or .txt"),
    ],
)
def test_every_class_must_have_exactly_one(tmp_path, name, content, message) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(UsageError, match=message) as caught:
        read_captions(tmp_path / name, PETS)
    assert name in str(caught.value)


def test_captions_are_given_by_class_or_in_label_order() -> None:
    assert check_captions(PETS, {"dog": "b", "house_cat": "a"}) == ("a", "b")
    assert check_captions(PETS, ["a", " b "]) == ("a", "b")
    with pytest.raises(UsageError, match="Got a single text"):
        check_captions(PETS, "ab")
