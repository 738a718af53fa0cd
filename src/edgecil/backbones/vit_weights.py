"""Reading a vision transformer from a weight file of timm, transformers, CLIP or open_clip.

Names are translated to those of timm. Sizes come from the tensors, the rest from the configuration
beside them: that of edgecil (.json of the same name), transformers, timm or open_clip.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import torch
from torch.nn import functional

from edgecil.backbones.resnet_weights import holds_resnet
from edgecil.backbones.vit import ViT, ViTLayout
from edgecil.data.augment import Normalise
from edgecil.errors import DataError, UsageError, name_some
from edgecil.io.files import read_json
from edgecil.io.toml import read_toml
from edgecil.io.weights import WeightFiles, read_tensors

_HEADS = {1280: 16, 1408: 16, 1664: 16}  # heads of ViT-H, g and G by width, which are wider
_PATCHES, _FIRST_MLP = "patch_embed.proj.weight", "blocks.0.mlp.fc1.weight"

CONFIG, OPEN_CLIP_CONFIG = "config.json", "open_clip_config.json"
PREPROCESSOR = "preprocessor_config.json"
SETTINGS = (CONFIG, OPEN_CLIP_CONFIG, PREPROCESSOR)
HEAD_WIDTH = 64  # default width of an attention head


def _described_layout(files: WeightFiles) -> ViTLayout | None:
    """Return the layout in edgecil's own description of the weights, if there is one."""
    path = _description(files)
    described = _inside(path, "layout")
    return _valid_layout(path, described) if described else None


def configured_layout(config: Path) -> dict[str, Any]:
    """Read the fields of a ViTLayout from a configuration of transformers, timm or open_clip."""
    held = _inside(config)
    if config.name == OPEN_CLIP_CONFIG:
        model = _inside(config, "model_cfg") or held
        vision = _inside(config, "model_cfg", "vision_cfg") or _inside(config, "vision_cfg")
        configured = {
            "width": vision.get("width"),
            "depth": vision.get("layers"),
            "heads": _open_clip_heads(vision),
            "activation": "quick_gelu" if model.get("quick_gelu") else "gelu",
        }
    else:
        vision = _inside(config, "vision_config") or held
        quick = "quickgelu" in str(held.get("architecture"))  # a part of the name in timm
        configured = {
            "width": vision.get("hidden_size"),
            "depth": vision.get("num_hidden_layers"),
            "heads": vision.get("num_attention_heads"),
            "norm_eps": vision.get("layer_norm_eps"),
            "activation": "quick_gelu" if quick else vision.get("hidden_act"),
        }
    configured = {name: value for name, value in configured.items() if held and value is not None}
    _valid_layout(config, configured)
    return configured


def _valid_layout(path: Path, configured: dict[str, Any]) -> ViTLayout:
    try:
        layout = msgspec.convert(configured, ViTLayout)
    except msgspec.ValidationError as error:
        raise DataError(f"{path} does not describe a vision transformer: {error}.") from error
    if min(layout.width, layout.depth, layout.heads, layout.norm_eps) <= 0:
        raise DataError(f"{path} does not describe a vision transformer: a size is below 1.")
    return layout


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
    try:
        if not any(msgspec.convert([mean, std], list[list[float]])):
            raise UsageError("Both lists are empty.")
        return Normalise(tuple(mean), tuple(std))
    except (msgspec.ValidationError, UsageError) as error:
        raise DataError(f"{path} has no valid normalisation: {error}") from error


def _description(files: WeightFiles) -> Path:
    return files.weights.with_suffix(".json")


def _open_clip_heads(vision: Mapping[str, Any]) -> Any:
    """Return the number of attention heads of an open_clip image tower, if its width is given."""
    width, head_width = vision.get("width"), vision.get("head_width", HEAD_WIDTH)
    if type(width) is not int or type(head_width) is not int or head_width < 1:
        return None
    return width / head_width if width % head_width else width // head_width


def _inside(path: Path, *names: str) -> dict[str, Any]:
    """Return the object at a path of names in a JSON file; empty if there is none."""
    held = read_json(path) if path.is_file() else {}
    for name in ("", *names):
        if name:
            held = {} if held.get(name) is None else held[name]
        if not isinstance(held, dict):
            raise DataError(f"{path} is not a configuration: {name or 'it'} is no JSON object.")
    return held


# Where a file holds more than the image tower, the tower's names begin with one of these.
_TOWERS = ("vision_model.", "visual.", "vit.", "backbone.")
# Tensors after the features, and tensors that are no weights.
_LEFT_OUT = ("head.", "pre_logits.", "pooler.", "proj", "embeddings.position_ids")


@dataclass(frozen=True)
class Naming:
    """How one family of files names the tensors of an image tower; see data/vit_names.toml."""

    mark: str
    parts: Mapping[str, str] = field(default_factory=dict)
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
        for theirs, ours in self.parts.items():
            name = name.replace(theirs, ours)
        return name


@cache
def namings() -> tuple[Naming, ...]:
    """Return the families that are known."""
    table = read_toml(Path(__file__).parent / "data" / "vit_names.toml")
    return tuple(Naming(**entry) for entry in table["naming"])


class ViTWeights(NamedTuple):
    """A layout, and the complete state of a ViT with it for the image size of its training."""

    layout: ViTLayout
    tensors: dict[str, torch.Tensor]


def read_vit(files: WeightFiles) -> ViTWeights:
    """Return the vision transformer in a model's files, without classifier and text tower.

    edgecil's own weights have a description of the same name (.json); others are recognised by the
    names of their tensors.
    """
    tensors = read_tensors(files.weights)
    if described := _described_layout(files):
        return _checked(files, described, tensors)
    for tower in _TOWERS:
        inside = [name.removeprefix(tower) for name in tensors if name.startswith(tower)]
        tensors = {name: tensors[tower + name] for name in inside} or tensors
    naming = next((naming for naming in namings() if naming.mark in tensors), None)
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
    """Interpolate position embeddings (1, 1 + side², d) to (1, 1 + down · across, d).

    The class token's does not change. Bicubic without antialiasing, as in DINO and transformers;
    timm uses antialiasing.
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
    counters = [name for name in expected_state if name.endswith("num_batches_tracked")]
    complete = {**dict.fromkeys(counters, torch.tensor(0)), **tensors}
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
