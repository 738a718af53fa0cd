"""Backbones by name."""

from __future__ import annotations

from collections.abc import Callable

import torch

from edgecil.backbones.initialise import build
from edgecil.backbones.pretrained import (
    PRETRAINED,
    is_pretrained,
    load_vit,
    pretrained_status,
)
from edgecil.backbones.resnet import Backbone, resnet18, resnet32, resnet_tiny
from edgecil.errors import UsageError, unknown

Shape = tuple[int, int, int]

BACKBONES: dict[str, Callable[[Shape], Backbone]] = {
    "resnet-tiny": resnet_tiny,
    "resnet32": resnet32,
    "resnet18": resnet18,
}


def backbone_names() -> tuple[str, ...]:
    """Names of every known backbone: from scratch, the fastest first; then pre-trained."""
    return (*BACKBONES, *PRETRAINED)


def build_backbone(name: str, shape: Shape, generator: torch.Generator) -> Backbone:
    """A fresh backbone for images of a shape, on the CPU.

    Args:
        name: one of :func:`backbone_names`, or the path or hub id of a vision transformer.
        shape: channels, height and width of the images.
        generator: a CPU generator; the same state gives the same weights. Pre-trained backbones
            leave it alone.
    """
    if len(shape) != 3 or min(shape) < 1:
        raise UsageError(
            f"An image shape is (channels, height, width), each 1 or more. Got {shape}."
        )
    check_backbone(name)
    if name in BACKBONES:
        return build(lambda: BACKBONES[name](shape), generator)
    return load_vit(name, shape)


def check_backbone(name: str) -> None:
    """Refuse a name that stands for no backbone."""
    if name not in BACKBONES and not is_pretrained(name):
        raise unknown("backbone", name, backbone_names())


def backbone_status(name: str) -> tuple[bool, str]:
    """Whether a backbone can be built without a network, and one sentence: what it is and needs."""
    if name in BACKBONES:
        summary = (BACKBONES[name].__doc__ or "").split("\n")[0]
        return True, f"From scratch: {summary[0].lower()}{summary[1:]}"
    return pretrained_status(name)
