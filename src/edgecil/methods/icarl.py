"""iCaRL: replay herded exemplars, distil the old network, classify by the nearest class mean.

Rebuffi et al. (2017), "iCaRL: Incremental Classifier and Representation Learning", with the
softmax losses of PyCIL: cross-entropy over all classes plus distillation of the old outputs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Literal

import torch

from edgecil.methods.entry import register_method
from edgecil.methods.memory import ExemplarMemory, draw
from edgecil.methods.network import ReplayConfig, TeacherMethod
from edgecil.methods.task import Task


@dataclass(frozen=True)
class ICaRLConfig(ReplayConfig):
    """Hyper-parameters of iCaRL."""

    selection: Literal["herding", "random"] = "herding"  # how exemplars are chosen
    temperature: float = 2.0  # of the distillation


@register_method("icarl", ICaRLConfig, "exemplar replay, distillation, nearest mean (2017)")
class ICaRL(TeacherMethod):
    """Trains on the task and the exemplars, and classifies by the exemplars' means."""

    config: ICaRLConfig
    classifiers = ("nme", "head")

    def loss(self, images: torch.Tensor, labels: torch.Tensor, task: Task) -> torch.Tensor:
        """Cross-entropy over all classes, and distillation of the old ones."""
        logits = self.network(images)
        value = torch.nn.functional.cross_entropy(logits, labels)
        if self.teacher is None:
            return value
        return value + self.distillation(images, logits, task, self.config.temperature)

    def remember(self, memory: ExemplarMemory, task: Task) -> None:
        """Choose exemplars by herding in the current feature space, or at random."""
        if self.config.selection == "random":
            memory.update(task, partial(draw, generator=task.generator("exemplars")))
        else:
            super().remember(memory, task)
