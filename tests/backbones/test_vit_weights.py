from __future__ import annotations

import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from edgecil.backbones.initialise import build
from edgecil.backbones.pretrained import PRETRAINED, load_vit, statistics_of
from edgecil.backbones.vit import ViT, ViTLayout
from edgecil.backbones.vit_weights import resize_positions
from edgecil.errors import DataError
from tests.backbones.tiny_models import (
    DEPTH,
    HEADS,
    SIZE,
    WIDTH,
    PlainClipTower,
    renamed,
    save_state,
    timm_state,
    transformers_classifier,
    transformers_clip,
    transformers_clip_vision,
    transformers_vit,
)

SHAPE = (3, SIZE, SIZE)
MEAN, STD = [0.1, 0.2, 0.3], [0.4, 0.5, 0.6]
State = dict[str, torch.Tensor]


def some_images(height: int = SIZE, width: int = SIZE) -> torch.Tensor:
    return torch.randn(2, 3, height, width, generator=torch.Generator().manual_seed(3))


def features(source: Path, images: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        return load_vit(str(source), tuple(images.shape[1:])).eval()(images)


def assert_same(actual: torch.Tensor, expected: torch.Tensor) -> None:
    assert (expected[0] - expected[1]).abs().max() > 0.01  # a hundred times the tolerance
    torch.testing.assert_close(actual, expected.detach(), atol=1e-4, rtol=1e-4)


@pytest.fixture
def timm(tmp_path: Path) -> State:
    """A random ViT under timm's names; timm's norms add 1e-6."""
    return timm_state(transformers_vit(layer_norm_eps=1e-6), tmp_path / "hf")


@pytest.mark.parametrize("size", [(SIZE, SIZE), (32, 32), (16, 40)])
@pytest.mark.parametrize(
    ("make", "tower", "changes"),
    [
        (transformers_vit, "", {}),
        (
            transformers_vit,
            "",
            {"hidden_act": "quick_gelu", "num_attention_heads": 4, "layer_norm_eps": 0.1},
        ),
        (transformers_classifier, "vit", {}),
        (transformers_clip_vision, "vision_model", {"hidden_act": "quick_gelu"}),
        (transformers_clip_vision, "vision_model", {"hidden_act": "gelu"}),
        (transformers_clip, "vision_model", {}),
    ],
)
def test_models_of_transformers_give_what_transformers_gives(
    tmp_path, make, tower, changes, size
) -> None:
    model = make(**changes)
    model.save_pretrained(tmp_path)
    images = some_images(*size)
    output = model.get_submodule(tower)(images, interpolate_pos_encoding=True)
    pooled = tower == "vision_model"
    expected = output.pooler_output if pooled else output.last_hidden_state[:, 0]
    assert_same(features(tmp_path, images), expected)


@pytest.mark.parametrize(
    ("config", "quick"), [(None, True), ({"quick_gelu": True}, True), ({}, False)]
)
@pytest.mark.parametrize("prefix", ["visual.", "module.visual.", ""])
def test_an_open_clip_tower_gives_what_it_gives_written_out(
    tmp_path, prefix, config, quick
) -> None:
    tower = PlainClipTower()
    state = {f"{prefix}{name}": tensor for name, tensor in tower.state_dict().items()}
    if prefix:
        state |= {"token_embedding.weight": torch.zeros(9, 8), "logit_scale": torch.zeros(1)}
    save_state(tmp_path, state)
    heads = HEADS
    if config is None:
        heads = WIDTH // 64
        for block in tower.transformer["resblocks"]:
            block.attn.num_heads, block.attn.head_dim = heads, 64
    else:
        vision = {"width": WIDTH, "layers": DEPTH, "head_width": WIDTH // heads}
        model = {"model_cfg": {"vision_cfg": vision, **config}}
        (tmp_path / "open_clip_config.json").write_text(json.dumps(model))
    assert_same(features(tmp_path, some_images()), tower(some_images(), quick))


def test_a_timm_file_gives_what_transformers_gives(tmp_path, timm) -> None:
    folder = save_state(tmp_path / "timm", timm).parent
    (folder / "config.json").write_text(json.dumps({"num_attention_heads": HEADS}))
    expected = transformers_vit(layer_norm_eps=1e-6)(some_images()).last_hidden_state[:, 0]
    assert_same(features(folder, some_images()), expected)


@pytest.mark.parametrize(("quick", "network"), [(False, "clip_224"), (True, "clip_quickgelu_224")])
def test_a_clip_tower_under_timms_names_is_known_by_its_first_norm(
    tmp_path, quick, network
) -> None:
    tower = PlainClipTower()
    names = {
        "class_embedding": "cls_token",
        "positional_embedding": "pos_embed",
        "conv1": "patch_embed.proj",
        "ln_pre": "norm_pre",
        "ln_post": "norm",
        "transformer.resblocks": "blocks",
        ".ln_": ".norm",
        "in_proj_": "qkv.",
        "out_proj": "proj",
        "c_fc": "fc1",
        "c_proj": "fc2",
    }
    timm = {renamed(name, names): value for name, value in tower.state_dict().items()}
    timm["cls_token"], timm["pos_embed"] = timm["cls_token"][None, None], timm["pos_embed"][None]
    folder = save_state(tmp_path / "timm", timm).parent
    config = {"architecture": f"vit_base_patch16_{network}", "num_attention_heads": HEADS}
    (folder / "config.json").write_text(json.dumps(config))
    assert load_vit(str(folder), SHAPE).layout.norm_eps == 1e-5
    assert_same(features(folder, some_images()), tower(some_images(), quick))


@pytest.mark.parametrize(
    ("place", "prefix"),
    [
        (None, ""),
        ("state_dict", "module."),
        ("teacher", "backbone."),
        ("teacher", "module.backbone."),
        ("model", ""),
    ],
)
def test_checkpoints_hold_them_at_various_places(tmp_path, timm, place, prefix) -> None:
    state: dict[str, Any] = {f"{prefix}{name}": tensor for name, tensor in timm.items()}
    state["head.mlp.0.weight"] = torch.zeros(2, 2)
    if place is not None:
        state = {place: state, "student": {"module.backbone.cls_token": 0}, "epoch": 3}
    torch.save(state, tmp_path / "checkpoint.pth")
    loaded = load_vit(str(tmp_path / "checkpoint.pth"), SHAPE)
    assert torch.equal(loaded.state_dict()["norm.bias"], timm["norm.bias"])


@pytest.mark.parametrize(
    ("width", "heads"), [(192, 3), (384, 6), (768, 12), (1024, 16), (1280, 16), (1664, 16)]
)
def test_heads_are_those_of_the_published_widths(tmp_path, width, heads) -> None:
    layout = ViTLayout(channels=1, patch=1, width=width, depth=1, heads=1, hidden=1)
    state = build(lambda: ViT(layout, (1, 1, 1)), torch.Generator()).state_dict()
    assert load_vit(str(save_state(tmp_path, state)), (1, 1, 1)).layout.heads == heads


def test_weights_are_new_trainable_and_in_single_precision(tmp_path, timm) -> None:
    half = {name: tensor.half() for name, tensor in timm.items()}
    path = str(save_state(tmp_path / "half", half))
    first, second = load_vit(path, SHAPE), load_vit(path, SHAPE)
    assert all(weight.dtype == torch.float32 for weight in first.parameters())
    assert all(weight.requires_grad for weight in first.parameters())
    with torch.no_grad():
        first.norm.bias.add_(1)
    assert torch.equal(second.norm.bias, half["norm.bias"].float())


def cubic(distance: float) -> float:
    """The weight of a point in bicubic interpolation (Keys 1981, a = -0.75)."""
    x = abs(distance)
    if x <= 1:
        return 1.25 * x**3 - 2.25 * x**2 + 1
    return -0.75 * x**3 + 3.75 * x**2 - 6 * x + 3 if x < 2 else 0.0


@pytest.mark.parametrize("down", [12, 3])
def test_positions_are_bicubic_between_pixel_centres_without_antialiasing(down) -> None:
    positions = torch.randn(1, 1 + 36, 5, generator=torch.Generator().manual_seed(0))
    resized = resize_positions(positions, (down, 6))
    assert torch.equal(resized[:, 0], positions[:, 0])
    rows, actual = positions[0, 1:].reshape(6, 6, 5), resized[0, 1:].reshape(down, 6, 5)
    for row in range(down):
        place = (row + 0.5) * 6 / down - 0.5
        expected = sum(cubic(place - near) * rows[min(max(near, 0), 5)] for near in range(-3, 9))
        torch.testing.assert_close(actual[row], expected)


@pytest.mark.parametrize(
    ("name", "held"),
    [
        ("preprocessor_config.json", {"image_mean": MEAN, "image_std": STD}),
        ("config.json", {"pretrained_cfg": {"mean": MEAN, "std": STD}}),
        ("open_clip_config.json", {"preprocess_cfg": {"mean": MEAN, "std": STD}}),
    ],
)
def test_statistics_are_read_beside_the_weights(tmp_path, timm, name, held) -> None:
    folder = save_state(tmp_path / "timm", timm).parent
    assert statistics_of(str(folder / "model.safetensors")).mean == (0.5, 0.5, 0.5)
    (folder / name).write_text(json.dumps(held))
    actual = statistics_of(str(folder))
    assert (actual.mean, actual.std) == (tuple(MEAN), tuple(STD))


def without(*names: str) -> Callable[[State], State]:
    return lambda state: {name: value for name, value in state.items() if name not in names}


def having(name: str, tensor: torch.Tensor) -> Callable[[State], State]:
    return lambda state: {**state, name: tensor}


RESNET = {"conv1.weight": torch.zeros(4, 3, 7, 7), "layer1.0.conv1.weight": torch.zeros(4, 4, 3, 3)}
CLIP_RESNET = {f"visual.{name}": tensor for name, tensor in RESNET.items()}
TEXT = {"text_model.final_layer_norm.weight": torch.zeros(4), "logit_scale": torch.zeros(1)}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda _: RESNET, "contains no vision transformer"),
        (lambda _: CLIP_RESNET, "contains no vision transformer"),
        (lambda _: TEXT, "contains no vision transformer"),
        (without("norm.bias"), "timm's names: it lacks norm.bias"),
        (without("pos_embed"), "it lacks pos_embed"),
        (without("patch_embed.proj.weight"), "patch_embed.proj.weight"),
        (without("blocks.1.attn.qkv.bias"), "blocks.1.attn.qkv.bias"),
        (
            lambda state: {name: value for name, value in state.items() if "blocks.1" not in name},
            "blocks.1.norm1.weight.*9",
        ),
        (having("blocks.0.ls1.gamma", torch.zeros(4)), "blocks.0.ls1.gamma"),
        (
            having("patch_embed.proj.weight", torch.zeros(WIDTH, 192)),
            "not embedded by a convolution",
        ),
        (having("pos_embed", torch.zeros(1, 9, WIDTH)), r"embeddings.*\(1, 9, 64\)"),
        (having("pos_embed", torch.zeros(1, 0, WIDTH)), r"embeddings.*\(1, 0, 64\)"),
        (having("pos_embed", torch.zeros(WIDTH)), r"embeddings.*\(1, 1, 64\)"),
        (having("norm.bias", torch.full((WIDTH,), torch.nan)), "norm.bias"),
        (having("norm.bias", torch.zeros(3)), r"norm.bias.*\(3,\).*\(64,\)"),
    ],
)
def test_another_architecture_is_one_sentence(tmp_path, timm, change, message) -> None:
    path = save_state(tmp_path / "changed", change(timm))
    with pytest.raises(DataError, match=message) as raised:
        load_vit(str(path), SHAPE)
    assert str(raised.value).startswith(str(path))
    assert str(raised.value).count("\n") == 0


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"num_hidden_layers": 12}, "3.*configuration.*12"),
        ({"hidden_size": 768}, "64.*configuration.*768"),
        ({"hidden_act": "relu"}, "config.json.*'relu'.*activation"),
        ({"num_attention_heads": 7}, r"number of attention heads"),
        ({"num_attention_heads": "two"}, "config.json.*int.*str.*heads"),
        ({"num_attention_heads": 0}, "config.json.*below 1"),
        ({"layer_norm_eps": "small"}, "config.json.*float.*str.*norm_eps"),
        ({"vision_config": [1]}, "config.json.*vision_config"),
        ([], "no JSON object"),
    ],
)
def test_a_configuration_that_does_not_fit_is_one_sentence(tmp_path, timm, config, message) -> None:
    folder = save_state(tmp_path / "timm", timm).parent
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(DataError, match=message):
        load_vit(str(folder), SHAPE)


