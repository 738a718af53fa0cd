"""Joint training: a fresh network on all classes seen so far, which has nothing to forget."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from edgecil.methods.method import Environment
from edgecil.methods.network import NetworkMethod
from edgecil.methods.recipe import PAPER, Recipe
from edgecil.methods.registry import register_method
from edgecil.methods.task import Task


@dataclass(frozen=True)
class JointConfig:
    """Nothing but the recipe."""

    recipe: Recipe = PAPER


@register_method("joint", JointConfig, "a fresh network on all data seen: the upper bound")
class Joint(NetworkMethod):
    """Cross-entropy over everything, from scratch at every task."""

    sees_everything = True

    def __init__(self, config: JointConfig, environment: Environment) -> None:
        super().__init__(config.recipe, environment)

    def begin(self, task: Task) -> None:
        """Start over."""
        self.reset_network()

    def loss(self, images: torch.Tensor, labels: torch.Tensor, task: Task) -> torch.Tensor:
        """Cross-entropy over all classes."""
        return torch.nn.functional.cross_entropy(self.network(images), labels)
