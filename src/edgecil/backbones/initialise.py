"""Initial weights from a given generator; the global random state is not used."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import torch
from torch import nn

from edgecil.backbones.vit import ViT

_Module = TypeVar("_Module", bound=nn.Module)


def build(make: Callable[[], _Module], generator: torch.Generator) -> _Module:
    """Construct a network on the CPU with weights drawn from a generator.

    Modules normally draw weights from the global generator when constructed. Here they are
    constructed without storage, and :func:`initialise` draws the weights.
    """
    with torch.device("meta"):
        network = make()
    network.to_empty(device="cpu")
    initialise(network, generator)
    return network


def initialise(network: nn.Module, generator: torch.Generator) -> None:
    """Draw every weight of a network in place.

    Convolutions are normal with variance 2 / (k² · channels out) (He et al. 2015, fan out, as the
    reference networks of He et al. 2016), linear maps normal with std 0.02 (as the reference
    vision transformers), all biases zero; norms start as the identity, running statistics at mean
    0 and variance 1. A module with weights of its own draws them in `reset_parameters(generator)`.
    """
    for module in network.modules():
        if isinstance(module, nn.Conv2d):
            nn.init.kaiming_normal_(
                module.weight, mode="fan_out", nonlinearity="relu", generator=generator
            )
            _no_bias(module)
        elif isinstance(module, nn.Linear):
            nn.init.normal_(module.weight, std=0.02, generator=generator)
            _no_bias(module)
        elif isinstance(module, (nn.BatchNorm2d, nn.LayerNorm)):
            module.reset_parameters()
        elif isinstance(module, ViT):
            module.reset_parameters(generator)
        elif any(True for _ in module.parameters(recurse=False)):
            raise TypeError(f"There is no initialisation for {type(module).__name__}.")


def _no_bias(module: nn.Conv2d | nn.Linear) -> None:
    if module.bias is not None:
        nn.init.zeros_(module.bias)
