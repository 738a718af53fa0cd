"""Reading a vision transformer from a weight file of timm, transformers, CLIP or open_clip.

Names are translated to timm's. Sizes come from the tensors, the rest from the configuration
beside them: edgecil's own (.json of the same name), or one of transformers, timm or open_clip.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec
import torch
from torch.nn import functional

from edgecil.backbones.vit import ViTLayout
from edgecil.data.augment import Normalise
from edgecil.errors import DataError, UsageError, name_some
from edgecil.io.files import read_json, read_toml
from edgecil.io.weights import WeightFiles, read_tensors

Tensors = dict[str, torch.Tensor]

_HEADS = {1280: 16, 1408: 16, 1664: 16}  # heads of ViT-H, g and G by width, which are wider
_PATCHES, _FIRST_MLP = "patch_embed.proj.weight", "blocks.0.mlp.fc1.weight"

CONFIG, OPEN_CLIP_CONFIG = "config.json", "open_clip_config.json"
PREPROCESSOR = "preprocessor_config.json"
SETTINGS = (CONFIG, OPEN_CLIP_CONFIG, PREPROCESSOR)
HEAD_WIDTH = 64  # default width of an attention head

_Kind = TypeVar("_Kind")


class _OpenClipTower(msgspec.Struct):
    """The sizes of an image tower in open_clip's configuration."""

    width: int | None = None
    layers: int | None = None
    head_width: Annotated[int, msgspec.Meta(ge=1)] = HEAD_WIDTH


def configured_layout(config: Path) -> dict[str, Any]:
    """Read the fields of a ViTLayout from a configuration of transformers, timm or open_clip."""
    content = _inside(config)
    if config.name == OPEN_CLIP_CONFIG:
        model = _inside(config, "model_cfg") or content
        vision = _inside(config, "model_cfg", "vision_cfg") or _inside(config, "vision_cfg")
        tower = _converted(config, vision, _OpenClipTower)
        configured = {
            "width": tower.width,
            "depth": tower.layers,
            "heads": tower.width and tower.width // tower.head_width,
            "activation": "quick_gelu" if model.get("quick_gelu") else "gelu",
        }
    else:
        vision = _inside(config, "vision_config") or content
        quick = "quickgelu" in str(content.get("architecture"))  # a part of the name in timm
        configured = {
            "width": vision.get("hidden_size"),
            "depth": vision.get("num_hidden_layers"),
            "heads": vision.get("num_attention_heads"),
            "norm_eps": vision.get("layer_norm_eps"),
            "activation": "quick_gelu" if quick else vision.get("hidden_act"),
        }
    configured = {
        name: value for name, value in configured.items() if content and value is not None
    }
    _layout(config, configured)
    return configured


def _layout(path: Path, configured: dict[str, Any]) -> ViTLayout:
    layout = _converted(path, configured, ViTLayout)
    if min(layout.width, layout.depth, layout.heads, layout.norm_eps) <= 0:
        raise DataError(f"{path} does not describe a vision transformer: a size is below 1.")
    return layout


def _converted(path: Path, values: dict[str, Any], kind: type[_Kind]) -> _Kind:
    try:
        return msgspec.convert(values, kind)
    except msgspec.ValidationError as error:
        raise DataError(f"{path} does not describe a vision transformer: {error}.") from error


def configured_statistics(files: WeightFiles) -> Normalise | None:
    """Return the normalisation of images, if one of the files defines it."""
    for path, *inside in (
        (files.weights.with_suffix(".json"),),
        (files.folder / PREPROCESSOR,),
        (files.folder / CONFIG, "pretrained_cfg"),
        (files.folder / OPEN_CLIP_CONFIG, "preprocess_cfg"),
    ):
        configured = _inside(path, *inside)
        for names in (("mean", "std"), ("image_mean", "image_std")):
            mean, std = (configured.get(name) for name in names)
            if mean is None or std is None:
                continue
            try:
                if not any(msgspec.convert([mean, std], list[list[float]])):
                    raise UsageError("Both lists are empty.")
                return Normalise(tuple(mean), tuple(std))
            except (msgspec.ValidationError, UsageError) as error:
                raise DataError(f"{path} has no valid normalisation: {error}") from error
    return None


