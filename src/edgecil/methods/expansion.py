"""Networks that gain an extractor of features with every task: DER, FOSTER, MEMO and TagFex.

The extractors of past tasks are frozen; the newest starts as a copy of the one before it and
learns. A head reads the features of all of them, side by side, and an auxiliary head those of the
newest alone. What DER, MEMO and TagFex do alike around their losses is here too; FOSTER, which
goes back to one extractor, has its own.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.nn.functional import cross_entropy

from edgecil.backbones import Backbone, GrowingLinear, ResNet
from edgecil.backbones.registry import BACKBONES
from edgecil.errors import UsageError
from edgecil.methods.memory import ExemplarMemory, MemoryBudget
from edgecil.methods.method import Environment
from edgecil.methods.network import Network, NetworkMethod
from edgecil.methods.recipe import PAPER, PAPER_MEMORY, Recipe
from edgecil.methods.task import Task
from edgecil.methods.training import minimise


class ExpandingBackbone(Backbone):
    """Extractors side by side behind a shared part; only the newest extractor learns.

    Attributes:
        shared: what all extractors see images through.
        train_shared: whether that goes on learning when a second extractor has come.
        extractors: one per task, oldest first.
        extractor_size: length of one extractor's features.
        feature_size: length of all extractors' features together.
    """

    def __init__(
        self,
        shared: nn.Module,
        extractor: nn.Module,
        extractor_size: int,
        *,
        train_shared: bool = True,
    ) -> None:
        super().__init__()
        self.shared = shared
        self.train_shared = train_shared
        self.extractors = nn.ModuleList([extractor])
        self.extractor_size = extractor_size
        self.feature_size = extractor_size

    @classmethod
    def whole(cls, backbone: Backbone) -> ExpandingBackbone:
        """Whole backbones side by side: all of the first is an extractor, nothing is shared."""
        return cls(nn.Identity(), backbone, backbone.feature_size)

    @property
    def newest(self) -> nn.Module:
        """The extractor that learns."""
        return self.extractors[-1]

    @property
    def frozen(self) -> list[nn.Module]:
        """What no longer learns: all older extractors, and the shared part if it is not to."""
        older = list(self.extractors[:-1])
        return older if self.train_shared or not older else [self.shared, *older]

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Features (n, feature_size) of images (n, c, h, w), the newest extractor's last."""
        maps = self.shared(images)
        return torch.cat([extractor(maps) for extractor in self.extractors], dim=1)

    def expand(self) -> None:
        """Add an extractor that starts as a copy of the newest; freeze what is to stay as it is."""
        self.extractors.append(copy.deepcopy(self.newest))
        self.feature_size += self.extractor_size
        for part in self.frozen:
            part.requires_grad_(False).eval()

    def train(self, mode: bool = True) -> ExpandingBackbone:
        """What is frozen keeps the batch statistics of its own task."""
        super().train(mode)
        for part in self.frozen:
            part.eval()
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


@dataclass(frozen=True)
class ExpandingConfig:
    """Hyper-parameters of every method that gains an extractor with each task.

    Attributes:
        recipe: of each task.
        memory: budget for exemplars.
        auxiliary: weight of the auxiliary loss.
        balancing: epochs of fine-tuning the head on exemplars; 0 for none.
    """

    recipe: Recipe = PAPER
    memory: MemoryBudget = PAPER_MEMORY
    auxiliary: float = 1.0
    balancing: int = 0

    def __post_init__(self) -> None:
        if self.balancing < 0:
            raise UsageError(
                f"The epochs of 'balancing' must be 0 or more. Got {self.balancing} instead."
            )


class ExpandingMethod(NetworkMethod):
    """A representation that grows with every task, a head over all of it, and exemplars.

    As it stands, this is DER; the others change the network or the loss.
    """

    classifiers = ("head", "nme")
    network: ExpandingNetwork
    memory: ExemplarMemory

    def __init__(self, config: ExpandingConfig, environment: Environment) -> None:
        self.config = config
        super().__init__(config.recipe, environment, config.memory)

    def assemble(self, backbone: Backbone) -> ExpandingNetwork:
        """Whole backbones side by side."""
        return ExpandingNetwork(ExpandingBackbone.whole(backbone))

    def loss(self, images: torch.Tensor, labels: torch.Tensor, task: Task) -> torch.Tensor:
        """Cross-entropy over all classes, and of the newest extractor's own head."""
        features = self.network.backbone(images)
        value, auxiliary = self.network.losses(features, labels, task.old_count)
        return value + self.config.auxiliary * auxiliary

    def remember(self, memory: ExemplarMemory, task: Task) -> None:
        """Choose exemplars, then take away the preference for new classes.

        A head gets it from many new and few old images. The new classes' weights are brought to the
        length of the old ones', and the head is fine-tuned if that is wanted.
        """
        super().remember(memory, task)
        if task.old_count:
            self.network.head.align(task.old_count)
            if self.config.balancing:
                self.balance(memory, task)

    def balance(self, memory: ExemplarMemory, task: Task) -> None:
        """Fine-tune the head alone on the features of the exemplars as they are.

        Every class has equally many of them, unless it has fewer images than its share of the
        memory.
        """
        pixels, labels = memory.data(task.pixels)
        features, head = self.features(pixels), self.network.head

        def loss(batch: torch.Tensor, _: torch.Generator) -> torch.Tensor:
            return cross_entropy(head(features[batch]), labels[batch])

        recipe = self.recipe.lasting(self.config.balancing / self.recipe.epochs)
        minimise(head.parameters(), len(labels), loss, recipe, task, stage="balance")


def residual(backbone: Backbone, method: str) -> ResNet:
    """The backbone, refused unless it has the parts of a residual network that a method needs."""
    if not isinstance(backbone, ResNet):
        raise UsageError(
            f"{method} needs the stages of a residual network as its backbone. Got a "
            f"{type(backbone).__name__}; choose one of {', '.join(BACKBONES)}."
        )
    return backbone
