"""iCaRL: replay herded exemplars, distil the old network, classify by the nearest class mean.

Rebuffi et al. (2017), "iCaRL: Incremental Classifier and Representation Learning", with the
softmax losses of PyCIL: cross-entropy over all classes plus distillation of the old outputs.
"""

from __future__ import annotations

import torch
from torch import Tensor

from edgecil.methods.entry import register_method
from edgecil.methods.network import DistillationConfig, TeacherMethod
from edgecil.methods.task import Task


@register_method("icarl", DistillationConfig, "exemplar replay, distillation, nearest mean (2017)")
class ICaRL(TeacherMethod):
    """Trains on the task and the exemplars, and classifies by the exemplars' means."""

    classifiers = ("nme", "head")

    def loss(self, images: Tensor, labels: Tensor, task: Task) -> Tensor:
        """Cross-entropy over all classes, and distillation of the old ones."""
        logits = self.network(images)
        value = torch.nn.functional.cross_entropy(logits, labels)
        if self.teacher is None:
            return value
        return value + self.distillation(images, logits, task)
