"""Learning from a network's own past outputs."""

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
        logits: (n, k), the student's.
        teacher: (n, k), without gradient.
        temperature: T, by which both are divided.
        weights: (k,), by which the teacher's probabilities are multiplied before they are
            brought back to a sum of 1.
    """
    wanted = torch.softmax(teacher / temperature, dim=1)
    if weights is not None:
        wanted = wanted * weights
        wanted = wanted / wanted.sum(dim=1, keepdim=True)
    return -(wanted * torch.log_softmax(logits / temperature, dim=1)).sum(dim=1).mean()
