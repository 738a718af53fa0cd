"""Networks that gain an extractor of features with every task: DER, FOSTER, MEMO and TagFex.

The extractors of past tasks are frozen; the newest starts as a copy of the one before it and
learns. A head reads the features of all of them, side by side, and an auxiliary head those of the
newest alone.
"""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch import nn
from torch.nn.functional import cross_entropy

from edgecil.backbones import Backbone, GrowingLinear, ResNet
from edgecil.backbones.registry import BACKBONES
from edgecil.errors import UsageError
from edgecil.methods.method import Setting
from edgecil.methods.network import Network
from edgecil.methods.recipe import Recipe
from edgecil.methods.training import in_batches, minimise
from edgecil.scenario.memory import ExemplarMemory
from edgecil.scenario.task import Task


class ExpandingBackbone(Backbone):
    """Extractors side by side behind a shared part; only the newest extractor learns.

    Attributes:
        shared: what all extractors see images through; it goes on learning.
        extractors: one per task, oldest first.
        extractor_size: length of one extractor's features.
        feature_size: length of all extractors' features together.
    """

    def __init__(self, shared: nn.Module, extractor: nn.Module, extractor_size: int) -> None:
        super().__init__()
        self.shared = shared
        self.extractors = nn.ModuleList([extractor])
        self.extractor_size = extractor_size
        self.feature_size = extractor_size

    @property
    def newest(self) -> nn.Module:
        """The extractor that learns."""
        return self.extractors[-1]

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Features (n, feature_size) of images (n, c, h, w), the newest extractor's last."""
        maps = self.shared(images)
        return torch.cat([extractor(maps) for extractor in self.extractors], dim=1)

    def expand(self) -> None:
        """Freeze the newest extractor and add a copy of it that learns."""
        extractor = copy.deepcopy(self.newest)
        self.newest.requires_grad_(False).eval()
        self.extractors.append(extractor)
        self.feature_size += self.extractor_size

    def train(self, mode: bool = True) -> ExpandingBackbone:
        """Frozen extractors keep the batch statistics of their own task."""
        super().train(mode)
        for extractor in self.extractors[:-1]:
            extractor.eval()
        return self


class ExpandingNetwork(Network):
    """An expanding backbone and its heads.

    A state of any number of extractors loads into a network with one.

    Attributes:
        auxiliary: reads the newest extractor's features; made anew with every extractor.
    """

    backbone: ExpandingBackbone

    def __init__(self, backbone: ExpandingBackbone) -> None:
        super().__init__(backbone, GrowingLinear(backbone.feature_size))
        self.auxiliary = GrowingLinear(backbone.extractor_size)

    def grow(self, classes: int, generator: torch.Generator) -> None:
        """Make room for more classes; from the second time on, with a new extractor."""
        if self.head.classes:
            self.backbone.expand()
            self.head.widen(self.backbone.extractor_size, generator)
            self.renew_auxiliary(1 + classes, generator)
        super().grow(classes, generator)

    def renew_auxiliary(self, outputs: int, generator: torch.Generator) -> None:
        """Start the auxiliary head over, with this many outputs."""
        head = GrowingLinear.of(self.backbone.extractor_size, outputs, generator)
        self.auxiliary = head.to(self.head.weight.device)

    def newest_of(self, features: torch.Tensor) -> torch.Tensor:
        """The newest extractor's part (n, extractor_size) of all features (n, feature_size)."""
        return features[:, -self.backbone.extractor_size :]

    def losses(
        self, features: torch.Tensor, labels: torch.Tensor, known: int
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Cross-entropy of the head, and of the auxiliary head if there were classes before.

        The auxiliary head tells the new classes apart from each other and from all old ones
        together, so that the newest extractor learns what the others lack.

        Args:
            features: (n, feature_size).
            labels: new labels (n,).
            known: how many classes earlier tasks brought.
        """
        value = cross_entropy(self.head(features), labels)
        if not known:
            return value, torch.zeros_like(value)
        new_or_old = (labels - known + 1).clamp(min=0)
        return value, cross_entropy(self.auxiliary(self.newest_of(features)), new_or_old)

    def _load_from_state_dict(
        self, state_dict: dict[str, torch.Tensor], prefix: str, *args: Any
    ) -> None:
        width = state_dict[f"{prefix}head.weight"].shape[1]
        while self.backbone.feature_size < width:
            self.backbone.expand()
        self.head = GrowingLinear(width).to(self.head.weight.device)
        super()._load_from_state_dict(state_dict, prefix, *args)


def residual(backbone: Backbone, method: str) -> ResNet:
    """The backbone, refused unless it has the parts of a residual network that a method needs."""
    if not isinstance(backbone, ResNet):
        raise UsageError(
            f"{method} needs the stages of a residual network as its backbone. Got a "
            f"{type(backbone).__name__}; choose one of {', '.join(BACKBONES)}."
        )
    return backbone


def balance_head(
    network: ExpandingNetwork, memory: ExemplarMemory, recipe: Recipe, task: Task, setting: Setting
) -> None:
    """Take away the preference for new classes that a head gets from many new and few old images.

    The new classes' weights are brought to the length of the old ones'; then the head alone is
    fine-tuned on the features of the exemplars, of which every class has equally many.

    Args:
        network: trained; its extractors stand still.
        memory: with exemplars of the task's classes already.
        recipe: of the fine-tuning, which augments nothing.
        task: whose seed all randomness comes from.
        setting: of the method.
    """
    network.head.align(task.known)
    pixels, labels = memory.data(task.pixels)
    features = in_batches(network.backbone, pixels, setting)

    def loss(batch: torch.Tensor, _: torch.Generator) -> torch.Tensor:
        return cross_entropy(network.head(features[batch]), labels[batch])

    minimise(network.head.parameters(), len(labels), loss, recipe, task, stage="balance")
