"""The vision transformer in a weight file, whichever layout it is in.

Names are translated (:mod:`edgecil.backbones.vit_names`), sizes are read off the tensors, and what
these cannot tell off the settings beside them (:mod:`edgecil.backbones.vit_settings`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import torch
from torch.nn import functional

from edgecil.backbones.vit import ViT, ViTLayout
from edgecil.backbones.vit_names import Naming, image_tower, recognise
from edgecil.backbones.vit_settings import HEAD_WIDTH, described_layout, told_layout
from edgecil.errors import DataError, name_some
from edgecil.io.weights import WeightFiles, read_tensors

_HEADS = {1280: 16, 1408: 16, 1664: 16}  # of ViT-H, g and G, by width: theirs are wider
_PATCHES, _FIRST_MLP = "patch_embed.proj.weight", "blocks.0.mlp.fc1.weight"


@dataclass(frozen=True, eq=False)
class ViTWeights:
    """A vision transformer as a file holds it.

    Attributes:
        layout: its sizes.
        tensors: the whole state of a :class:`~edgecil.backbones.vit.ViT` of this layout, for the
            image size that it was trained on.
    """

    layout: ViTLayout
    tensors: dict[str, torch.Tensor]


def read_vit(files: WeightFiles) -> ViTWeights:
    """The vision transformer in a model's files; classifiers and text towers are left out.

    Weights of our own making have a description of the same name (.json) beside them; all others
    are recognised by the names of their tensors.
    """
    tensors = read_tensors(files.weights)
    if described := described_layout(files):
        return _checked(files, described, tensors)
    tensors = image_tower(tensors)
    naming = recognise(tensors)
    if naming is None:
        raise DataError(
            f"{files.weights} holds no vision transformer: none of its tensors has the name of a "
            "class token in timm, DINO, transformers, CLIP or open_clip."
        )
    tensors = naming.translate(tensors)
    return _checked(files, _read_layout(files, naming, tensors), tensors)


def resize_positions(positions: torch.Tensor, grid: tuple[int, int]) -> torch.Tensor:
    """Position embeddings for another grid of patches; the class token's stays as it is.

    Bicubic without antialiasing, as DINO and transformers do it; timm does it with.

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
    told = told_layout(config)
    for size, value in seen.items():
        if told.get(size, value) != value:
            raise DataError(
                f"{files.weights} does not belong to {config}: its {size} is {value}, the "
                f"configuration's {told[size]}."
            )
    if told.get("activation", "gelu") not in ("gelu", "quick_gelu"):
        raise DataError(
            f"{config} asks for the activation {told['activation']!r}; only gelu and quick_gelu "
            "are known."
        )
    heads = told.get("heads") or _HEADS.get(width, width / HEAD_WIDTH)
    if heads != int(heads) or width % heads:
        raise DataError(
            f"Tokens of width {width} do not tell how many heads {files.weights} has; say it "
            f"(num_attention_heads) in {config}."
        )
    return ViTLayout(
        channels=channels,
        patch=patch,
        hidden=len(tensors[_FIRST_MLP]),
        patch_bias="patch_embed.proj.bias" in tensors,
        first_norm="norm_pre.weight" in tensors,
        **{**naming.layout, **told, **seen, "heads": int(heads)},
    )


def _checked(
    files: WeightFiles, layout: ViTLayout, tensors: Mapping[str, torch.Tensor]
) -> ViTWeights:
    """The weights, if they are all that a network of the layout has, and nothing else."""
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
    wanted = network.state_dict()
    counts = {name: torch.tensor(0) for name in wanted if name.endswith("num_batches_tracked")}
    complete = {**counts, **tensors}
    _require(files, complete, wanted)
    if extra := sorted(complete.keys() - wanted.keys()):
        raise _not_plain(files, f"it also has {name_some(extra)}")
    for name, tensor in complete.items():
        found, expected = tuple(tensor.shape), tuple(wanted[name].shape)
        if found != expected:
            raise _not_plain(files, f"{name} has shape {found} instead of {expected}")
        if not bool(tensor.isfinite().all()):
            raise DataError(
                f"{files.weights} is of no use: {name} holds values that are not finite numbers."
            )
    return ViTWeights(layout, complete)


def _require(files: WeightFiles, tensors: Mapping[str, torch.Tensor], names: Iterable[str]) -> None:
    if missing := [name for name in names if name not in tensors]:
        raise _not_plain(files, f"it lacks {name_some(missing)} (timm's names)")


def _not_plain(files: WeightFiles, reason: str) -> DataError:
    return DataError(f"{files.weights} is not a plain vision transformer: {reason}.")