def _inside(path: Path, *names: str) -> dict[str, Any]:
    """Return the object at a path of names in a JSON file; empty if there is none."""
    content = read_json(path) if path.is_file() else {}
    for name in ("", *names):
        if name:
            content = {} if content.get(name) is None else content[name]
        if not isinstance(content, dict):
            raise DataError(f"{path} is not a configuration: {name or 'it'} is no JSON object.")
    return content


# Where a file holds more than the image tower, the tower's names begin with one of these.
_TOWERS = ("vision_model.", "visual.", "vit.", "backbone.")
# Tensors after the features, and tensors that are no weights.
_LEFT_OUT = ("head.", "pre_logits.", "pooler.", "proj", "embeddings.position_ids")
_FAMILIES = read_toml(Path(__file__).parent / "data" / "vit_names.toml")["naming"]


def read_vit(files: WeightFiles) -> tuple[ViTLayout, Tensors]:
    """Return the vision transformer in a model's files, without classifier and text tower.

    Its tensors are those for the image size of its training. edgecil's own weights have a
    description of the same name (.json); others are recognised by the names of their tensors.
    """
    tensors = read_tensors(files.weights)
    description = files.weights.with_suffix(".json")
    if described := _inside(description, "layout"):
        layout = _layout(description, described)
    else:
        family, tensors = _translate(files, tensors)
        layout = _read_layout(files, family, tensors)
    _require(files, tensors, ("pos_embed",))
    shape = tuple(tensors["pos_embed"].shape)
    positions = shape[1] if len(shape) == 3 else 0
    side = math.isqrt(max(0, positions - 1))
    if side == 0 or side**2 != positions - 1:
        reason = f"position embeddings of shape {shape} are not a class token's and a square's"
        raise _not_plain(files, reason)
    if layout.width % layout.heads:
        raise _not_plain(files, f"{layout.heads} heads do not divide the width {layout.width}")
    return layout, tensors


def _translate(files: WeightFiles, tensors: Tensors) -> tuple[dict[str, Any], Tensors]:
    """Return the family of a file, and an image tower's tensors by our names.

    The three projections of an attention are stacked.
    """
    for tower in _TOWERS:
        inside = [name.removeprefix(tower) for name in tensors if name.startswith(tower)]
        tensors = {name: tensors[tower + name] for name in inside} or tensors
    family = next((family for family in _FAMILIES if family["mark"] in tensors), None)
    if family is None:
        raise DataError(
            f"{files.weights} contains no vision transformer: no tensor has the name of a class "
            "token in timm, DINO, transformers, CLIP or open_clip."
        )
    ours = {}
    for name, tensor in tensors.items():
        if not name.startswith(_LEFT_OUT):
            for theirs, our in family.get("parts", {}).items():
                name = name.replace(theirs, our)
            ours[name] = tensor
    for query in [name for name in ours if ".attn.q." in name]:
        apart = [query.replace(".q.", f".{part}.") for part in "qkv"]
        if all(name in ours for name in apart):
            ours[query.replace(".q.", ".qkv.")] = torch.cat([ours.pop(name) for name in apart])
    for name in {"cls_token", "pos_embed"} & ours.keys():
        ours[name] = ours[name].reshape(1, -1, ours[name].shape[-1])
    return family, ours


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


def _read_layout(files: WeightFiles, family: dict[str, Any], tensors: Tensors) -> ViTLayout:
    _require(files, tensors, (_PATCHES, _FIRST_MLP))
    if tensors[_PATCHES].ndim != 4:
        raise _not_plain(files, "its patches are not embedded by a convolution")
    width, channels, patch, _ = tensors[_PATCHES].shape
    blocks = [int(block[1]) for name in tensors if (block := re.match(r"blocks\.(\d+)\.", name))]
    seen = {"width": width, "depth": 1 + max(blocks)}
    config = files.folder / family.get("config", CONFIG)
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
        **{**family.get("layout", {}), **configured, **seen, "heads": int(heads)},
    )


def _require(files: WeightFiles, tensors: Tensors, names: Sequence[str]) -> None:
    if missing := [name for name in names if name not in tensors]:
        raise _not_plain(files, f"it lacks {name_some(missing)}")


def _not_plain(files: WeightFiles, reason: str) -> DataError:
    return DataError(f"{files.weights} is not a plain vision transformer: {reason}.")
