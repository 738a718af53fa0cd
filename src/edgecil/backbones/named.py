"""Backbones by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from edgecil.backbones import pretrained
from edgecil.backbones.initialise import build
from edgecil.backbones.model_slot import ENTRY_POINTS, is_slot_model
from edgecil.backbones.resnet import LARGE_IMAGE, Backbone, resnet18, resnet32, resnet_tiny
from edgecil.backbones.vectors import MLP, Linear
from edgecil.errors import UsageError, unknown_name_error
from edgecil.registry import Registry, installed

Shape = tuple[int, ...]

FORMS = ("timm:NAME", "hf:ID", "FILE.safetensors", "FILE.py:make")  # of models by text
ON_VECTORS: dict[str, Callable[[Any], Backbone]] = {"linear": Linear, "mlp": MLP}
BACKBONES: Registry[Callable[[Any], Backbone]] = Registry(
    "backbone",
    {"resnet-tiny": resnet_tiny, "resnet32": resnet32, "resnet18": resnet18, **ON_VECTORS},
)


def backbone_names(pattern: str = "*") -> tuple[str, ...]:
    """Return names of the backbones that match a shell pattern: from scratch, then pre-trained."""
    return (
        *BACKBONES.names(pattern),
        *pretrained.PRETRAINED.names(pattern),
        *installed(ENTRY_POINTS).names(pattern),
    )


def canonical_backbone(name: str) -> str:
    """Return the registered spelling of a backbone's name; paths and hub ids are unchanged.

    >>> canonical_backbone("ResNet-32")
    'resnet32'
    """
    registry = next((each for each in (BACKBONES, pretrained.PRETRAINED) if name in each), None)
    return name if registry is None else registry.resolve(name)


def build_backbone(name: str, shape: Shape, generator: torch.Generator | None = None) -> Backbone:
    """Return a new backbone for images of a shape, on the CPU.

    Args:
        name: one of :func:`backbone_names`, or the path or hub id of a vision transformer
            or ResNet-18.
        shape: channels, height and width of the images, or (d,) for vectors.
        generator: a CPU generator of the initial weights, by default seeded from torch's own;
            pre-trained backbones do not use it.
    """
    if generator is None:
        generator = torch.Generator().manual_seed(int(torch.randint(2**62, ())))
    check_backbone(name)
    check_inputs(name, shape)
    if name in BACKBONES:
        return build(lambda: BACKBONES[name](shape), generator)
    return pretrained.load_pretrained(name, shape, generator.initial_seed() % 2**63)


def check_inputs(name: str, shape: Shape) -> None:
    """Raise an error if a backbone does not take inputs of a shape."""
    if is_slot_model(name):
        return  # one forward pass shows it
    takes_vectors = name in BACKBONES and BACKBONES.resolve(name) in ON_VECTORS
    if len(shape) == 1 and not takes_vectors:
        raise UsageError(
            f"The backbone {name!r} takes images, but the dataset has vectors; use "
            f"{' or '.join(map(repr, ON_VECTORS))}."
        )
    if len(shape) == 3 and takes_vectors:
        raise UsageError(
            f"The backbone {name!r} takes vectors, but the dataset has images; use another, or "
            "compute their features first."
        )


def offered_by(name: str) -> str:
    """Return what of a backbone learners can use: `residual` stages, `sockets`, or `features`."""
    if is_slot_model(name):
        return "features"
    if name in BACKBONES:
        return "features" if BACKBONES.resolve(name) in ON_VECTORS else "residual"
    return "residual" if pretrained.is_resnet(name) else "sockets"


def default_backbone(shape: Shape, *, frozen: bool = False) -> str:
    """Return the default network for drawings, colour images or vectors, trained or frozen."""
    if len(shape) == 1:
        return "linear"
    if frozen:
        return "vit-quickdraw" if shape[0] == 1 else "vit-b16-in21k"
    if shape[0] == 1:
        return "resnet-tiny"
    return "resnet32" if max(shape[1:]) < LARGE_IMAGE else "resnet18"


def check_backbone(name: str) -> None:
    """Raise an error if a name is not a backbone."""
    if name not in BACKBONES and not pretrained.is_pretrained(name):
        raise unknown_name_error("backbone", name, (*backbone_names(), *FORMS))


def backbone_status(name: str) -> tuple[bool, str]:
    """Return whether a backbone can be built without a download, and a sentence about it."""
    if name in BACKBONES:
        what = (BACKBONES[name].__doc__ or name).split("\n")[0].removeprefix("Return ")
        return True, f"From scratch. {what[0].upper()}{what[1:]}"
    return pretrained.pretrained_status(name)
