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


def renamed(name: str, parts: dict[str, str]) -> str:
    """A tensor's name with its parts replaced, in the order given."""
    for theirs, ours in parts.items():
        name = name.replace(theirs, ours)
    return name


def timm_state(model: transformers.ViTModel, folder: Path) -> dict[str, torch.Tensor]:
    """A transformers ViT's weights under the names that timm gives them."""
    model.save_pretrained(folder)
    held = load_file(folder / "model.safetensors")
    names = {
        "embeddings.cls_token": "cls_token",
        "embeddings.position_embeddings": "pos_embed",
        "embeddings.patch_embeddings.projection": "patch_embed.proj",
        "encoder.layer": "blocks",
        "layernorm_before": "norm1",
        "layernorm_after": "norm2",
        "attention.output.dense": "attn.proj",
        "intermediate.dense": "mlp.fc1",
        "output.dense": "mlp.fc2",
        "layernorm": "norm",
    }
    state = {renamed(name, names): tensor for name, tensor in held.items()}
    for index in range(DEPTH):
        block = f"blocks.{index}.att"
        for kind in ("weight", "bias"):
            parts = [
                state.pop(f"{block}ention.attention.{part}.{kind}")
                for part in ("query", "key", "value")
            ]
            state[f"{block}n.qkv.{kind}"] = torch.cat(parts)
    state = {name: tensor for name, tensor in state.items() if not name.startswith("pooler")}
    state |= {"head.weight": torch.zeros(5, WIDTH), "head.bias": torch.zeros(5)}
    return state


def save_state(folder: Path, state: dict[str, torch.Tensor]) -> Path:
    """`state` alone in a folder; the path of its file."""
    folder.mkdir(exist_ok=True)
    save_file(
        {name: tensor.clone() for name, tensor in state.items()}, folder / "model.safetensors"
    )
    return folder / "model.safetensors"


class ClipBlock(nn.Module):
    """A block of CLIP's transformers with OpenAI's parameter names."""

    def __init__(self, width: int, heads: int, hidden: int, *, causal: bool = False) -> None:
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attn = nn.MultiheadAttention(width, heads, batch_first=True)
        self.mlp = nn.ModuleDict(
            {"c_fc": nn.Linear(width, hidden), "c_proj": nn.Linear(hidden, width)}
        )
        self.causal = causal

    def forward(self, x: torch.Tensor, quick: bool) -> torch.Tensor:
        mask = torch.full((x.shape[1], x.shape[1]), -torch.inf).triu(1) if self.causal else None
        normed = self.ln_1(x)
        x = x + self.attn(normed, normed, normed, attn_mask=mask, need_weights=False)[0]
        inner = self.mlp["c_fc"](self.ln_2(x))
        inner = inner * torch.sigmoid(1.702 * inner) if quick else nn.functional.gelu(inner)
        return x + self.mlp["c_proj"](inner)


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
            {"resblocks": nn.ModuleList(ClipBlock(WIDTH, HEADS, HIDDEN) for _ in range(DEPTH))}
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
