"""Fine-tuning: train on each task without any measure against forgetting; a lower bound."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from edgecil.methods.network import NetworkMethod, new_classes_only
from edgecil.methods.registry import register_method
from edgecil.methods.schedule import PAPER, Schedule
from edgecil.methods.task import Task


@dataclass(frozen=True)
class FinetuneConfig:
    """Hyper-parameters of fine-tuning: the setup."""

    schedule: Schedule = PAPER


@register_method("finetune", FinetuneConfig, "plain training on each task: the lower bound")
class Finetune(NetworkMethod):
    """Cross-entropy over the current task's classes."""

    def loss(self, images: torch.Tensor, labels: torch.Tensor, task: Task) -> torch.Tensor:
        """Cross-entropy over the new classes."""
        return new_classes_only(self.network(images), labels, task.old_count)
