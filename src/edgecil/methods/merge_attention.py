"""The attention by which TagFex merges the features of two extractors."""

from __future__ import annotations

from math import sqrt

import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention

from edgecil.errors import UsageError


class MergeAttention(nn.Module):  # type: ignore[misc]
    """Attention with queries from the newest extractor and keys and values from both."""

    def __init__(self, size: int, heads: int) -> None:
        super().__init__()
        if size % heads:
            raise UsageError(
                f"The number of attention heads must divide the feature size {size}. Got {heads}."
            )
        self.heads = heads
        self.agnostic_norm = nn.LayerNorm(size)
        self.newest_norm = nn.LayerNorm(size)
        self.weights = nn.Parameter(torch.zeros(5, size, size))

    def reset(self, generator: torch.Generator) -> None:
        """Reinitialise, with weights of variance 1 / size from a CPU generator."""
        self.agnostic_norm.reset_parameters()
        self.newest_norm.reset_parameters()
        drawn = torch.randn(self.weights.shape, generator=generator) / sqrt(self.weights.shape[-1])
        with torch.no_grad():
            self.weights.copy_(drawn)

    def forward(self, agnostic: torch.Tensor, newest: torch.Tensor) -> torch.Tensor:
        """Return merged features (n, d) of two extractors' maps (n, d, h, w)."""
        agnostic = self.agnostic_norm(agnostic.flatten(2).transpose(1, 2))
        newest = self.newest_norm(newest.flatten(2).transpose(1, 2))
        query, agnostic_key, newest_key, agnostic_value, newest_value = self.weights
        merged = scaled_dot_product_attention(
            self._split(newest @ query),
            self._split(torch.cat([agnostic @ agnostic_key, newest @ newest_key], dim=1)),
            self._split(torch.cat([agnostic @ agnostic_value, newest @ newest_value], dim=1)),
        )
        return merged.transpose(1, 2).flatten(2).mean(dim=1)

    def _split(self, tokens: torch.Tensor) -> torch.Tensor:
        """Return tokens (n, positions, d) by attention head: (n, heads, positions, d / heads)."""
        return tokens.unflatten(2, (self.heads, -1)).transpose(1, 2)
