"""Reading a vision transformer from a weight file of timm, transformers, CLIP or open_clip.

Names are translated to those of timm. Sizes come from the tensors, the rest from the configuration
beside them: that of edgecil (.json of the same name), transformers, timm or open_clip.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import torch
from torch.nn import functional

from edgecil.backbones.resnet_weights import holds_resnet
from edgecil.backbones.vit import ViT, ViTLayout
from edgecil.data.augment import Normalise
from edgecil.errors import DataError, name_some, shown
from edgecil.io.files import read_json
from edgecil.io.weights import WeightFiles, read_tensors

_HEADS = {1280: 16, 1408: 16, 1664: 16}  # heads of ViT-H, g and G by width, which are wider
_PATCHES, _FIRST_MLP = "patch_embed.proj.weight", "blocks.0.mlp.fc1.weight"


CONFIG, OPEN_CLIP_CONFIG = "config.json", "open_clip_config.json"
PREPROCESSOR = "preprocessor_config.json"
SETTINGS = (CONFIG, OPEN_CLIP_CONFIG, PREPROCESSOR)
HEAD_WIDTH = 64  # default width of an attention head
_LARGE = 1e9  # no setting is larger


def described_layout(files: WeightFiles) -> ViTLayout | None:
    """Return the layout in edgecil's own description of the weights, if there is one."""
    path = _description(files)
    described = _inside(path, "layout")
    try:
        return ViTLayout(**_of_right_kinds(path, described)) if described else None
    except TypeError as error:
        raise DataError(f"{path} does not describe a vision transformer: {error}.") from error


def configured_layout(config: Path) -> dict[str, Any]:
    """Read the fields of a ViTLayout from a configuration of transformers, timm or open_clip."""
    held = _read_json(config)
    if not held:
        return {}
    if config.name == OPEN_CLIP_CONFIG:
        model = _inside(config, "model_cfg") or held
        vision = _inside(config, "model_cfg", "vision_cfg") or _inside(config, "vision_cfg")
        configured = {
            "width": vision.get("width"),
            "depth": vision.get("layers"),
            "heads": _heads(vision),
            "activation": "quick_gelu" if model.get("quick_gelu") else "gelu",
        }
    else:
        vision = _inside(config, "vision_config") or held
        quick = "quickgelu" in str(
            held.get("architecture")
        )  # part of the architecture's name in timm
        configured = {
            "width": vision.get("hidden_size"),
            "depth": vision.get("num_hidden_layers"),
            "heads": vision.get("num_attention_heads"),
            "norm_eps": vision.get("layer_norm_eps"),
            "activation": "quick_gelu" if quick else vision.get("hidden_act"),
        }
    configured = {name: value for name, value in configured.items() if value is not None}
    return _of_right_kinds(config, configured)


def configured_statistics(files: WeightFiles) -> Normalise | None:
    """Return the normalisation of images, if one of the files defines it."""
    for path, *inside in (
        (_description(files),),
        (files.folder / PREPROCESSOR,),
        (files.folder / CONFIG, "pretrained_cfg"),
        (files.folder / OPEN_CLIP_CONFIG, "preprocess_cfg"),
    ):
        configured = _inside(path, *inside)
        for names in (("mean", "std"), ("image_mean", "image_std")):
            mean, std = (configured.get(name) for name in names)
            if mean is not None and std is not None:
                return _normalise(path, mean, std)
    return None


def _normalise(path: Path, mean: Any, std: Any) -> Normalise:
    lists = isinstance(mean, list) and isinstance(std, list) and len(mean) == len(std) > 0
    if not lists or not all(map(_is_number, mean + std)) or min(std) <= 0:
        raise DataError(
            f"{path} has no valid normalisation: it requires lists of means and of standard "
            f"deviations above 0, one value per channel. Got {shown(mean)} and {shown(std)}."
        )
    return Normalise(tuple(mean), tuple(std))


