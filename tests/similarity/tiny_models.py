"""Tiny random CLIP text towers on disk, written out independently of transformers."""

from __future__ import annotations

import json
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import nn

from edgecil.similarity import ClipEncoder
from edgecil.similarity.text_models import locate_encoder
from tests.backbones.tiny_models import ClipBlock

WORDS = ("a", "photo", "of", "cat", "dog", ".")
CONTEXT, WIDTH, HEADS, LAYERS, PROJECTION = 12, 128, 2, 3, 24


def write_clip_tokenizer(folder: Path) -> int:
    """A byte-pair tokenizer with CLIP's conventions; the number of its tokens."""
    letters = sorted(set("".join(WORDS)) | set("abcdefghijklmnopqrstuvwxyz"))
    vocabulary = [*letters, *(f"{letter}</w>" for letter in letters)]
    merges = []
    for word in WORDS:
        pieces = [*word[:-1], f"{word[-1]}</w>"]
        while len(pieces) > 1:
            merges.append(f"{pieces[0]} {pieces[1]}")
            pieces[:2] = ["".join(pieces[:2])]
            vocabulary.append(pieces[0])
    vocabulary = [*dict.fromkeys(vocabulary), "<|startoftext|>", "<|endoftext|>"]
    (folder / "vocab.json").write_text(
        json.dumps({token: index for index, token in enumerate(vocabulary)}), encoding="utf-8"
    )
    lines = ["#version: 0.2", *dict.fromkeys(merges)]
    (folder / "merges.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return len(vocabulary)


class PlainClip(nn.Module):
    """OpenAI's CLIP text tower written out: its parameter names, zero padding, argmax pooling."""

    def __init__(self, vocabulary: int) -> None:
        super().__init__()
        self.token_embedding = nn.Embedding(vocabulary, WIDTH)
        self.positional_embedding = nn.Parameter(torch.randn(CONTEXT, WIDTH))
        blocks = (ClipBlock(WIDTH, HEADS, 4 * WIDTH, causal=True) for _ in range(LAYERS))
        self.transformer = nn.ModuleDict({"resblocks": nn.ModuleList(blocks)})
        self.ln_final = nn.LayerNorm(WIDTH)
        self.text_projection = nn.Parameter(torch.randn(WIDTH, PROJECTION))
        for parameter in self.parameters():
            nn.init.normal_(parameter, std=0.3)

    def forward(self, ids: torch.Tensor, quick: bool = True) -> torch.Tensor:
        """Features (n, projection) of zero-padded ids (n, context)."""
        x = self.token_embedding(ids) + self.positional_embedding
        for block in self.transformer["resblocks"]:
            x = block(x, quick)
        pooled = self.ln_final(x)[torch.arange(len(ids)), ids.argmax(dim=-1)]
        return pooled @ self.text_projection


def open_clip_config(**changes: object) -> dict[str, object]:
    text = {"width": WIDTH, "heads": HEADS, "layers": LAYERS, "context_length": CONTEXT}
    return {"model_cfg": {"embed_dim": PROJECTION, "quick_gelu": True, "text_cfg": text, **changes}}


def save_open_clip(folder: Path, tower: PlainClip, prefix: str = "", **changes: object) -> None:
    state = {f"{prefix}{name}": value.clone() for name, value in tower.state_dict().items()}
    state["visual.conv1.weight"] = torch.zeros(2, 2)
    save_file(state, folder / "open_clip_model.safetensors")
    (folder / "open_clip_config.json").write_text(
        json.dumps(open_clip_config(**changes)), encoding="utf-8"
    )


def load_clip(weights: Path, **options: bool) -> ClipEncoder:
    return ClipEncoder("clip", locate_encoder("clip", weights, ""), **options)
