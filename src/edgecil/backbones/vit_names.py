"""The names under which weight files hold a vision transformer.

timm, transformers and the CLIP implementations store one network under different names, with the
attention's three input projections stacked or apart. The names of
:class:`~edgecil.backbones.vit.ViT` are timm's; the others are translated to them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

from edgecil.backbones.vit_settings import CONFIG, OPEN_CLIP_CONFIG

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
