"""MEMO: only the last stage of the backbone is made anew for a task; all tasks share the rest.

Zhou et al. (ICLR 2023), "A Model or 603 Exemplars: Towards Memory-Efficient Class-Incremental
Learning": shallow layers stay nearly the same from task to task, so copying them, as DER does,
spends memory that exemplars could use better.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import torch

from edgecil.backbones import Backbone
from edgecil.errors import UsageError
from edgecil.methods.expansion import ExpandingBackbone, ExpandingNetwork, balance_head, residual
from edgecil.methods.method import Setting
from edgecil.methods.network import NetworkMethod
from edgecil.methods.recipe import PAPER, PAPER_MEMORY, Recipe
from edgecil.methods.registry import register_method
from edgecil.scenario.memory import ExemplarMemory, MemoryBudget
from edgecil.scenario.task import Task


@dataclass(frozen=True)
class MEMOConfig:
    """Hyper-parameters of MEMO.

    Attributes:
        recipe: of each task.
        memory: budget for exemplars.
        auxiliary: weight of the auxiliary loss.
        balancing: epochs of fine-tuning the head on exemplars.
        count_growth: whether the last stages after the first one are paid for in exemplars of the
            same number of bytes, for comparisons at equal memory as the publication makes them.
    """

    recipe: Recipe = PAPER
    memory: MemoryBudget = PAPER_MEMORY
    auxiliary: float = 1.0
    balancing: int = 30
    count_growth: bool = False

    def __post_init__(self) -> None:
        if self.count_growth and self.memory.total is None:
            raise UsageError("MEMO's count_growth needs a memory with a total. Got none.")


@register_method("memo", MEMOConfig, "a shared stem and a new last stage per task (2023)")
class MEMO(NetworkMethod):
    """Generalised blocks that go on learning, and specialised ones that are frozen in turn."""

    readings = ("head", "nme")
    network: ExpandingNetwork
    memory: ExemplarMemory

    def __init__(self, config: MEMOConfig, setting: Setting) -> None:
        super().__init__(config.recipe, setting, config.memory)
        self.config = config

    def assemble(self, backbone: Backbone) -> ExpandingNetwork:
        """Last stages side by side behind one shallow part."""
        parts = residual(backbone, "MEMO")
        split = ExpandingBackbone(parts.shallow, parts.last_stage, parts.feature_size)
        return ExpandingNetwork(split)

    def begin(self, task: Task) -> None:
        """Take what the last stages cost from the exemplars, if that is to count."""
        if self.config.count_growth:
            stage = sum(value.nbytes for value in self.network.backbone.newest.parameters())
            images = -(-task.index * stage // prod(self.setting.shape))
            self.memory.budget = self.config.memory.less(images)

    def loss(self, images: torch.Tensor, labels: torch.Tensor, task: Task) -> torch.Tensor:
        """Cross-entropy over all classes, and of the new stage's own head."""
        features = self.network.backbone(images)
        value, auxiliary = self.network.losses(features, labels, task.known)
        return value + self.config.auxiliary * auxiliary

    def remember(self, memory: ExemplarMemory, task: Task) -> None:
        """Choose exemplars, and with them take away the head's preference for new classes."""
        super().remember(memory, task)
        if task.known:
            recipe = self.recipe.lasting(self.config.balancing / self.recipe.epochs)
            balance_head(self.network, memory, recipe, task, self.setting)
