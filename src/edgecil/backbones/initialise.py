"""New networks on the CPU with weights from a generator or a file, never from global randomness."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

import torch
from torch import nn

from edgecil.backbones.vectors import InputScale
from edgecil.backbones.vit import ViT
from edgecil.errors import DataError, name_some

_Module = TypeVar("_Module", bound=nn.Module)


def build(make: Callable[[], _Module], generator: torch.Generator) -> _Module:
    """Construct a network on the CPU with weights drawn from a generator.

    Modules normally draw weights from the global generator when constructed. Here they are
    constructed without storage, and :func:`initialise` draws the weights.
    """
    network = _empty(make)
    initialise(network, generator)
    return network


def build_from(
    make: Callable[[], _Module], tensors: Mapping[str, torch.Tensor], path: Path, kind: str
) -> _Module:
    """Construct a network on the CPU with the tensors of a file, which must be exactly its own.

    Counters of batch norms, which old files lack, begin at 0.
    """
    network = _empty(make)
    expected = network.state_dict()
    counters = [name for name in expected if name.endswith("num_batches_tracked")]
    state = {**dict.fromkeys(counters, torch.tensor(0)), **tensors}
    missing = [name for name in expected if name not in state]
    extra = [name for name in state if name not in expected]
    if missing or extra:
        what = f"it lacks {name_some(missing)}" if missing else f"it also has {name_some(extra)}"
        raise DataError(f"{path} contains no {kind}: {what}.")
    for name, tensor in state.items():
        shape, needed = tuple(tensor.shape), tuple(expected[name].shape)
        if shape != needed:
            raise DataError(f"{path} contains no {kind}: {name} has shape {shape}, not {needed}.")
        if not bool(tensor.isfinite().all()):
            raise DataError(f"{path} cannot be used: {name} has values that are not finite.")
    network.load_state_dict(state)
    return network


def _empty(make: Callable[[], _Module]) -> _Module:
    with torch.device("meta"):
        network = make()
    network.to_empty(device="cpu")
    return network


def initialise(network: nn.Module, generator: torch.Generator) -> None:
    """Draw every weight of a network in place.

    Convolutions are normal with variance 2 / (k² · channels out) (He et al. 2015, fan out, as the
    reference networks of He et al. 2016), linear maps normal with std 0.02 (as the reference
    vision transformers), all biases zero; norms start as the identity, running statistics at mean
    0 and variance 1. A module with weights of its own draws them in `reset_parameters(generator)`.
    """
    for module in network.modules():
        if isinstance(module, (nn.Conv2d, nn.Linear)):
            if isinstance(module, nn.Linear):
                nn.init.normal_(module.weight, std=0.02, generator=generator)
            else:
                nn.init.kaiming_normal_(
                    module.weight, mode="fan_out", nonlinearity="relu", generator=generator
                )
            if module.bias is not None:
                nn.init.zeros_(module.bias)
        elif isinstance(module, (nn.BatchNorm2d, nn.LayerNorm, InputScale)):
            module.reset_parameters()
        elif isinstance(module, ViT):
            module.reset_parameters(generator)
        elif any(True for _ in module.parameters(recurse=False)):
            raise TypeError(f"There is no initialisation for {type(module).__name__}.")
