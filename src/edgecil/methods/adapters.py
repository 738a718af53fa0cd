"""Adapters: small trainable bottlenecks beside the MLPs of a frozen vision transformer.

Chen et al. (NeurIPS 2022), "AdaptFormer: Adapting Vision Transformers for Scalable Visual
Recognition". RanPAC, EASE, MOS and APER use them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch.nn import functional

from edgecil.backbones.heads import CosineHead
from edgecil.backbones.vit import Sockets, ViT
from edgecil.methods.method import Environment
from edgecil.methods.settings import Schedule
from edgecil.methods.task import Task, derive_generator
from edgecil.methods.training_loop import fit

_SCALE = 0.1
_DROPOUT = 0.1


class Adapter(nn.Module):  # type: ignore[misc]
    """A bottleneck with a ReLU, scaled by 0.1: tokens (…, d) to tokens (…, d)."""

    def __init__(self, width: int, bottleneck: int) -> None:
        super().__init__()
        self.down_weight = nn.Parameter(torch.zeros(bottleneck, width))
        self.down_bias = nn.Parameter(torch.zeros(bottleneck))
        self.up_weight = nn.Parameter(torch.zeros(width, bottleneck))
        self.up_bias = nn.Parameter(torch.zeros(width))
        self.noise: torch.Generator | None = None  # of the dropout inside the bottleneck

    def forward(self, tokens: Tensor) -> Tensor:
        """Return the term to add to the MLP's output, (…, d)."""
        hidden = functional.relu(functional.linear(tokens, self.down_weight, self.down_bias))
        if self.noise is not None:
            kept = torch.empty_like(hidden).bernoulli_(1.0 - _DROPOUT, generator=self.noise)
            hidden = hidden * kept / (1.0 - _DROPOUT)
        return _SCALE * functional.linear(hidden, self.up_weight, self.up_bias)


def blank_adapters(vit: ViT, bottleneck: int) -> nn.ModuleList:
    """Return one adapter per block of a transformer, all zero and without gradients."""
    adapters = nn.ModuleList(Adapter(vit.layout.width, bottleneck) for _ in vit.blocks)
    return adapters.to(vit.pos_embed.device).requires_grad_(False)


def fresh_adapters(vit: ViT, bottleneck: int, generator: torch.Generator) -> nn.ModuleList:
    """Return one trainable adapter per block, whose output is zero at first."""
    adapters = blank_adapters(vit, bottleneck)
    bound = 1.0 / math.sqrt(vit.layout.width)
    for adapter in adapters:
        drawn = torch.empty(adapter.down_weight.shape).uniform_(-bound, bound, generator=generator)
        adapter.down_weight.copy_(drawn)
    return adapters.requires_grad_(True)


def load_adapters(vit: ViT, bottleneck: int, *states: dict[str, Tensor]) -> list[nn.ModuleList]:
    """Return frozen adapters with the given weights."""
    loaded = [blank_adapters(vit, bottleneck) for _ in states]
    for adapters, state in zip(loaded, states, strict=True):
        adapters.load_state_dict(state)
    return loaded


@contextmanager
def dropout(adapters: nn.ModuleList, generator: torch.Generator) -> Iterator[None]:
    """Drop a tenth of the bottlenecks' values inside the `with` block."""
    for adapter in adapters:
        adapter.noise = generator
    try:
        yield
    finally:
        for adapter in adapters:
            adapter.noise = None


def adapt(
    vit: ViT, bottleneck: int, task: Task, schedule: Schedule, environment: Environment
) -> nn.ModuleList:
    """New adapters, trained to classify the classes of a first task.

    A cosine head is trained with them and discarded.
    """
    generator = derive_generator("cpu", task.seed, "adapters")
    adapters = fresh_adapters(vit, bottleneck, generator)
    head = CosineHead(vit.feature_size)
    head.grow(len(task.classes), generator)
    head.to(task.device)

    def loss(images: Tensor, labels: Tensor) -> Tensor:
        return functional.cross_entropy(head(vit(images, Sockets(adapters=adapters))), labels)

    parameters = [*adapters.parameters(), *head.parameters()]
    with dropout(adapters, task.generator("dropout")):
        fit(parameters, (task.inputs, task.labels), loss, schedule, task, environment)
    return adapters.requires_grad_(False)


def mean_features(features: Tensor, labels: Tensor) -> Tensor:
    """Return the mean features (classes, d) of each class, from features (n, d), labels (n,)."""
    return torch.stack([features[labels == label].mean(dim=0) for label in labels.unique()])
