from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from edgecil.classes import ClassList, words_of
from edgecil.errors import UsageError


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


def test_classes_that_would_read_the_same_keep_their_synonyms() -> None:
    classes = ClassList("x", ("crane, bird", "crane, machine", "dog, hound"))
    assert classes.words == ("crane, bird", "crane, machine", "dog")


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ((), "'pets' is empty"),
        (("cat", " "), r"blank name at label 1 \(' '\)"),
        (("cat", 3), r"blank name at label 1 \(3\)"),
        (("cat", "dog", "cat"), "'cat'.*1"),
    ],
)
def test_a_bad_list_is_told(labels: tuple[str, ...], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        ClassList("pets", labels)


def test_folders_are_one_per_class() -> None:
    with pytest.raises(UsageError, match="2 labels but 1 folders"):
        ClassList("pets", ("cat", "dog"), ("n01",))


def test_a_count_can_be_required() -> None:
    pets = ClassList("pets", ("cat", "dog"))
    assert pets.require(2) is pets
    with pytest.raises(UsageError, match=r"2.*3.*expected"):
        pets.require(3)


def test_labels_that_read_alike_keep_what_tells_them_apart() -> None:
    assert ClassList("pets", ("cat_one", "cat one", "dog")).words == ("cat_one", "cat one", "dog")