def _of_right_kinds(path: Path, configured: dict[str, Any]) -> dict[str, Any]:
    """Return the configured fields of a ViTLayout, if all have valid values."""
    for entry in fields(ViTLayout):
        value, kind = configured.get(entry.name, entry.default), type(entry.default)
        fits = _is_number(value) if kind is float else type(value) is kind
        if not fits or (_is_number(value) and value <= 0):
            raise DataError(
                f"{path} does not describe a vision transformer: {entry.name} = {value!r}."
            )
    return configured


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) < _LARGE


def _description(files: WeightFiles) -> Path:
    return files.weights.with_suffix(".json")


def _heads(vision: Mapping[str, Any]) -> Any:
    """Return the number of attention heads of an open_clip image tower, if its width is given."""
    width, head_width = vision.get("width"), vision.get("head_width", HEAD_WIDTH)
    if type(width) is not int or type(head_width) is not int or head_width < 1:
        return None
    return width / head_width if width % head_width else width // head_width


def _inside(path: Path, *names: str) -> dict[str, Any]:
    """Return the object at a path of names in a JSON file; empty if there is none."""
    held = _read_json(path)
    for name in names:
        held = {} if held.get(name) is None else held[name]
        if not isinstance(held, dict):
            raise DataError(f"{path} is not a configuration: its {name} is no JSON object.")
    return held


def _read_json(path: Path) -> dict[str, Any]:
    """Return the JSON object in a file; empty if the file does not exist."""
    if not path.is_file():
        return {}
    held = read_json(path)
    if not isinstance(held, dict):
        raise DataError(f"{path} is not a configuration: it contains no JSON object.")
    return held


# Where a file holds more than the image tower, the tower's names begin with one of these.
_TOWERS = ("vision_model.", "visual.", "vit.", "backbone.")
# Tensors after the features, and tensors that are no weights.
_LEFT_OUT = ("head.", "pre_logits.", "pooler.", "proj", "embeddings.position_ids")


