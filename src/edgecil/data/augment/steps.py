"""Crops, flips, colours, holes and warps of images (n, c, h, w) in [0, 1], drawn per image."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch.nn import functional

from edgecil.errors import UsageError


def random_crop(
    images: torch.Tensor, generator: torch.Generator, *, padding: int = 4
) -> torch.Tensor:
    """Cut each image out of itself padded with `padding` zeros on every side.

    The offset is uniform over the (2 · padding + 1)² possible ones.
    """
    n, _, height, width = images.shape
    padded = functional.pad(images, (padding,) * 4)
    windows = padded.unfold(2, height, 1).unfold(3, width, 1)  # (n, c, top, left, h, w), a view
    top, left = torch.randint(
        2 * padding + 1, (2, n), generator=generator, device=images.device
    ).unbind()
    return windows[torch.arange(n, device=images.device), :, top, left]


def resized_crop(
    images: torch.Tensor,
    generator: torch.Generator,
    *,
    least: float = 0.08,
    size: tuple[int, int] | None = None,
) -> torch.Tensor:
    """Scale a random rectangle of each image to one size (Szegedy et al., 2015).

    The rectangle's area is uniform from `least` to 1 of the image's, the logarithm of its ratio of
    width to height is uniform from log 3/4 to log 4/3. A rectangle that does not fit is reduced to
    the image's width or height; torchvision draws again up to ten times and takes the centre then.
    The result has the height and width `size`, by default the same as the images.
    """
    n, _, height, width = images.shape
    new_height, new_width = size or (height, width)
    area, ratio, top, left = torch.rand(4, n, generator=generator, device=images.device)
    area = least + (1 - least) * area
    spread = math.log(4 / 3)
    root = torch.exp((2 * ratio - 1) * spread / 2) * math.sqrt(height / width)
    crop_width = (area.sqrt() * root).clamp(max=1.0)  # as shares of the image
    crop_height = (area.sqrt() / root).clamp(max=1.0)
    x = (1 - crop_width) * (2 * left - 1)
    y = (1 - crop_height) * (2 * top - 1)
    zero = torch.zeros_like(area)
    theta = torch.stack([crop_width, zero, x, zero, crop_height, y], dim=1).view(n, 2, 3)
    grid = functional.affine_grid(theta, [n, 1, new_height, new_width], align_corners=False)
    return functional.grid_sample(
        images, grid, mode="bilinear", padding_mode="border", align_corners=False
    )


def horizontal_flip(images: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Mirror each image, left to right, with probability one half."""
    flipped = torch.rand(len(images), generator=generator, device=images.device) < 0.5
    return torch.where(flipped.view(-1, 1, 1, 1), images.flip(-1), images)


def colour_jitter(
    images: torch.Tensor, generator: torch.Generator, *, brightness: float = 63 / 255
) -> torch.Tensor:
    """Change brightness by a factor uniform in 1 ± its range in [0, 1].

    The default is usual in class-incremental work on CIFAR.
    """
    # Two rows are drawn and one is used, so that later draws are as in stored results.
    draws = torch.rand(2, len(images), generator=generator, device=images.device)
    factors = 1 + constant((brightness,), images) * (2 * draws[0] - 1)
    return blend(torch.zeros_like(images), images, factors)


def cutout(
    images: torch.Tensor, generator: torch.Generator, *, size: int | None = None
) -> torch.Tensor:
    """Blacken a square whose centre lies anywhere in the image (DeVries and Taylor, 2017).

    The side `size` is by default half the shorter side of the image, 16 on CIFAR.
    """
    n, _, height, width = images.shape
    side = min(height, width) // 2 if size is None else size
    draws = torch.rand(2, n, 1, generator=generator, device=images.device)

    def covered(draw: torch.Tensor, length: int) -> torch.Tensor:
        start = (draw * length).long() - side // 2
        place = torch.arange(length, device=images.device)
        return (place >= start) & (place < start + side)

    hole = covered(draws[0], height)[:, :, None] & covered(draws[1], width)[:, None, :]
    return images.masked_fill(hole[:, None], 0.0)


def warp(
    images: torch.Tensor, theta: torch.Tensor, *, mode: str = "bilinear", fill: float = 0.0
) -> torch.Tensor:
    """Move each image by an affine map; `fill` is the value outside the image.

    The maps `theta` (n, 2, 3) lead from output to input (x, y); an image spans [-1, 1] in both.
    """
    grid = functional.affine_grid(theta, list(images.shape), align_corners=False)
    moved = functional.grid_sample(
        images - fill, grid, mode=mode, padding_mode="zeros", align_corners=False
    )
    return (moved + fill).clamp_(0, 1)


def blend(base: torch.Tensor, images: torch.Tensor, factor: torch.Tensor) -> torch.Tensor:
    """Go from `base` (factor 0) to `images` (1) or beyond, one factor (n,) per image; clamped."""
    return (base + factor.view(-1, 1, 1, 1) * (images - base)).clamp_(0, 1)


def grey(images: torch.Tensor) -> torch.Tensor:
    """Return the luminance (n, 1, h, w): ITU-R 601 weights for three channels, or else the mean."""
    if images.shape[1] != 3:
        return images.mean(dim=1, keepdim=True)
    weights = constant((0.299, 0.587, 0.114), images)
    return (images * weights.view(1, 3, 1, 1)).sum(dim=1, keepdim=True)


def mean_grey(images: torch.Tensor) -> torch.Tensor:
    """Return the mean luminance of each image, (n, 1, 1, 1)."""
    return grey(images).mean(dim=(2, 3), keepdim=True)


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
        """Return normalised copies of images (n, c, h, w)."""
        mean = constant(self.mean, images)[None, :, None, None]
        std = constant(self.std, images)[None, :, None, None]
        return (images - mean).div_(std)


@cache
def _constant(values: Any, kind: torch.dtype, device: torch.device) -> torch.Tensor:
    return torch.tensor(values, dtype=kind, device=device)


def constant(values: tuple[Any, ...], like: torch.Tensor) -> torch.Tensor:
    """Return numbers as a tensor of the type and on the device of another, from a cache."""
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
    """Return the mean and standard deviation (ddof 0) of each channel of (n, c, h, w) uint8 pixels.

    Sums are exact integers. A channel that never changes gets standard deviation 1.
    """
    if pixels.dtype != torch.uint8 or pixels.ndim != 4 or pixels.numel() == 0:
        raise UsageError(
            "Statistics need uint8 pixels (n, c, h, w), at least one. "
            f"Got {pixels.dtype} of shape {tuple(pixels.shape)}."
        )
    channels = pixels.shape[1]
    count = pixels.numel() // channels
    sums = [0] * channels
    squares = [0] * channels
    for part in pixels.split(max(1, _CHUNK // pixels[0].numel())):
        values = part.to(torch.int32)
        sums_of_part = values.sum(dim=(0, 2, 3)).tolist()
        squares_of_part = (values * values).sum(dim=(0, 2, 3)).tolist()
        for channel in range(channels):
            sums[channel] += sums_of_part[channel]
            squares[channel] += squares_of_part[channel]
    means, deviations = [], []
    for total, square in zip(sums, squares, strict=True):
        means.append(total / count / 255)
        deviation = math.sqrt(count * square - total * total) / count
        deviations.append(deviation / 255 or 1.0)
    return Normalise(tuple(means), tuple(deviations))
