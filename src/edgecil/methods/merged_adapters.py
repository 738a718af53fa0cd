"""Merging of a task's adapters with the mean of all earlier ones, for MOS."""

from __future__ import annotations

import copy
from collections.abc import Sequence

import torch
from torch import nn


class MergedOnUse(nn.Module):  # type: ignore[misc]
    """A block's adapter that merges the adapters of all blocks before it is used.

    Weights are replaced, not modified, because the gradients of earlier blocks require the weights
    that these blocks used.
    """

    def __init__(
        self, adapters: nn.ModuleList, index: int, earlier: list[nn.ModuleList], share: float
    ) -> None:
        super().__init__()
        self.merged = adapters
        self.index, self.earlier, self.share = index, earlier, share

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Return the term to add to the MLP's output, (…, d)."""
        if self.earlier:
            means = mean_of(self.earlier).parameters()
            for ours, mean in zip(self.merged.parameters(), means, strict=True):
                ours.data = torch.lerp(ours.data, mean.data, self.share)
        return self.merged[self.index](tokens)


def mean_of(adapters: Sequence[nn.ModuleList]) -> nn.ModuleList:
    """Return frozen adapters whose weights are the means of several."""
    mean = copy.deepcopy(adapters[0]).requires_grad_(False)
    for ours, *theirs in zip(
        mean.parameters(), *(one.parameters() for one in adapters), strict=True
    ):
        ours.copy_(torch.stack(theirs).mean(dim=0))
    return mean


def merge(adapters: nn.ModuleList, earlier: list[nn.ModuleList], share: float) -> None:
    """Interpolate adapters in place towards the mean of all earlier ones."""
    with torch.no_grad():
        for ours, *theirs in zip(
            adapters.parameters(), *(one.parameters() for one in earlier), strict=True
        ):
            if theirs:
                ours.lerp_(torch.stack(theirs).mean(dim=0), share)
