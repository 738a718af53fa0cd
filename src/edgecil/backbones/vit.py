"""The vision transformer (Dosovitskiy et al., ICLR 2021), with sockets.

One set of frozen weights serves every task and method: prompts, prefixes and adapters are
arguments of each forward call (:class:`Sockets`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

import torch
from torch import nn
from torch.nn import functional

from edgecil.backbones.resnet import Backbone
from edgecil.errors import UsageError

Prefix = tuple[torch.Tensor, torch.Tensor]


@dataclass(frozen=True)
class ViTLayout:
    """The sizes of a vision transformer; the defaults are ViT-B/16's.

    Attributes:
        channels: of the images.
        patch: side of a patch in pixels.
        width: length d of a token.
        depth: number of blocks.
        heads: of the attention.
        hidden: width of the MLPs.
        stem: `patch`, one linear map per patch; or `convolutions`, pairs of 3×3 convolutions with
            batch norm and GELU that reduce the image to one position per patch, which learn faster
            from few images.
        patch_bias: whether the patch's linear map has a bias (CLIP's has none).
        first_norm: whether tokens are normalised before the first block (CLIP).
        activation: activation of the MLPs; `quick_gelu` is x · sigmoid(1.702 x) (CLIP).
        norm_eps: of the layer norms.
    """

    channels: int = 3
    patch: int = 16
    width: int = 768
    depth: int = 12
    heads: int = 12
    hidden: int = 3072
    stem: Literal["patch", "convolutions"] = "patch"
    patch_bias: bool = True
    first_norm: bool = False
    activation: Literal["gelu", "quick_gelu"] = "gelu"
    norm_eps: float = 1e-6

    def grid(self, shape: tuple[int, ...]) -> tuple[int, int]:
        """Return patches down and across an image of a shape (channels, height, width)."""
        channels, height, width = shape
        if channels != self.channels:
            raise UsageError(
                f"This vision transformer requires images with {self.channels} channel(s). Got "
                f"{channels}; choose another model or convert the images."
            )
        if self.stem == "convolutions":
            return -(-height // self.patch), -(-width // self.patch)
        if height % self.patch or width % self.patch:
            raise UsageError(
                f"This vision transformer has patches of {self.patch}×{self.patch} pixels, so "
                f"image sides must be multiples of it. Got {height}×{width}; set `image_size`."
            )
        return height // self.patch, width // self.patch


@dataclass(frozen=True, eq=False)
class Sockets:
    """Prompts, prefixes and adapters of a forward call with n images.

    Attributes:
        prompts: tokens put before all others, (p, d) for every image or (n, p, d).
        prefixes: by block, further keys and values of its attention, each (p, d) or (n, p, d).
        adapters: one module per block, tokens to tokens, in parallel with the block's MLP.
    """

    prompts: torch.Tensor | None = None
    prefixes: Mapping[int, Prefix] = field(default_factory=dict)
    adapters: Sequence[nn.Module] | None = None


PLAIN = Sockets()


class ViT(Backbone):
    """A vision transformer for images of one shape, with pre-norm blocks and a class token.

    Attributes:
        layout: its sizes.
        grid: patches down and across.
        feature_size: length d of the class token.
    """

    def __init__(self, layout: ViTLayout, shape: tuple[int, ...]) -> None:
        super().__init__()
        self.layout = layout
        self.grid = layout.grid(shape)
        self.feature_size = layout.width
        self.patch_embed = PatchEmbedding(layout)
        self.cls_token = nn.Parameter(torch.zeros(1, 1, layout.width))
        tokens = 1 + self.grid[0] * self.grid[1]
        self.pos_embed = nn.Parameter(torch.zeros(1, tokens, layout.width))
        self.norm_pre: nn.Module = _norm(layout) if layout.first_norm else nn.Identity()
        self.blocks = nn.ModuleList(ViTBlock(layout) for _ in range(layout.depth))
        self.norm = _norm(layout)

    def forward(self, images: torch.Tensor, sockets: Sockets = PLAIN) -> torch.Tensor:
        """Return the class token's features (n, d) of normalised images (n, c, h, w)."""
        prompted = 0 if sockets.prompts is None else sockets.prompts.shape[-2]
        return self.encode(self.embed(images), sockets)[:, prompted]

    def embed(self, images: torch.Tensor) -> torch.Tensor:
        """Return the class token and the patches with their positions, (n, 1 + patches, d)."""
        patches = self.patch_embed(images)
        tokens = torch.cat([self.cls_token.expand(len(patches), -1, -1), patches], dim=1)
        return self.norm_pre(tokens + self.pos_embed)

    def encode(self, tokens: torch.Tensor, sockets: Sockets = PLAIN) -> torch.Tensor:
        """Return the normalised tokens (n, p + 1 + patches, d): prompts, class token, patches."""
        if sockets.prompts is not None:
            tokens = torch.cat([_per_image(sockets.prompts, len(tokens)), tokens], dim=1)
        for index, block in enumerate(self.blocks):
            adapter = None if sockets.adapters is None else sockets.adapters[index]
            tokens = block(tokens, sockets.prefixes.get(index), adapter)
        return self.norm(tokens)

    def reset_parameters(self, generator: torch.Generator) -> None:
        """Draw the class token and the positions: normal, std 0.02."""
        nn.init.normal_(self.cls_token, std=0.02, generator=generator)
        nn.init.normal_(self.pos_embed, std=0.02, generator=generator)


