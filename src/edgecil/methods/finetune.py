"""Fine-tuning: train on each task without any measure against forgetting; a lower bound."""

from __future__ import annotations

from torch import Tensor

from edgecil.methods.entry import register_method
from edgecil.methods.network import NetworkConfig, NetworkMethod, new_classes_only
from edgecil.methods.task import Task


@register_method("finetune", NetworkConfig, "plain training on each task: the lower bound")
class Finetune(NetworkMethod):
    """Cross-entropy over the current task's classes."""

    def loss(self, images: Tensor, labels: Tensor, task: Task) -> Tensor:
        """Cross-entropy over the new classes."""
        return new_classes_only(self.network(images), labels, task.old_count)
