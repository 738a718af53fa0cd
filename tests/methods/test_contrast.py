from __future__ import annotations

from math import exp, log

import numpy as np
import pytest
import torch

from edgecil.methods.class_statistics import separation_loss
from edgecil.methods.tagfex import info_nce


def test_by_hand() -> None:
    """Two images, views along the axes: the other view has cosine 1, the rest 0."""
    views = torch.tensor([[1.0, 0.0], [0.0, 2.0], [3.0, 0.0], [0.0, 1.0]])
    expected = -log(exp(2.0) / (exp(2.0) + 2.0))
    assert info_nce(views, views, 0.5).item() == pytest.approx(expected)


def test_against_loops() -> None:
    generator = torch.Generator().manual_seed(0)
    anchors = torch.randn(6, 4, generator=generator, dtype=torch.float64)
    candidates = torch.randn(6, 4, generator=generator, dtype=torch.float64)
    losses = []
    for i, anchor in enumerate(anchors.numpy()):
        cosines = [
            anchor @ other / np.linalg.norm(anchor) / np.linalg.norm(other) / 0.2
            for other in candidates.numpy()
        ]
        rivals = [cosine for j, cosine in enumerate(cosines) if j != i]
        losses.append(np.log(np.exp(rivals).sum()) - cosines[(i + 3) % 6])
    assert info_nce(anchors, candidates, 0.2).item() == pytest.approx(np.mean(losses))


def test_a_single_image_has_nothing_to_be_told_apart_from() -> None:
    views = torch.randn(2, 3, requires_grad=True)
    value = info_nce(views, views, 0.2)
    value.backward()
    assert value.item() == 0.0
    assert views.grad is not None
    assert torch.isfinite(views.grad).all()


def test_apartness_by_hand() -> None:
    vectors = torch.tensor([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
    products = torch.tensor([[1.0, 0.0, 1.0], [0.0, 4.0, 2.0], [1.0, 2.0, 2.0]]) / 0.8
    shares = products.exp() / products.exp().sum(dim=1, keepdim=True)
    torch.testing.assert_close(separation_loss(vectors, 0.8), -shares.diag().log().mean())
