"""DER: a new feature extractor for every task beside the frozen ones of all tasks before.

Yan et al. (CVPR 2021), "DER: Dynamically Expandable Representation for Class Incremental
Learning", without its masks and pruning, as the authors' and PyCIL's code are. Not to be confused
with Dark Experience Replay.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn

from edgecil.backbones import Backbone
from edgecil.methods.expansion import ExpandingBackbone, ExpandingNetwork, balance_head
from edgecil.methods.method import Setting
from edgecil.methods.network import NetworkMethod
from edgecil.methods.recipe import PAPER, PAPER_MEMORY, Recipe
from edgecil.methods.registry import register_method
from edgecil.scenario.memory import ExemplarMemory, MemoryBudget
from edgecil.scenario.task import Task


@dataclass(frozen=True)
class DERConfig:
    """Hyper-parameters of DER.

    Attributes:
        recipe: of each task.
        memory: budget for exemplars.
        auxiliary: weight of the auxiliary loss.
        balancing: epochs of fine-tuning the head on exemplars.
    """

    recipe: Recipe = PAPER
    memory: MemoryBudget = PAPER_MEMORY
    auxiliary: float = 1.0
    balancing: int = 30


@register_method("der", DERConfig, "a new extractor per task, the old ones frozen (2021)")
class DER(NetworkMethod):
    """A growing representation, and a head over all of it."""

    readings = ("head", "nme")
    network: ExpandingNetwork

    def __init__(self, config: DERConfig, setting: Setting) -> None:
        super().__init__(config.recipe, setting, config.memory)
        self.config = config

    def assemble(self, backbone: Backbone) -> ExpandingNetwork:
        """Whole backbones side by side."""
        whole = ExpandingBackbone(nn.Identity(), backbone, backbone.feature_size)
        return ExpandingNetwork(whole)

    def loss(self, images: torch.Tensor, labels: torch.Tensor, task: Task) -> torch.Tensor:
        """Cross-entropy over all classes, and of the new extractor's own head."""
        features = self.network.backbone(images)
        value, auxiliary = self.network.losses(features, labels, task.known)
        return value + self.config.auxiliary * auxiliary

    def remember(self, memory: ExemplarMemory, task: Task) -> None:
        """Choose exemplars, and with them take away the head's preference for new classes."""
        super().remember(memory, task)
        if task.known:
            recipe = self.recipe.lasting(self.config.balancing / self.recipe.epochs)
            balance_head(self.network, memory, recipe, task, self.setting)
