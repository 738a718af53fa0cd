from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from edgecil.classes import ClassList
from edgecil.errors import DataError, PrerequisiteError, UsageError
from edgecil.similarity import get_encoder, text_similarity
from edgecil.similarity.clip import _hugging_face_names
from tests.similarity.tiny_models import (
    CONTEXT,
    HEADS,
    LAYERS,
    PROJECTION,
    WIDTH,
    PlainClip,
    load_clip,
    open_clip_config,
    save_open_clip,
)

TEXTS = ["a photo of a cat.", "Dog", "a photo of a dog of a cat of a photo of a dog of a cat."]
Tower = tuple[Path, PlainClip]


def text_config(tower: PlainClip, **changes: object) -> dict[str, object]:
    return {
        "vocab_size": tower.token_embedding.num_embeddings,
        "hidden_size": WIDTH,
        "intermediate_size": 4 * WIDTH,
        "projection_dim": PROJECTION,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "max_position_embeddings": CONTEXT,
        "hidden_act": "quick_gelu",
        **changes,
    }


def save_hugging_face(folder: Path, tower: PlainClip, **changes: object) -> None:
    from transformers import CLIPTextConfig, CLIPTextModelWithProjection

    model = CLIPTextModelWithProjection(CLIPTextConfig(**text_config(tower, **changes)))
    model.load_state_dict(_hugging_face_names(tower.state_dict()))
    model.save_pretrained(folder)


def oracle(folder: Path, tower: PlainClip, *, quick: bool = True) -> np.ndarray:
    """Token ids by greedy words, zero-padded as OpenAI does, through the plain tower."""
    vocabulary = json.loads((folder / "vocab.json").read_text(encoding="utf-8"))
    start, end = vocabulary["<|startoftext|>"], vocabulary["<|endoftext|>"]
    ids = torch.zeros(len(TEXTS), CONTEXT, dtype=torch.long)
    for row, text in enumerate(TEXTS):
        words = text.lower().replace(".", " .").split()[: CONTEXT - 2]
        tokens = [start, *(vocabulary[f"{word}</w>"] for word in words), end]
        ids[row, : len(tokens)] = torch.tensor(tokens)
    with torch.no_grad():
        return tower(ids, quick).double().numpy()


