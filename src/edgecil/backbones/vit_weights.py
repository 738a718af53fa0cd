"""Reading a vision transformer from a weight file of timm, transformers, CLIP or open_clip.

Names are translated (:mod:`edgecil.backbones.vit_names`). Sizes come from the tensors, the rest
from the configuration beside them (:mod:`edgecil.backbones.vit_settings`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import torch
from torch.nn import functional

from edgecil.backbones.resnet_weights import holds_resnet
from edgecil.backbones.vit import ViT, ViTLayout
from edgecil.backbones.vit_names import Naming, image_tower, recognise
from edgecil.backbones.vit_settings import HEAD_WIDTH, configured_layout, described_layout
from edgecil.errors import DataError, name_some
from edgecil.io.weights import WeightFiles, read_tensors

_HEADS = {1280: 16, 1408: 16, 1664: 16}  # heads of ViT-H, g and G by width, which are wider
_PATCHES, _FIRST_MLP = "patch_embed.proj.weight", "blocks.0.mlp.fc1.weight"


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