@dataclass(frozen=True)
class Naming:
    """How one family of files names the tensors of an image tower.

    Attributes:
        mark: a tensor name that identifies the family; earlier families take precedence.
        parts: pairs (theirs, ours) of parts of names, replaced in this order.
        layout: default fields of :class:`~edgecil.backbones.vit.ViTLayout`.
        config: name of the configuration file beside the weights, which overrides them.
    """

    mark: str
    parts: tuple[tuple[str, str], ...] = ()
    layout: Mapping[str, Any] = field(default_factory=dict)
    config: str = CONFIG

    def translate(self, tensors: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        """Return an image tower's tensors by our names, the attention's projections stacked."""
        ours = {
            self._our_name(name): tensor
            for name, tensor in tensors.items()
            if not name.startswith(_LEFT_OUT)
        }
        for query in [name for name in ours if ".attn.q." in name]:
            apart = [query.replace(".q.", f".{part}.") for part in "qkv"]
            if all(name in ours for name in apart):
                ours[query.replace(".q.", ".qkv.")] = torch.cat([ours.pop(name) for name in apart])
        for name in {"cls_token", "pos_embed"} & ours.keys():
            ours[name] = ours[name].reshape(1, -1, ours[name].shape[-1])
        return ours

    def _our_name(self, name: str) -> str:
        for theirs, ours in self.parts:
            name = name.replace(theirs, ours)
        return name


_CLIP = {"norm_eps": 1e-5, "activation": "quick_gelu"}
NAMINGS = (
    Naming("norm_pre.weight", layout={"norm_eps": 1e-5}),  # timm's CLIP
    Naming("cls_token"),  # timm, DINO
    Naming(  # transformers' ViT
        "embeddings.cls_token",
        (
            ("embeddings.cls_token", "cls_token"),
            ("embeddings.position_embeddings", "pos_embed"),
            ("embeddings.patch_embeddings.projection.", "patch_embed.proj."),
            ("encoder.layer.", "blocks."),
            (".layernorm_before.", ".norm1."),
            (".layernorm_after.", ".norm2."),
            (".attention.attention.query.", ".attn.q."),
            (".attention.attention.key.", ".attn.k."),
            (".attention.attention.value.", ".attn.v."),
            (".attention.output.dense.", ".attn.proj."),
            (".intermediate.dense.", ".mlp.fc1."),
            (".output.dense.", ".mlp.fc2."),
            ("layernorm.", "norm."),
        ),
        {"norm_eps": 1e-12},
    ),
    Naming(  # transformers' CLIP
        "embeddings.class_embedding",
        (
            ("embeddings.class_embedding", "cls_token"),
            ("embeddings.position_embedding.weight", "pos_embed"),
            ("embeddings.patch_embedding.", "patch_embed.proj."),
            ("pre_layrnorm.", "norm_pre."),
            ("post_layernorm.", "norm."),
            ("encoder.layers.", "blocks."),
            (".layer_norm1.", ".norm1."),
            (".layer_norm2.", ".norm2."),
            (".self_attn.q_proj.", ".attn.q."),
            (".self_attn.k_proj.", ".attn.k."),
            (".self_attn.v_proj.", ".attn.v."),
            (".self_attn.out_proj.", ".attn.proj."),
        ),
        _CLIP,
    ),
    Naming(  # OpenAI's CLIP, open_clip
        "class_embedding",
        (
            ("class_embedding", "cls_token"),
            ("positional_embedding", "pos_embed"),
            ("conv1.", "patch_embed.proj."),
            ("ln_pre.", "norm_pre."),
            ("ln_post.", "norm."),
            ("transformer.resblocks.", "blocks."),
            (".ln_1.", ".norm1."),
            (".ln_2.", ".norm2."),
            (".attn.in_proj_", ".attn.qkv."),
            (".attn.out_proj.", ".attn.proj."),
            (".mlp.c_fc.", ".mlp.fc1."),
            (".mlp.c_proj.", ".mlp.fc2."),
        ),
        _CLIP,
        OPEN_CLIP_CONFIG,
    ),
)


def image_tower(tensors: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Return the tensors of the image tower, without its prefix."""
    for tower in _TOWERS:
        inside = {name.removeprefix(tower) for name in tensors if name.startswith(tower)}
        tensors = {name: tensors[tower + name] for name in inside} or tensors
    return dict(tensors)


def recognise(tensors: Mapping[str, torch.Tensor]) -> Naming | None:
    """Return the family of an image tower's tensor names, or None."""
    return next((naming for naming in NAMINGS if naming.mark in tensors), None)


@dataclass(frozen=True, eq=False)
class ViTWeights:
    """A vision transformer read from a file.

    Attributes:
        layout: its sizes.
        tensors: the complete state of a :class:`~edgecil.backbones.vit.ViT` with this layout, for
            the image size of its training.
    """

    layout: ViTLayout
    tensors: dict[str, torch.Tensor]


def read_vit(files: WeightFiles) -> ViTWeights:
    """Return the vision transformer in a model's files, without classifier and text tower.

    edgecil's own weights have a description of the same name (.json); others are recognised by the
    names of their tensors.
    """
    tensors = read_tensors(files.weights)
    if described := described_layout(files):
        return _checked(files, described, tensors)
    tensors = image_tower(tensors)
    naming = recognise(tensors)
    if naming is None:
        other = (
            "it is a ResNet; use a learner on features, such as 'simplecil', or another backbone."
            if holds_resnet(tensors)
            else "no tensor has the name of a class token in timm, DINO, transformers, CLIP or "
            "open_clip."
        )
        raise DataError(f"{files.weights} contains no vision transformer: {other}")
    tensors = naming.translate(tensors)
    return _checked(files, _read_layout(files, naming, tensors), tensors)


def resize_positions(positions: torch.Tensor, grid: tuple[int, int]) -> torch.Tensor:
    """Interpolate position embeddings to another grid; the class token's does not change.

    Bicubic without antialiasing, as in DINO and transformers; timm uses antialiasing.

    Args:
        positions: (1, 1 + side², d), of a square grid.
        grid: patches down and across.

    Returns:
        Positions (1, 1 + down · across, d).
    """
    side = math.isqrt(positions.shape[1] - 1)
    if grid == (side, side):
        return positions
    maps = positions[:, 1:].unflatten(1, (side, side)).permute(0, 3, 1, 2)
    resized = functional.interpolate(maps, grid, mode="bicubic", align_corners=False)
    return torch.cat([positions[:, :1], resized.flatten(2).transpose(1, 2)], dim=1)


def _read_layout(
    files: WeightFiles, naming: Naming, tensors: Mapping[str, torch.Tensor]
) -> ViTLayout:
    _require(files, tensors, (_PATCHES, _FIRST_MLP))
    if tensors[_PATCHES].ndim != 4:
        raise _not_plain(files, "its patches are not embedded by a convolution")
    width, channels, patch, _ = tensors[_PATCHES].shape
    blocks = [int(block[1]) for name in tensors if (block := re.match(r"blocks\.(\d+)\.", name))]
    seen = {"width": width, "depth": 1 + max(blocks)}
    config = files.folder / naming.config
    configured = configured_layout(config)
    for size, value in seen.items():
        if configured.get(size, value) != value:
            raise DataError(
                f"{files.weights} does not belong to {config}: its {size} is {value}, the "
                f"configuration's {configured[size]}."
            )
    if configured.get("activation", "gelu") not in ("gelu", "quick_gelu"):
        raise DataError(
            f"{config} has the activation {configured['activation']!r}; only gelu and quick_gelu "
            "are supported."
        )
    heads = configured.get("heads") or _HEADS.get(width, width / HEAD_WIDTH)
    if heads != int(heads) or width % heads:
        raise DataError(
            f"The number of attention heads of {files.weights} cannot be inferred from the width "
            f"{width}; set num_attention_heads in {config}."
        )
    return ViTLayout(
        channels=channels,
        patch=patch,
        hidden=len(tensors[_FIRST_MLP]),
        patch_bias="patch_embed.proj.bias" in tensors,
        first_norm="norm_pre.weight" in tensors,
        **{**naming.layout, **configured, **seen, "heads": int(heads)},
    )


def _checked(
    files: WeightFiles, layout: ViTLayout, tensors: Mapping[str, torch.Tensor]
) -> ViTWeights:
    """Return the weights, after checking that they are exactly those of the layout."""
    _require(files, tensors, ("pos_embed",))
    shape = tuple(tensors["pos_embed"].shape)
    positions = shape[1] if len(shape) == 3 else 0
    side = math.isqrt(max(0, positions - 1))
    if side == 0 or side**2 != positions - 1:
        raise _not_plain(
            files,
            f"position embeddings of shape {shape} are not a class token's and a square of "
            "patches'",
        )
    if layout.width % layout.heads:
        raise _not_plain(files, f"{layout.heads} heads do not divide the width {layout.width}")
    with torch.device("meta"):
        network = ViT(layout, (layout.channels, side * layout.patch, side * layout.patch))
    expected_state = network.state_dict()
    counts = {
        name: torch.tensor(0) for name in expected_state if name.endswith("num_batches_tracked")
    }
    complete = {**counts, **tensors}
    _require(files, complete, expected_state)
    if extra := sorted(complete.keys() - expected_state.keys()):
        raise _not_plain(files, f"it also has {name_some(extra)}")
    for name, tensor in complete.items():
        shape, expected = tuple(tensor.shape), tuple(expected_state[name].shape)
        if shape != expected:
            raise _not_plain(files, f"{name} has shape {shape} instead of {expected}")
        if not bool(tensor.isfinite().all()):
            raise DataError(
                f"{files.weights} cannot be used: {name} has values that are not finite."
            )
    return ViTWeights(layout, complete)


def _require(files: WeightFiles, tensors: Mapping[str, torch.Tensor], names: Iterable[str]) -> None:
    if missing := [name for name in names if name not in tensors]:
        raise _not_plain(files, f"it lacks {name_some(missing)} (timm's names)")


def _not_plain(files: WeightFiles, reason: str) -> DataError:
    return DataError(f"{files.weights} is not a plain vision transformer: {reason}.")
