"""Certificates: a value that no sequence of a space can beat, without looking at them all.

The projected eigenvalue bound of quadratic assignment (Hadley, Rendl and Wolkowicz 1992): around
the mean, an objective is a row-sum part, bounded by pairing sorted row sums of D with sorted row
sums of the weights, plus an eigenvalue part, bounded by pairing the sorted spectra.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from edgecil.io.arrays import Floats
from edgecil.sequences.objective import Direction, Objective
from edgecil.sequences.space import SequenceSpace
from edgecil.similarity.matrix import Similarity


@dataclass(frozen=True)
class Bounds:
    """No sequence of the space has an objective below `lower` or above `upper`."""

    lower: float
    upper: float

    def of(self, direction: Direction) -> float:
        """Return the bound that an optimum in this direction cannot pass."""
        return self.lower if direction == "min" else self.upper

    def gap(self, value: float, direction: Direction) -> float:
        """Return the distance of `value` from the bound, as a share of the range of both bounds."""
        width = self.upper - self.lower
        return abs(value - self.of(direction)) / width if width > 0.0 else 0.0


def bounds(similarity: Similarity, space: SequenceSpace, objective: Objective) -> Bounds:
    """Bound the objective over the whole space, in O(N³)."""
    space.require_similarity(similarity)
    N = space.classes
    rows = similarity.row_sums()
    sizes = np.array(space.sizes, dtype=np.float64)
    weight_rows = objective.weights @ sizes
    constant = float(sizes @ weight_rows * rows.sum()) / N**2
    weight_spread = np.repeat(weight_rows - sizes @ weight_rows / N, space.sizes)
    row_part = 2.0 / N * _extremes(weight_spread, rows - rows.mean())
    spectral_part = _extremes(_weight_spectrum(objective, sizes), similarity.centred_spectrum())
    lower, upper = (constant + row_part + spectral_part).tolist()
    # The parts may cancel; their rounding errors do not.
    slack = 1e-9 * float(abs(constant) + np.abs(row_part).max() + np.abs(spectral_part).max())
    return Bounds(lower - slack, upper + slack)


def _weight_spectrum(objective: Objective, sizes: Floats) -> Floats:
    """Return the N - 1 centred eigenvalues of the weights over places, at most K - 1 nonzero."""
    root = np.sqrt(sizes)
    ones = root / np.linalg.norm(root)
    project = np.eye(len(sizes)) - np.outer(ones, ones)
    eigenvalues = np.linalg.eigvalsh(project @ (np.outer(root, root) * objective.weights) @ project)
    padded = np.zeros(int(sizes.sum()) - 1)
    kept = np.sort(np.delete(eigenvalues, np.abs(eigenvalues).argmin()))
    padded[: len(kept)] = kept
    return padded


def _extremes(left: Floats, right: Floats) -> Floats:
    """Return the least and greatest scalar product over all pairings of two lists, shape (2,)."""
    ascending = np.sort(left)
    other = np.sort(right)
    return np.array([ascending @ other[::-1], ascending @ other])