@pytest.mark.parametrize(
    ("mean", "std"),
    [(0.5, 0.5), ([], []), ([0.5], [0.5, 0.5]), ([0.5], [0.0]), (["a"], [0.5])],
)
def test_statistics_that_are_none_are_one_sentence(tmp_path, timm, mean, std) -> None:
    folder = save_state(tmp_path / "timm", timm).parent
    settings = {"image_mean": mean, "image_std": std}
    (folder / "preprocessor_config.json").write_text(json.dumps(settings))
    with pytest.raises(DataError, match=r"preprocessor_config.json"):
        statistics_of(str(folder))


def test_what_nobody_says_is_clips_for_clip_and_a_warning_for_others(
    tmp_path, timm, caplog
) -> None:
    path = save_state(tmp_path / "timm", timm)
    with caplog.at_level(logging.WARNING):
        transformers_clip_vision().save_pretrained(tmp_path / "clip")
        assert statistics_of(str(tmp_path / "clip")) == PRETRAINED["vit-b16-clip"].statistics
        assert caplog.messages == []
        assert statistics_of(str(path)).mean == (0.5, 0.5, 0.5)
    (message,) = caplog.messages
    assert message.startswith(f"No file beside {path} defines the normalisation")


def test_a_description_that_makes_no_sense_is_one_sentence(tmp_path, timm) -> None:
    path = save_state(tmp_path / "timm", timm)
    for layout, message in (
        ({"width": "64"}, "does not describe a vision transformer: .*width"),
        ({"width": 64, "heads": 7}, "7 heads do not divide the width 64"),
        ([1], "is not a configuration: layout is no JSON object"),
    ):
        path.with_suffix(".json").write_text(json.dumps({"layout": layout}))
        with pytest.raises(DataError, match=message):
            load_vit(str(path), SHAPE)


def test_what_is_no_weight_file_is_one_sentence(tmp_path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "model.safetensors").write_bytes(b"nothing")
    (tmp_path / "text.pt").write_text("hello")
    transformers_vit(hidden_size=48).save_pretrained(tmp_path / "odd")
    (tmp_path / "odd" / "config.json").unlink()
    for given, message in (
        (tmp_path / "empty", "contains no weights"),
        (tmp_path, "weight file"),
        (tmp_path / "text.pt", r"text\.pt: .*weight file"),
        (tmp_path / "odd", r"heads .*inferred.*48.*config.json"),
        ("weights/vit.safetensors", "weights/vit.safetensors"),  # a mistyped path is no hub id
        ("a/b.bin", "a/b.bin"),
    ):
        with pytest.raises(DataError, match=message):
            load_vit(str(given), SHAPE)
