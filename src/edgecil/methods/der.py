"""DER: a new feature extractor for every task, beside the frozen ones of earlier tasks.

Yan et al. (CVPR 2021), "DER: Dynamically Expandable Representation for Class Incremental
Learning", without masks and pruning, like the authors' and PyCIL's code. Dark Experience Replay is
a different method.

The newest extractor starts as a copy of its predecessor. The head takes the concatenated features
of all extractors, an auxiliary head the newest ones. FOSTER, MEMO and TagFex build on it.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from edgecil.backbones import Backbone, GrowingLinear
from edgecil.hints import Whole
from edgecil.methods.entry import register_method
from edgecil.methods.memory import ExemplarMemory
from edgecil.methods.network import Network, NetworkMethod, ReplayConfig
from edgecil.methods.task import Task
from edgecil.methods.training_loop import minimise


class ExpandingBackbone(Backbone):
    """A shared part followed by parallel extractors; only the newest extractor is trained.

    The shared part is trained after the first task too if `train_shared` is set.
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
        self.extractors = nn.ModuleList([extractor])  # one per task, oldest first
        self.extractor_size = extractor_size
        self.feature_size = extractor_size  # of all extractors together

    @classmethod
    def whole(cls, backbone: Backbone) -> ExpandingBackbone:
        """Whole backbones as extractors, without a shared part."""
        return cls(nn.Identity(), backbone, backbone.feature_size)

    @property
    def newest(self) -> nn.Module:
        """The extractor that is trained."""
        return self.extractors[-1]

    @property
    def frozen(self) -> list[nn.Module]:
        """Modules that are not trained: older extractors and, if so set, the shared part."""
        older = list(self.extractors[:-1])
        return older if self.train_shared or not older else [self.shared, *older]

    def forward(self, images: Tensor) -> Tensor:
        """Return features (n, feature_size) of images (n, c, h, w), the newest extractor's last."""
        maps = self.shared(images)
        return torch.cat([extractor(maps) for extractor in self.extractors], dim=1)

    def expand(self) -> None:
        """Add a copy of the newest extractor and freeze the older modules."""
        self.extractors.append(copy.deepcopy(self.newest))
        self.feature_size += self.extractor_size
        for part in self.frozen:
            part.requires_grad_(False).eval()

    def train(self, mode: bool = True) -> ExpandingBackbone:
        """Set the mode; frozen modules stay in evaluation mode."""
        super().train(mode)
        for part in self.frozen:
            part.eval()
        return self


class ExpandingNetwork(Network):
    """An expanding backbone, its head, and an auxiliary head on the newest extractor's features.

    A state with any number of extractors can be loaded into a network with one.
    """

    backbone: ExpandingBackbone

    def __init__(self, backbone: ExpandingBackbone) -> None:
        super().__init__(backbone, GrowingLinear(backbone.feature_size))
        self.auxiliary = GrowingLinear(backbone.extractor_size)

    def grow(self, classes: int, generator: torch.Generator) -> None:
        """Add outputs for more classes and, from the second task on, a new extractor."""
        if self.head.classes:
            self.backbone.expand()
            self.head.widen(self.backbone.extractor_size, generator)
            self.renew_auxiliary(1 + classes, generator)
        super().grow(classes, generator)

    def renew_auxiliary(self, outputs: int, generator: torch.Generator) -> None:
        """Replace the auxiliary head by a new one with this many outputs."""
        head = GrowingLinear.of(self.backbone.extractor_size, outputs, generator)
        self.auxiliary = head.to(self.head.weight.device)

    def newest_of(self, features: Tensor) -> Tensor:
        """Return the part (n, extractor_size) of features that the newest extractor computes."""
        return features[:, -self.backbone.extractor_size :]

    def losses(self, features: Tensor, labels: Tensor, old_count: int) -> tuple[Tensor, Tensor]:
        """Cross-entropy of the head and, from the second task on, of the auxiliary head.

        The auxiliary head has one output per new class and one for all old classes together, so
        that the newest extractor learns features that the others lack.
        """
        value = cross_entropy(self.head(features), labels)
        if not old_count:
            return value, torch.zeros_like(value)
        new_or_old = (labels - old_count + 1).clamp(min=0)
        return value, cross_entropy(self.auxiliary(self.newest_of(features)), new_or_old)

    def _load_from_state_dict(self, state_dict: dict[str, Tensor], prefix: str, *args: Any) -> None:
        width = state_dict[f"{prefix}head.weight"].shape[1]
        while self.backbone.feature_size < width:
            self.backbone.expand()
        self.head = GrowingLinear(width).to(self.head.weight.device)
        super()._load_from_state_dict(state_dict, prefix, *args)


@dataclass(frozen=True)
class ExpandingConfig(ReplayConfig):
    """Hyper-parameters of every method that gains an extractor with each task."""

    auxiliary: float = 1.0  # weight of the auxiliary loss
    balancing: Whole = 0  # epochs of fine-tuning the head on exemplars


@register_method(
    "der",
    ExpandingConfig,
    "a new extractor per task, the old ones frozen (2021)",
    fast_settings={"balancing": 30},
)
class DER(NetworkMethod):
    """An expanding network with exemplar replay; MEMO and TagFex change the network or the loss."""

    config: ExpandingConfig
    classifiers = ("head", "nme")
    network: ExpandingNetwork
    memory: ExemplarMemory

    def assemble(self, backbone: Backbone) -> ExpandingNetwork:
        """Return a network with whole backbones as extractors."""
        return ExpandingNetwork(ExpandingBackbone.whole(backbone))

    def loss(self, images: Tensor, labels: Tensor, task: Task) -> Tensor:
        """Cross-entropy over all classes plus the auxiliary loss."""
        features = self.network.backbone(images)
        value, auxiliary = self.network.losses(features, labels, task.old_count)
        return value + self.config.auxiliary * auxiliary

    def remember(self, memory: ExemplarMemory, task: Task) -> None:
        """Choose exemplars, then correct the head's bias towards new classes.

        The bias results from many new and few old images. The weights of new classes are scaled
        to the mean norm of the old ones, and the head is fine-tuned if `balancing` is set.
        """
        super().remember(memory, task)
        if task.old_count:
            self.network.head.align(task.old_count)
            if self.config.balancing:
                self.balance(memory, task)

    def balance(self, memory: ExemplarMemory, task: Task) -> None:
        """Fine-tune only the head, on features of the exemplars without augmentation.

        Classes have equal numbers of exemplars unless a class has fewer images than its quota.
        """
        inputs, labels = memory.data(task)
        features, head = self.features(inputs), self.network.head

        def loss(batch: Tensor, _: torch.Generator) -> Tensor:
            return cross_entropy(head(features[batch]), labels[batch])

        schedule = self.schedule.lasting_epochs(self.config.balancing)
        minimise(head.parameters(), len(labels), loss, schedule, task, stage="balance")
