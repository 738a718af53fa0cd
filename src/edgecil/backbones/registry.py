"""Backbones by name."""

from __future__ import annotations

from collections.abc import Callable

import torch

from edgecil.backbones.initialise import build
from edgecil.backbones.resnet import Backbone, resnet18, resnet32, resnet_tiny
from edgecil.errors import UsageError, unknown

Shape = tuple[int, int, int]

BACKBONES: dict[str, Callable[[Shape], Backbone]] = {
    "resnet-tiny": resnet_tiny,
    "resnet32": resnet32,
    "resnet18": resnet18,
}


def backbone_names() -> tuple[str, ...]:
    """Names of every known backbone, the fastest first."""
    return tuple(BACKBONES)


def build_backbone(name: str, shape: Shape, generator: torch.Generator) -> Backbone:
    """A fresh backbone for images of a shape, on the CPU.

    Args:
        name: one of :func:`backbone_names`.
        shape: channels, height and width of the images.
        generator: a CPU generator; the same state gives the same weights.
    """
    if name not in BACKBONES:
        raise unknown("backbone", name, BACKBONES)
    if len(shape) != 3 or min(shape) < 1:
        raise UsageError(
            f"An image shape is (channels, height, width), each 1 or more. Got {shape}."
        )
    return build(lambda: BACKBONES[name](shape), generator)