class PatchEmbedding(nn.Module):  # type: ignore[misc]
    """Images (n, c, h, w) to one token per patch, (n, patches, d), row by row."""

    def __init__(self, layout: ViTLayout) -> None:
        super().__init__()
        self.proj: nn.Module
        if layout.stem == "patch":
            self.proj = nn.Conv2d(
                layout.channels, layout.width, layout.patch, layout.patch, bias=layout.patch_bias
            )
        else:
            self.proj = _convolutions(layout)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Embed images (n, c, h, w) as tokens (n, patches, d)."""
        return self.proj(images).flatten(2).transpose(1, 2)


class ViTBlock(nn.Module):  # type: ignore[misc]
    """Attention and an MLP, each behind a layer norm and added to its input."""

    def __init__(self, layout: ViTLayout) -> None:
        super().__init__()
        self.norm1 = _norm(layout)
        self.attn = Attention(layout.width, layout.heads)
        self.norm2 = _norm(layout)
        self.mlp = FeedForward(layout)

    def forward(
        self, tokens: torch.Tensor, prefix: Prefix | None, adapter: nn.Module | None
    ) -> torch.Tensor:
        """Transform tokens (n, t, d) to tokens (n, t, d)."""
        tokens = tokens + self.attn(self.norm1(tokens), prefix)
        after = tokens + self.mlp(self.norm2(tokens))
        return after if adapter is None else after + adapter(tokens)


class Attention(nn.Module):  # type: ignore[misc]
    """Multi-head self-attention; a prefix adds keys and values."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)

    def forward(self, tokens: torch.Tensor, prefix: Prefix | None) -> torch.Tensor:
        """Transform tokens (n, t, d) to tokens (n, t, d)."""
        queries, keys, values = self.qkv(tokens).chunk(3, dim=-1)
        if prefix is not None:
            keys = torch.cat([_per_image(prefix[0], len(tokens)), keys], dim=1)
            values = torch.cat([_per_image(prefix[1], len(tokens)), values], dim=1)
        mixed = functional.scaled_dot_product_attention(
            self._split(queries), self._split(keys), self._split(values)
        )
        return self.proj(mixed.transpose(1, 2).flatten(2))

    def _split(self, tokens: torch.Tensor) -> torch.Tensor:
        """(n, t, d) to (n, heads, t, d / heads)."""
        return tokens.unflatten(-1, (self.heads, -1)).transpose(1, 2)


class FeedForward(nn.Module):  # type: ignore[misc]
    """Two linear maps with a smooth rectifier between them."""

    def __init__(self, layout: ViTLayout) -> None:
        super().__init__()
        self.fc1 = nn.Linear(layout.width, layout.hidden)
        self.fc2 = nn.Linear(layout.hidden, layout.width)
        self.activate = _ACTIVATIONS[layout.activation]

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Transform tokens (…, d) to tokens (…, d)."""
        return self.fc2(self.activate(self.fc1(tokens)))


def quick_gelu(values: torch.Tensor) -> torch.Tensor:
    """CLIP's approximation of GELU: x · sigmoid(1.702 x)."""
    return values * torch.sigmoid(1.702 * values)


_ACTIVATIONS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "gelu": functional.gelu,
    "quick_gelu": quick_gelu,
}


def _norm(layout: ViTLayout) -> nn.LayerNorm:
    return nn.LayerNorm(layout.width, eps=layout.norm_eps)


def _per_image(tokens: torch.Tensor, count: int) -> torch.Tensor:
    """Return tokens (p, d) repeated for each of `count` images; (n, p, d) as they are."""
    return tokens.expand(count, -1, -1) if tokens.ndim == 2 else tokens


def _convolutions(layout: ViTLayout) -> nn.Sequential:
    """Build pairs of 3×3 convolutions (strides 2 and 1) with doubling channels, then 1×1."""
    halvings = layout.patch.bit_length() - 1
    if 2**halvings != layout.patch:
        raise UsageError(
            f"A convolutional stem requires a power of two as patch size. Got {layout.patch}."
        )
    widths = [layout.channels, *(layout.width >> halvings - 1 - i for i in range(halvings))]
    layers: list[nn.Module] = []
    for before, after in pairwise(widths):
        for channels, stride in ((before, 2), (after, 1)):
            layers += [
                nn.Conv2d(channels, after, 3, stride=stride, padding=1, bias=False),
                nn.BatchNorm2d(after),
                nn.GELU(),
            ]
    return nn.Sequential(*layers, nn.Conv2d(layout.width, layout.width, 1))
