"""Crops, flips, colours, holes and warps: floats (n, c, h, w) in [0, 1], one draw per image."""

from __future__ import annotations

import math

import torch
from torch.nn import functional

from edgecil.data.augment.normalise import constant


def random_crop(
    images: torch.Tensor, generator: torch.Generator, *, padding: int = 4
) -> torch.Tensor:
    """Cut each image out of itself padded with `padding` zeros on every side.

    Args:
        images: (n, c, h, w) floats.
        generator: one offset per image, uniform over the (2 · padding + 1)² possible ones.
        padding: largest shift in pixels.
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

    Args:
        images: (n, c, h, w) floats.
        generator: four numbers per image.
        least: least area as a share of the image's, in (0, 1].
        size: height and width of the result; the images' own by default.
    """
    n, _, height, width = images.shape
    down, across = size or (height, width)
    area, ratio, top, left = torch.rand(4, n, generator=generator, device=images.device)
    area = least + (1 - least) * area
    spread = math.log(4 / 3)
    root = torch.exp((2 * ratio - 1) * spread / 2) * math.sqrt(height / width)
    wide = (area.sqrt() * root).clamp(max=1.0)
    high = (area.sqrt() / root).clamp(max=1.0)
    zero = torch.zeros_like(area)
    theta = torch.stack(
        [wide, zero, (1 - wide) * (2 * left - 1), zero, high, (1 - high) * (2 * top - 1)], dim=1
    )
    grid = functional.affine_grid(theta.view(n, 2, 3), [n, 1, down, across], align_corners=False)
    return functional.grid_sample(
        images, grid, mode="bilinear", padding_mode="border", align_corners=False
    )


def horizontal_flip(images: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Mirror each image, left to right, with probability one half."""
    flipped = torch.rand(len(images), generator=generator, device=images.device) < 0.5
    return torch.where(flipped.view(-1, 1, 1, 1), images.flip(-1), images)


def colour_jitter(
    images: torch.Tensor,
    generator: torch.Generator,
    *,
    brightness: float = 63 / 255,
    contrast: float = 0.0,
) -> torch.Tensor:
    """Change brightness, then contrast, each by a factor uniform in 1 ± its range.

    Args:
        images: (n, c, h, w) floats in [0, 1]; results are clamped to it.
        generator: two factors per image.
        brightness: range in [0, 1]; the default is that of class-incremental work on CIFAR.
        contrast: range in [0, 1]; contrast changes around the image's mean grey value.
    """
    ranges = constant(((brightness,), (contrast,)), images)
    draws = torch.rand(2, len(images), generator=generator, device=images.device)
    factors = 1 + ranges * (2 * draws - 1)
    lit = blend(torch.zeros_like(images), images, factors[0])
    return blend(mean_grey(lit), lit, factors[1]) if contrast else lit


def cutout(
    images: torch.Tensor, generator: torch.Generator, *, size: int | None = None
) -> torch.Tensor:
    """Blacken a square whose centre lies anywhere in the image (DeVries and Taylor, 2017).

    Args:
        images: (n, c, h, w) floats.
        generator: one centre per image, uniform over the pixels.
        size: side of the square, of which what lies outside the image has no effect; without it
            half the shorter side, 16 on CIFAR.
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


def random_affine(
    images: torch.Tensor,
    generator: torch.Generator,
    *,
    degrees: float = 15.0,
    translate: float = 0.1,
    scale: tuple[float, float] = (0.9, 1.1),
) -> torch.Tensor:
    """Turn, shift and scale each image about its centre; what comes in from outside is black.

    Args:
        images: (n, c, h, w) floats.
        generator: four numbers per image.
        degrees: largest angle, either way.
        translate: largest shift, as a share of the height and of the width.
        scale: smallest and largest magnification.
    """
    n, _, height, width = images.shape
    draws = torch.rand(4, n, generator=generator, device=images.device)
    angle = (2 * draws[0] - 1) * math.radians(degrees)
    shrink = 1 / (scale[0] + draws[1] * (scale[1] - scale[0]))
    shift = 2 * translate * (2 * draws[2:] - 1)
    cos, sin = angle.cos() * shrink, angle.sin() * shrink
    theta = torch.stack(
        [cos, -sin * (height / width), shift[0], sin * (width / height), cos, shift[1]], dim=1
    )
    return warp(images, theta.view(n, 2, 3))


def warp(
    images: torch.Tensor, theta: torch.Tensor, *, mode: str = "bilinear", fill: float = 0.0
) -> torch.Tensor:
    """Read each image where an affine map says.

    Args:
        images: (n, c, h, w) floats in [0, 1].
        theta: (n, 2, 3) maps from output to input (x, y), both with the image spanning [-1, 1].
        mode: `bilinear` or `nearest`.
        fill: what is outside the image.
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
