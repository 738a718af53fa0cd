"""AutoAugment with the policy for CIFAR-10 (Cubuk et al., CVPR 2019): cifar10_policy.csv."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from pathlib import Path

import torch
from torch.nn import functional

from edgecil.data.augment.steps import blend, grey, mean_grey, warp
from edgecil.io.csv_files import read_rows

_FILL = 128 / 255  # outside the image, after geometric operations
_LEVELS = 9
_FARTHEST = 150 / 331  # largest shift, as a share of the image
_RANGE = 0.9  # of brightness, contrast, colour and sharpness, in 1 ± range


def auto_augment(images: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Change each image (n, c, h, w), floats in [0, 1], by a random sub-policy."""
    n, device = len(images), images.device
    operations, probabilities, levels = _tables(device)
    drawn = torch.randint(len(operations), (n,), generator=generator, device=device)
    applies = torch.rand(n, 2, generator=generator, device=device) < probabilities[drawn]
    signs = 2 * torch.randint(2, (n, 2), generator=generator, device=device) - 1
    strengths = levels[drawn] * signs
    images = images.clone()
    for position in (0, 1):  # of the operation in its sub-policy
        chosen = torch.where(applies[:, position], operations[drawn, position], -1)
        for number, operation in enumerate(OPERATIONS.values()):
            rows = (chosen == number).nonzero().view(-1)
            if len(rows):
                images[rows] = operation(images[rows], strengths[rows, position])
    return images


def _solarise(images: torch.Tensor, strength: torch.Tensor) -> torch.Tensor:
    """Invert pixels at least as bright as a threshold, which falls from white with the level."""
    return torch.where(images >= 1 - _each(strength.abs()), 1 - images, images)


def _posterise(images: torch.Tensor, strength: torch.Tensor) -> torch.Tensor:
    """Keep the upper 8 to 4 bits of each byte."""
    step = 2 ** torch.round(4 * _each(strength.abs()))
    return (torch.floor(_bytes(images) / step) * step) / 255


def _autocontrast(images: torch.Tensor, strength: torch.Tensor) -> torch.Tensor:
    """Stretch each channel to [0, 1]; a constant channel stays."""
    low = images.amin(dim=(2, 3), keepdim=True)
    high = images.amax(dim=(2, 3), keepdim=True)
    is_varied = high > low
    stretched = (images - low) / torch.where(is_varied, high - low, 1.0)
    return torch.where(is_varied, stretched, images)


def _equalise(images: torch.Tensor, strength: torch.Tensor) -> torch.Tensor:
    """Make each channel's histogram of 256 bytes flat, by the integer rule of Pillow."""
    values = _bytes(images).long().flatten(2)
    counts = torch.zeros(*values.shape[:2], 256, dtype=torch.long, device=images.device)
    counts.scatter_add_(2, values, torch.ones_like(values))
    brightest = counts.gather(2, values.amax(dim=2, keepdim=True))
    step = (values.shape[2] - brightest) // 255
    below = counts.cumsum(dim=2) - counts
    table = ((below + step // 2) // step.clamp(min=1)).clamp_(max=255)
    levelled = (table.gather(2, values) / 255).view_as(images).to(images.dtype)
    return torch.where((step > 0)[..., None], levelled, images)


def _sharpness(images: torch.Tensor, strength: torch.Tensor) -> torch.Tensor:
    """Move away from, or towards, a 3×3 smoothing; the border of one pixel stays."""
    channels = images.shape[1]
    kernel = torch.ones(channels, 1, 3, 3, dtype=images.dtype, device=images.device)
    kernel[:, :, 1, 1] = 5
    smooth = images.clone()
    if min(images.shape[2:]) >= 3:
        smooth[:, :, 1:-1, 1:-1] = functional.conv2d(images, kernel / 13, groups=channels)
    return blend(smooth, images, 1 + _RANGE * strength)


def _rotate(images: torch.Tensor, strength: torch.Tensor) -> torch.Tensor:
    ratio = images.shape[2] / images.shape[3]
    angle = strength * math.radians(30)
    cos, sin = angle.cos(), angle.sin()
    return _moved(images, xx=cos, xy=-sin * ratio, yx=sin / ratio, yy=cos)


def _shear_y(images: torch.Tensor, strength: torch.Tensor) -> torch.Tensor:
    """Slide columns down or up in proportion to their distance from the left edge."""
    slope = 0.3 * strength * (images.shape[3] / images.shape[2])
    return _moved(images, yx=slope, y=slope)


def _brightness(images: torch.Tensor, strength: torch.Tensor) -> torch.Tensor:
    return blend(torch.zeros_like(images), images, 1 + _RANGE * strength)


def _contrast(images: torch.Tensor, strength: torch.Tensor) -> torch.Tensor:
    return blend(mean_grey(images), images, 1 + _RANGE * strength)


def _colour(images: torch.Tensor, strength: torch.Tensor) -> torch.Tensor:
    return blend(grey(images), images, 1 + _RANGE * strength)


def _translate_x(images: torch.Tensor, strength: torch.Tensor) -> torch.Tensor:
    return _moved(images, x=2 * _FARTHEST * strength)


def _translate_y(images: torch.Tensor, strength: torch.Tensor) -> torch.Tensor:
    return _moved(images, y=2 * _FARTHEST * strength)


# Each takes images (k, c, h, w) and signed strengths (k,) in [-1, 1].
OPERATIONS: dict[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "invert": lambda images, _: 1 - images,
    "solarise": _solarise,
    "posterise": _posterise,
    "autocontrast": _autocontrast,
    "equalise": _equalise,
    "brightness": _brightness,
    "contrast": _contrast,
    "colour": _colour,
    "sharpness": _sharpness,
    "rotate": _rotate,
    "shear-y": _shear_y,
    "translate-x": _translate_x,
    "translate-y": _translate_y,
}


@cache
def _tables(device: torch.device) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return operation numbers, probabilities and strengths in [0, 1], each (25, 2)."""
    numbers = {name: number for number, name in enumerate(OPERATIONS)}
    policy = read_rows(Path(__file__).parent / "cifar10_policy.csv")[1:]
    operations = [[numbers[row[0]], numbers[row[3]]] for row in policy]
    probabilities = [[float(row[1]), float(row[4])] for row in policy]
    levels = [[int(row[2]) / _LEVELS, int(row[5]) / _LEVELS] for row in policy]
    return (
        torch.tensor(operations, device=device),
        torch.tensor(probabilities, device=device),
        torch.tensor(levels, device=device),
    )


def _moved(images: torch.Tensor, **entries: torch.Tensor) -> torch.Tensor:
    """Warp by the identity with some entries replaced, each (k,); nearest pixel, grey outside."""
    zero = images.new_zeros(len(images))
    identity = {"xx": zero + 1, "xy": zero, "x": zero, "yx": zero, "yy": zero + 1, "y": zero}
    theta = torch.stack(list((identity | entries).values()), dim=1).view(-1, 2, 3)
    return warp(images, theta, mode="nearest", fill=_FILL)


def _each(values: torch.Tensor) -> torch.Tensor:
    return values.view(-1, 1, 1, 1)


def _bytes(images: torch.Tensor) -> torch.Tensor:
    return torch.round(images * 255)
