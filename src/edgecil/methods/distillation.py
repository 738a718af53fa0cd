"""Learning from a network's own past outputs."""

from __future__ import annotations

import torch


def distil(logits: torch.Tensor, teacher: torch.Tensor, temperature: float) -> torch.Tensor:
    """Cross-entropy from the teacher's softened probabilities to the student's, averaged.

    Args:
        logits: (n, k), the student's.
        teacher: (n, k), without gradient.
        temperature: T, by which both are divided.
    """
    wanted = torch.softmax(teacher / temperature, dim=1)
    return -(wanted * torch.log_softmax(logits / temperature, dim=1)).sum(dim=1).mean()
