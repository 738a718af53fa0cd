"""Base class of learners that distil the network of before a task."""

from __future__ import annotations

import copy

import torch
from torch.nn.functional import cross_entropy

from edgecil.methods.network import NetworkMethod
from edgecil.methods.task import Task


class TeacherMethod(NetworkMethod):
    """Keeps a frozen copy of the old network while a task is trained."""

    teacher: torch.nn.Module | None = None  # for the first task and between tasks

    def begin(self, task: Task) -> None:
        """Keep a frozen copy of the network as teacher, from the second task on."""
        if task.old_count:
            self.teacher = copy.deepcopy(self.network).eval().requires_grad_(False)

    def end(self, task: Task) -> None:
        """Release the teacher."""
        self.teacher = None

    def distillation(
        self, images: torch.Tensor, logits: torch.Tensor, task: Task, temperature: float
    ) -> torch.Tensor:
        """Return the distillation loss of logits (b, classes) on the old classes."""
        assert self.teacher is not None
        with torch.no_grad():
            old = self.teacher(images)
        return distil(logits[:, : task.old_count], old, temperature)

    def weighted_loss(
        self, images: torch.Tensor, labels: torch.Tensor, task: Task, temperature: float
    ) -> torch.Tensor:
        """Cross-entropy over all classes and distillation, weighted by the share of old classes."""
        logits = self.network(images)
        value = cross_entropy(logits, labels)
        if self.teacher is None:
            return value
        share = task.old_count / len(task.seen)
        kept = self.distillation(images, logits, task, temperature)
        return (1.0 - share) * value + share * kept


def distil(
    logits: torch.Tensor,
    teacher: torch.Tensor,
    temperature: float,
    weights: torch.Tensor | None = None,
) -> torch.Tensor:
    """Mean cross-entropy from a teacher's softened probabilities to those of logits (n, k).

    The teacher's probabilities may be multiplied by class weights (k,) and normalised to sum 1.
    """
    target = torch.softmax(teacher / temperature, dim=1)
    if weights is not None:
        target = target * weights
        target = target / target.sum(dim=1, keepdim=True)
    return -(target * torch.log_softmax(logits / temperature, dim=1)).sum(dim=1).mean()
