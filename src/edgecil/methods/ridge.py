"""Errors of ridge regression on held-out images, for every candidate penalty at once."""

from __future__ import annotations

import torch

RIDGES = tuple(10.0**exponent for exponent in range(-8, 9))

_LARGE = 10_000_000  # numbers above which an eigendecomposition replaces the slower SVD
_KEPT = 0.8  # share of a task's images that RanPAC's published rule fits on; it tests on the others


def last_task_errors(features: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Return the squared error on the last fifth of the images for each of `RIDGES`.

    One eigendecomposition of the smaller Gram matrix serves all ridges.

    Args:
        features: (n, M), in random order.
        targets: one-hot, (n, classes).
    """
    kept = int(_KEPT * len(features))
    (fitted, tested), (goals, expected) = (
        values.tensor_split([kept]) for values in (features, targets)
    )
    wide = kept <= features.shape[1]
    lengths, axes = torch.linalg.eigh(fitted @ fitted.T if wide else fitted.T @ fitted)
    goals = axes.T @ (goals if wide else fitted.T @ goals)
    tested = (tested @ fitted.T if wide else tested) @ axes
    errors = []
    for ridge in RIDGES:
        predicted = tested @ (goals / (lengths.clamp(min=0.0) + ridge)[:, None])
        errors.append((predicted - expected).square().sum())
    return torch.stack(errors).cpu()


def held_out_errors(features: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Leave-one-out squared error of ridge regression for each of `RIDGES`.

    One singular value decomposition suffices: the leave-one-out residual of an image is its
    residual divided by one minus its leverage.

    Args:
        features: (n, M).
        targets: one-hot, (n, classes).
    """
    if len(features) <= features.shape[1] and features.numel() > _LARGE:
        squares, left = torch.linalg.eigh(features @ features.T)
        lengths = squares.clamp(min=0.0).sqrt()
    else:
        left, lengths, _ = torch.linalg.svd(features, full_matrices=False)
    slopes = left.T @ targets
    beyond = targets - left @ slopes
    free = (1.0 - left.square().sum(dim=1)).clamp(min=0.0)
    if len(features) <= features.shape[1]:  # the targets are reached exactly; the rest is rounding
        beyond, free = torch.zeros_like(beyond), torch.zeros_like(free)
    errors = []
    for ridge in RIDGES:
        shrinkage = ridge / (lengths**2 + ridge)
        residuals = beyond + (left * shrinkage) @ slopes
        others = free + left.square() @ shrinkage
        errors.append((residuals / others[:, None]).square().sum())
    return torch.stack(errors)