def require_the_oracles(weights: Path, tower: Tower, tolerance: float = 1e-4, **kind: bool) -> None:
    vectors = load_clip(weights).encode(TEXTS)
    assert vectors.shape == (len(TEXTS), PROJECTION)
    np.testing.assert_allclose(vectors, oracle(*tower, **kind), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("end", [None, 2, -1], ids=["no end", "an old end", "the end"])
def test_hugging_face_weights_give_what_the_tower_written_out_gives(tower, end) -> None:
    """Whatever the configuration says of the token that ends a text."""
    folder, plain = tower
    token = plain.token_embedding.num_embeddings - 1 if end == -1 else end
    save_hugging_face(folder, plain, **({} if end is None else {"eos_token_id": token}))
    require_the_oracles(folder, tower)


@pytest.mark.parametrize("prefix", ["", "text.", "module."])
def test_open_clip_weights_give_what_hugging_face_weights_give(tower: Tower, prefix: str) -> None:
    folder, plain = tower
    save_open_clip(folder, plain, prefix)
    from_open_clip = load_clip(folder).encode(TEXTS)
    (folder / "open_clip_model.safetensors").unlink()
    save_hugging_face(folder, plain)
    np.testing.assert_allclose(from_open_clip, load_clip(folder).encode(TEXTS), atol=1e-6)


def test_a_full_clip_model_is_read_for_its_text_tower_alone(tower: Tower) -> None:
    from transformers import CLIPConfig, CLIPModel, CLIPVisionConfig

    folder, plain = tower
    vision = CLIPVisionConfig(
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=1,
        num_attention_heads=1,
        image_size=8,
        patch_size=4,
    )
    config = CLIPConfig(
        text_config=text_config(plain),
        vision_config=vision.to_dict(),
        projection_dim=PROJECTION,
    )
    model = CLIPModel(config)
    model.load_state_dict(_hugging_face_names(plain.state_dict()), strict=False)
    model.save_pretrained(folder)
    require_the_oracles(folder, tower)


def test_the_activation_is_what_the_open_clip_config_says(tower: Tower) -> None:
    folder, plain = tower
    save_open_clip(folder, plain, quick_gelu=False)
    require_the_oracles(folder, tower, quick=False)
    assert not np.allclose(oracle(folder, plain), oracle(folder, plain, quick=False), atol=1e-3)


@pytest.mark.parametrize("wrapped", [False, True])
def test_a_lone_state_dict_in_half_precision_is_read(tower: Tower, wrapped: bool) -> None:
    folder, plain = tower
    (folder / "open_clip_config.json").write_text(json.dumps(open_clip_config()), encoding="utf-8")
    state = {name: value.half() for name, value in plain.state_dict().items()}
    torch.save({"state_dict": state} if wrapped else state, folder / "RN.pt")
    require_the_oracles(folder / "RN.pt", tower, 2e-2)


def test_one_text_at_a_time_gives_what_a_batch_gives(tower: Tower) -> None:
    save_open_clip(*tower)
    encoder = load_clip(tower[0])
    alone = np.concatenate([encoder.encode([text]) for text in TEXTS])
    np.testing.assert_allclose(encoder.encode(TEXTS * 40)[: len(TEXTS)], alone, atol=1e-5)


def test_weights_of_other_sizes_than_the_named_encoder_are_refused(tower: Tower) -> None:
    save_open_clip(*tower)
    with pytest.raises(UsageError, match=r"is not clip-rn50: .*\(128, 24\).*\(512, 1024\)"):
        get_encoder("clip-rn50", tower[0]).encode(["a"])


State = dict[str, torch.Tensor]
BROKEN: dict[str, tuple[Callable[[State, Path], object], str]] = {
    "a bias": (lambda state, _: state.pop("ln_final.bias"), "lacks text_model.final_layer_norm.bi"),
    "a projection": (lambda state, _: state.pop("text_projection"), "lacks text_projection"),
    "attention": (
        lambda state, _: state.pop("transformer.resblocks.2.attn.in_proj_weight"),
        r"lacks text_model.encoder.layers.2.self_attn",
    ),
    "the last block": (
        lambda state, _: [state.pop(name) for name in list(state) if "blocks.2." in name],
        "states 3 transformer blocks",
    ),
    "everything": (lambda state, _: state.clear(), "text model of 'clip'"),
    "shapes": (lambda state, _: state.update({"ln_final.bias": torch.zeros(7)}), "size mismatch"),
    "tokens": (
        lambda state, _: state.update(
            {"token_embedding.weight": state["token_embedding.weight"][:20].clone()}
        ),
        "do not belong together",
    ),
    "config": (
        lambda _, folder: (folder / "open_clip_config.json").write_text("{"),
        "open_clip_config.json",
    ),
    "tokenizer": (lambda _, folder: (folder / "tokenizer.json").write_text("{"), "tokenizer"),
    "no tokenizer": (
        lambda _, folder: [(folder / name).unlink() for name in ("vocab.json", "merges.txt")],
        "vocab.json.*merges.txt",
    ),
}


@pytest.mark.parametrize(("damage", "message"), BROKEN.values(), ids=BROKEN)
def test_what_is_missing_or_damaged_is_named(tower, damage, message) -> None:
    folder, plain = tower
    save_open_clip(folder, plain)
    state = dict(plain.state_dict())
    damage(state, folder)
    save_file(state, folder / "open_clip_model.safetensors")
    with pytest.raises((DataError, PrerequisiteError), match=message):
        load_clip(folder).encode(["a"])


def test_an_empty_folder_is_told_from_a_missing_one_and_from_other_contents(tmp_path) -> None:
    torch.save([1, 2], tmp_path / "list.pt")
    with pytest.raises(DataError, match="no state dict"):
        load_clip(tmp_path / "list.pt").encode(["a"])
    with pytest.raises(DataError, match="open_clip_model"):
        load_clip(tmp_path)
    with pytest.raises(PrerequisiteError, match="file here"):
        load_clip(tmp_path / "nowhere")


def test_the_caches_and_packages_of_clip_are_used(tmp_path, monkeypatch) -> None:
    """`pip install clip` leaves weights in ~/.cache/clip and the merges in its own folder."""
    from transformers import CLIPTokenizerFast

    from edgecil.similarity.clip import packaged_tokenizer
    from edgecil.similarity.text import ENCODERS, cached_weights

    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    assert cached_weights(ENCODERS["clip-vit-b-16"]) is None
    weights = tmp_path / ".cache" / "clip" / "ViT-B-16.pt"
    weights.parent.mkdir(parents=True)
    weights.touch()
    assert cached_weights(ENCODERS["clip-vit-b-16"]) == weights
    package = tmp_path / "clip"
    package.mkdir()
    (package / "__init__.py").touch()
    merges = b"#version\nc a\nca t</w>"
    (package / "bpe_simple_vocab_16e6.txt.gz").write_bytes(gzip.compress(merges))
    monkeypatch.syspath_prepend(tmp_path)
    folder = packaged_tokenizer()
    assert folder is not None
    tokens = CLIPTokenizerFast.from_pretrained(folder)("Cat")["input_ids"]
    assert tokens == [514, 513, 515]  # start, "cat</w>", end


def test_in_half_precision_the_similarities_are_rounded_as_by_the_authors(
    tower: Tower, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_hugging_face(*tower)
    classes = ClassList("pets", ("cat", "dog", "photo of a cat"))
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    single = load_clip(tower[0], half=True)
    assert (single.half, single._device) == (False, "cpu")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert not load_clip(tower[0]).half
    half = load_clip(tower[0], half=True)
    assert (half.half, half._device) == (True, "cuda")
    half._device = "cpu"
    assert half.version == f"{single.version}, half precision"
    rounded, exact = (
        text_similarity(classes, encoder=it, template="{label}").values for it in (half, single)
    )
    np.testing.assert_array_equal(rounded, rounded.astype(np.float16))
    assert not np.array_equal(rounded, exact)
    np.testing.assert_allclose(rounded, exact, atol=5e-3)
