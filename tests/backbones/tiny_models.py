"""Tiny random vision transformers on disk, in the layouts that weight files have."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from safetensors.torch import load_file, save_file
from torch import nn

if TYPE_CHECKING:  # its models take seconds to import, which tests without them need not wait for
    import transformers

SIZE, PATCH, WIDTH, HEADS, DEPTH, HIDDEN = 24, 8, 64, 2, 3, 48
SIZES: dict[str, Any] = {
    "image_size": SIZE,
    "patch_size": PATCH,
    "hidden_size": WIDTH,
    "num_attention_heads": HEADS,
    "num_hidden_layers": DEPTH,
    "intermediate_size": HIDDEN,
}


def randomise(network: nn.Module) -> nn.Module:
    """Every weight at random, so that no two can be mistaken for each other."""
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.copy_(0.3 * torch.randn(parameter.shape, generator=generator))
    return network.eval()


def transformers_vit(**changes: Any) -> transformers.ViTModel:
    from transformers import ViTConfig, ViTModel

    return randomise(ViTModel(ViTConfig(**{**SIZES, **changes})))


def transformers_classifier() -> transformers.ViTForImageClassification:
    from transformers import ViTConfig, ViTForImageClassification

    return randomise(ViTForImageClassification(ViTConfig(**SIZES)))


def transformers_clip_vision(**changes: Any) -> transformers.CLIPVisionModelWithProjection:
    from transformers import CLIPVisionConfig, CLIPVisionModelWithProjection

    return randomise(CLIPVisionModelWithProjection(CLIPVisionConfig(**{**SIZES, **changes})))


def transformers_clip() -> transformers.CLIPModel:
    from transformers import CLIPConfig, CLIPModel

    text = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "vocab_size": 9}
    ids = {"bos_token_id": 0, "eos_token_id": 1, "pad_token_id": 2, "intermediate_size": 16}
    return randomise(CLIPModel(CLIPConfig(vision_config=SIZES, text_config={**text, **ids})))


def timm_state(model: transformers.ViTModel, folder: Path) -> dict[str, torch.Tensor]:
    """A transformers ViT's weights under the names that timm gives them, written out one by one."""
    model.save_pretrained(folder)
    held = load_file(folder / "model.safetensors")
    state = {
        "cls_token": held["embeddings.cls_token"],
        "pos_embed": held["embeddings.position_embeddings"],
        "patch_embed.proj.weight": held["embeddings.patch_embeddings.projection.weight"],
        "patch_embed.proj.bias": held["embeddings.patch_embeddings.projection.bias"],
        "norm.weight": held["layernorm.weight"],
        "norm.bias": held["layernorm.bias"],
        "head.weight": torch.zeros(5, WIDTH),
        "head.bias": torch.zeros(5),
    }
    for index in range(DEPTH):
        theirs, ours = f"encoder.layer.{index}", f"blocks.{index}"
        for kind in ("weight", "bias"):
            state |= {
                f"{ours}.norm1.{kind}": held[f"{theirs}.layernorm_before.{kind}"],
                f"{ours}.attn.qkv.{kind}": torch.cat(
                    [
                        held[f"{theirs}.attention.attention.{part}.{kind}"]
                        for part in ("query", "key", "value")
                    ]
                ),
                f"{ours}.attn.proj.{kind}": held[f"{theirs}.attention.output.dense.{kind}"],
                f"{ours}.norm2.{kind}": held[f"{theirs}.layernorm_after.{kind}"],
                f"{ours}.mlp.fc1.{kind}": held[f"{theirs}.intermediate.dense.{kind}"],
                f"{ours}.mlp.fc2.{kind}": held[f"{theirs}.output.dense.{kind}"],
            }
    return state


def save_state(folder: Path, state: dict[str, torch.Tensor]) -> Path:
    """`state` alone in a folder; the path of its file."""
    folder.mkdir(exist_ok=True)
    save_file(
        {name: tensor.clone() for name, tensor in state.items()}, folder / "model.safetensors"
    )
    return folder / "model.safetensors"


class _Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.attn = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)
        self.mlp = nn.ModuleDict(
            {"c_fc": nn.Linear(WIDTH, HIDDEN), "c_proj": nn.Linear(HIDDEN, WIDTH)}
        )

    def forward(self, tokens: torch.Tensor, quick: bool) -> torch.Tensor:
        normed = self.ln_1(tokens)
        tokens = tokens + self.attn(normed, normed, normed, need_weights=False)[0]
        inner = self.mlp["c_fc"](self.ln_2(tokens))
        inner = inner * torch.sigmoid(1.702 * inner) if quick else nn.functional.gelu(inner)
        return tokens + self.mlp["c_proj"](inner)


class PlainClipTower(nn.Module):
    """OpenAI's CLIP image tower written out, with its parameter names."""

    def __init__(self) -> None:
        super().__init__()
        self.class_embedding = nn.Parameter(torch.zeros(WIDTH))
        self.positional_embedding = nn.Parameter(torch.zeros(1 + (SIZE // PATCH) ** 2, WIDTH))
        self.proj = nn.Parameter(torch.zeros(WIDTH, 7))
        self.conv1 = nn.Conv2d(3, WIDTH, PATCH, PATCH, bias=False)
        self.ln_pre, self.ln_post = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.transformer = nn.ModuleDict(
            {"resblocks": nn.ModuleList(_Block() for _ in range(DEPTH))}
        )
        randomise(self)

    def forward(self, images: torch.Tensor, quick: bool) -> torch.Tensor:
        """The class token (n, d) after the last norm, before the projection."""
        patches = self.conv1(images).flatten(2).mT
        first = self.class_embedding.expand(len(images), 1, WIDTH)
        tokens = self.ln_pre(torch.cat([first, patches], dim=1) + self.positional_embedding)
        for block in self.transformer["resblocks"]:
            tokens = block(tokens, quick)
        return self.ln_post(tokens[:, 0])
