"""Fine-tuning as in PyCIL: train on each task, with the loss over its own classes alone.

Outputs of old classes get no gradient, so it forgets less than :mod:`edgecil.methods.naive`, whose
loss is over all classes seen.
"""

from __future__ import annotations

from torch import Tensor

from edgecil.methods.entry import register_method
from edgecil.methods.network import NetworkConfig, NetworkMethod, new_classes_only
from edgecil.methods.task import Task


@register_method("finetune", NetworkConfig, "plain training, loss over the new classes (PyCIL)")
class Finetune(NetworkMethod):
    """Cross-entropy over the current task's classes."""

    def loss(self, images: Tensor, labels: Tensor, task: Task) -> Tensor:
        """Cross-entropy over the new classes."""
        return new_classes_only(self.network(images), labels, task.old_count)
