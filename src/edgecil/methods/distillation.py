"""Knowledge distillation."""

from __future__ import annotations

import torch


def distil(
    logits: torch.Tensor,
    teacher: torch.Tensor,
    temperature: float,
    weights: torch.Tensor | None = None,
) -> torch.Tensor:
    """Cross-entropy from the teacher's softened probabilities to the student's, averaged.

    Args:
        logits: logits of the student, (n, k).
        teacher: logits of the teacher, (n, k), without gradient.
        temperature: T; both logits are divided by it.
        weights: class weights (k,); the teacher's probabilities are multiplied by them and
            normalised to a sum of 1.
    """
    target = torch.softmax(teacher / temperature, dim=1)
    if weights is not None:
        target = target * weights
        target = target / target.sum(dim=1, keepdim=True)
    return -(target * torch.log_softmax(logits / temperature, dim=1)).sum(dim=1).mean()
