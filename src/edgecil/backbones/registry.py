"""Backbones by name."""

from __future__ import annotations

from collections.abc import Callable

import torch

from edgecil.backbones.initialise import build
from edgecil.backbones.pretrained import (
    PRETRAINED,
    is_pretrained,
    load_pretrained,
    pretrained_status,
)
from edgecil.backbones.resnet import Backbone, resnet18, resnet32, resnet_tiny
from edgecil.errors import UsageError, unknown
from edgecil.registry import Registry

Shape = tuple[int, int, int]

BACKBONES: Registry[Callable[[Shape], Backbone]] = Registry(
    "backbone", {"resnet-tiny": resnet_tiny, "resnet32": resnet32, "resnet18": resnet18}
)


def backbone_names(pattern: str = "*") -> tuple[str, ...]:
    """Return names of the backbones that match a shell pattern: from scratch, then pre-trained."""
    return (*BACKBONES.names(pattern), *PRETRAINED.names(pattern))


def canonical_backbone(name: str) -> str:
    """Return the registered spelling of a backbone's name; paths and hub ids are unchanged.

    >>> canonical_backbone("ResNet-32")
    'resnet32'
    """
    registry = next((each for each in (BACKBONES, PRETRAINED) if name in each), None)
    return name if registry is None else registry.resolve(name)


def build_backbone(name: str, shape: Shape, generator: torch.Generator) -> Backbone:
    """Return a new backbone for images of a shape, on the CPU.

    Args:
        name: one of :func:`backbone_names`, or the path or hub id of a vision transformer
            or ResNet-18.
        shape: channels, height and width of the images.
        generator: a CPU generator of the initial weights; pre-trained backbones do not use it.
    """
    if len(shape) != 3 or min(shape) < 1:
        raise UsageError(f"'shape' must be (channels, height, width), each 1 or more. Got {shape}.")
    check_backbone(name)
    if name in BACKBONES:
        return build(lambda: BACKBONES[name](shape), generator)
    return load_pretrained(name, shape)


def check_backbone(name: str) -> None:
    """Raise an error if a name is not a backbone."""
    if name not in BACKBONES and not is_pretrained(name):
        raise unknown("backbone", name, backbone_names())


def backbone_status(name: str) -> tuple[bool, str]:
    """Return whether a backbone can be built without a download, and a sentence about it."""
    if name in BACKBONES:
        summary = (BACKBONES[name].__doc__ or "").split("\n")[0]
        return True, f"From scratch: {summary[0].lower()}{summary[1:]}"
    return pretrained_status(name)
