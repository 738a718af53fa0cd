from __future__ import annotations

import shutil
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from edgecil.classes import get_classes
from edgecil.classes.lists import BUNDLED
from edgecil.errors import PrerequisiteError, UsageError
from edgecil.similarity import (
    TEMPLATE,
    bundled_captions,
    encoder_names,
    encoder_status,
    get_encoder,
    load_clip,
    pretrained,
)
from edgecil.similarity.captions import CAPTIONED
from edgecil.similarity.encoders import ENCODERS
from edgecil.similarity.text import fill_template
from tests.similarity.tiny_models import PROJECTION, WIDTH, PlainClip, save_open_clip

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
def test_missing_packages_are_told_with_the_command_that_installs_them(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pretrained, "PACKAGES", ("torch", "no_such_package"))
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
