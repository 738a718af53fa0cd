"""The lower triangles of square matrices, row by row: half the size of what a state stores."""

from __future__ import annotations

import torch


def pack_triangle(matrices: torch.Tensor) -> torch.Tensor:
    """Return the lower triangles (…, d (d + 1) / 2) of matrices (…, d, d).

    >>> pack_triangle(torch.tensor([[1, 0], [2, 3]])).tolist()
    [1, 2, 3]
    """
    rows = [matrices[..., row, : row + 1] for row in range(matrices.shape[-1])]
    return torch.cat(rows, dim=-1)


def unpack_triangle(packed: torch.Tensor, size: int, *, symmetric: bool = False) -> torch.Tensor:
    """Return matrices (…, d, d) from :func:`pack_triangle`.

    Args:
        packed: (…, d (d + 1) / 2).
        size: d.
        symmetric: whether the upper triangle mirrors the lower one, in place of zeros.

    >>> unpack_triangle(torch.tensor([1, 2, 3]), 2, symmetric=True).tolist()
    [[1, 2], [2, 3]]
    """
    matrices = packed.new_zeros(*packed.shape[:-1], size, size)
    for row, values in enumerate(packed.split(list(range(1, size + 1)), dim=-1)):
        matrices[..., row, : row + 1] = values
        if symmetric:
            matrices[..., :row, row] = values[..., :row]
    return matrices
