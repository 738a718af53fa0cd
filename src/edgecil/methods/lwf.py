"""LwF: distil the old network's outputs on the images of the new task, without exemplars.

Li and Hoiem (ECCV 2016), "Learning without Forgetting", in the class-incremental form of PyCIL:
cross-entropy over the new classes plus distillation of the outputs of old classes.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from edgecil.methods.entry import register_method
from edgecil.methods.network import NetworkConfig, TeacherMethod, new_classes_only
from edgecil.methods.task import Task


@dataclass(frozen=True)
class LwFConfig(NetworkConfig):
    """Hyper-parameters of LwF; the defaults are PyCIL's."""

    strength: float = 3.0  # λ, weight of the distillation
    temperature: float = 2.0  # of the distillation


@register_method("lwf", LwFConfig, "distillation of the old outputs, no exemplars (2016)")
class LwF(TeacherMethod):
    """Fine-tuning with distillation of the old network."""

    config: LwFConfig

    def loss(self, images: Tensor, labels: Tensor, task: Task) -> Tensor:
        """Cross-entropy over the new classes plus distillation of the old ones."""
        logits = self.network(images)
        value = new_classes_only(logits, labels, task.old_count)
        if self.teacher is None:
            return value
        return value + self.config.strength * self.distillation(images, logits, task)
