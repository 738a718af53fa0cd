"""Contrastive losses."""

from __future__ import annotations

import torch
from torch.nn.functional import cross_entropy, normalize


def info_nce(anchors: torch.Tensor, candidates: torch.Tensor, temperature: float) -> torch.Tensor:
    """InfoNCE (van den Oord et al. 2018) of two views of each image, with cosine similarities.

    Row i of both inputs is the same view of the same image, and row i + n / 2 (or i − n / 2) is
    its other view. A view is not a candidate for itself.

    Args:
        anchors: (n, d), n even: all images in one view, then all in the other.
        candidates: (n, d), in the same order: the anchors themselves, or the features of the same
            images from another network.
        temperature: divisor of the cosines.
    """
    cosines = normalize(anchors, dim=1) @ normalize(candidates, dim=1).T
    itself = torch.eye(len(cosines), dtype=torch.bool, device=cosines.device)
    other_view = torch.arange(len(cosines), device=cosines.device).roll(len(cosines) // 2)
    return cross_entropy((cosines / temperature).masked_fill(itself, -torch.inf), other_view)


def separation_loss(vectors: torch.Tensor, temperature: float) -> torch.Tensor:
    """Return the mean −log softmax of each vector's product with itself among all (n, d)."""
    similarity = vectors @ vectors.T / temperature
    return cross_entropy(similarity, torch.arange(len(vectors), device=vectors.device))
