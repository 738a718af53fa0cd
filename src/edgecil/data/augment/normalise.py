"""From stored bytes to what a network sees."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch

from edgecil.errors import UsageError

_CHUNK = 2**21  # pixel values whose squares are in memory at once


@dataclass(frozen=True)
class Normalise:
    """Shift and scale channels to mean 0 and variance 1 over a data set.

    Attributes:
        mean: c channel means, for values in [0, 1].
        std: c standard deviations, all positive.
    """

    mean: tuple[float, ...]
    std: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.mean) != len(self.std) or not all(s > 0 for s in self.std):
            raise UsageError(
                "Normalisation needs one mean and one positive std per channel. "
                f"Got mean {self.mean} and std {self.std}."
            )

    def __call__(self, images: torch.Tensor) -> torch.Tensor:
        """Return normalised images (n, c, h, w); the given ones stay as they are."""
        mean, std = (
            constant(values, images)[None, :, None, None] for values in (self.mean, self.std)
        )
        return (images - mean).div_(std)


@cache
def _constant(values: Any, kind: torch.dtype, device: torch.device) -> torch.Tensor:
    return torch.tensor(values, dtype=kind, device=device)


def constant(values: tuple[Any, ...], like: torch.Tensor) -> torch.Tensor:
    """Return numbers as a tensor of the type and on the device of another; made once for each."""
    return _constant(values, like.dtype, like.device)


def to_float(pixels: torch.Tensor) -> torch.Tensor:
    """Return floats in [0, 1] from uint8 pixels of any shape.

    >>> to_float(torch.tensor([0, 51, 255], dtype=torch.uint8))
    tensor([0.0000, 0.2000, 1.0000])
    """
    if pixels.dtype != torch.uint8:
        raise UsageError(f"Pixels must be uint8. Got {pixels.dtype} instead.")
    return pixels.to(torch.float32).div_(255)


def channel_statistics(pixels: torch.Tensor) -> Normalise:
    """Return the mean and standard deviation (ddof 0) of each channel, from exact integer sums.

    A channel that never changes gets standard deviation 1.

    Args:
        pixels: (n, c, h, w) uint8, the training images.
    """
    if pixels.dtype != torch.uint8 or pixels.ndim != 4 or pixels.numel() == 0:
        raise UsageError(
            "Statistics need uint8 pixels (n, c, h, w), at least one. "
            f"Got {pixels.dtype} of shape {tuple(pixels.shape)}."
        )
    channels = pixels.shape[1]
    count = pixels.numel() // channels
    sums, squares = [0] * channels, [0] * channels
    for part in pixels.split(max(1, _CHUNK // pixels[0].numel())):
        values = part.to(torch.int32)
        for totals, powers in ((sums, values), (squares, values * values)):
            for channel, total in enumerate(powers.sum(dim=(0, 2, 3)).tolist()):
                totals[channel] += total
    spread = (
        math.sqrt(count * square - total * total) / count
        for total, square in zip(sums, squares, strict=True)
    )
    return Normalise(
        tuple(total / count / 255 for total in sums), tuple(s / 255 or 1.0 for s in spread)
    )
