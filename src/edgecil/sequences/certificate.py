"""Certificates: a value that no sequence of a space can beat, without evaluating them all.

The projected eigenvalue bound of quadratic assignment (Hadley, Rendl and Wolkowicz 1992): around
the mean, an objective is a row-sum part, bounded by pairing sorted row sums of D with sorted row
sums of the weights, plus an eigenvalue part, bounded by pairing the sorted spectra.

Up to some hundred classes it is then tightened. A sequence gives each pair of classes the weight of
their tasks, Y. For any matrix M, the eigenvalue bound of <M, Y> plus the greatest <D - M, Y> pair
by pair bounds the objective <D, Y>. ADMM searches for a good M; every M gives a valid bound.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from threadpoolctl import threadpool_limits

from edgecil.io.arrays import Floats, Ints
from edgecil.sequences.objective import Direction, Objective, pair_counts
from edgecil.sequences.space import SequenceSpace
from edgecil.similarity.matrix import Similarity

_STEPS = 400
_EVERY = 20  # steps between two bounds
_WORK = 10**9  # classes³ times steps


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
    # The parts may cancel; their rounding errors do not.
    largest_terms = abs(constant) + np.abs(row_part).max() + np.abs(spectral_part).max()
    slack = 1e-9 * float(largest_terms)
    lower, upper = (constant + row_part + spectral_part + [-slack, slack]).tolist()
    steps = min(_STEPS, _WORK // N**3)
    if steps >= _EVERY:
        values = similarity.submatrix(np.arange(N))
        # Threads gain nothing at this size, change last digits, and are ten times slower on a busy
        # machine.
        with threadpool_limits(1, user_api="blas"):
            lower = max(lower, -_tightened(values, space, -objective.weights, steps))
            upper = min(upper, _tightened(values, space, objective.weights, steps))
    return Bounds(lower, upper)


def _weight_spectrum(objective: Objective, sizes: Floats) -> Floats:
    """Return the N - 1 centred eigenvalues of the weights over places; at most K - 1 are not 0."""
    root = np.sqrt(sizes)
    ones = root / np.linalg.norm(root)
    centring = np.eye(len(sizes)) - np.outer(ones, ones)
    scaled_weights = np.outer(root, root) * objective.weights
    eigenvalues = np.linalg.eigvalsh(centring @ scaled_weights @ centring)
    without_null = np.delete(eigenvalues, np.abs(eigenvalues).argmin())
    return np.concatenate([np.sort(without_null), np.zeros(int(sizes.sum()) - len(sizes))])


def _extremes(left: Floats, right: Floats) -> Floats:
    """Return the least and greatest scalar product over all pairings of two lists, shape (2,)."""
    left, right = np.sort(left), np.sort(right)
    return np.array([left @ right[::-1], left @ right])


class _Hull:
    """A convex set around every matrix over classes that has given weights of task pairs."""

    def __init__(self, weights: Floats, space: SequenceSpace) -> None:
        N = space.classes
        task = np.repeat(np.arange(space.tasks), space.sizes)
        places = weights[np.ix_(task, task)]  # (N, N), over places
        # (N, N - 1), orthonormal columns that sum to zero
        self.basis = np.eye(N)[:, 1:] - (1.0 + np.sqrt(N) * np.eye(N)[:, :1]) / (N + np.sqrt(N))
        self.rows, self.diagonal = places.sum(axis=1), np.diag(places)
        self.spectrum = np.linalg.eigvalsh(self.centred(places)).astype(np.float64)
        self.norm = float(np.linalg.norm(places))

    def centred(self, matrix: Floats) -> Floats:
        """Return a matrix on the space of vectors that sum to zero, (N - 1, N - 1)."""
        centred: Floats = self.basis.T @ matrix @ self.basis
        return centred

    def nearest(self, matrix: Floats) -> Floats:
        """Return the matrix of the hull that is nearest to this one."""
        rows = _nearest_mixture(matrix.sum(axis=1), self.rows) / len(matrix)
        eigenvalues, vectors = np.linalg.eigh(self.centred(matrix))
        vectors = self.basis @ vectors
        nearest_eigenvalues = _nearest_mixture(eigenvalues, self.spectrum)
        nearest: Floats = vectors * nearest_eigenvalues @ vectors.T
        nearest += rows[:, None] + rows[None, :] - rows.mean()
        return nearest

    def greatest(self, matrix: Floats) -> float:
        """Return an upper bound of <matrix, Y> over all Y of the hull."""
        N = len(matrix)
        rows = matrix.sum(axis=1)
        row_part = 2.0 / N * _extremes(self.rows - self.rows.mean(), rows - rows.mean())[1]
        spectral_part = self.spectrum @ np.linalg.eigvalsh(self.centred(matrix))
        slack = 1e-9 * self.norm * np.linalg.norm(matrix)
        return float(self.rows.mean() * rows.mean() + row_part + spectral_part + slack)


def _tightened(values: Floats, space: SequenceSpace, weights: Floats, steps: int) -> float:
    """Return an upper bound of <D, Y>, for D with diagonal zero.

    Y is bounded together with a second matrix: whether two classes are on the same side of a split
    of the tasks, by the signs of the least eigenvector of the weights (for S: odd and even tasks).
    """
    values, weights, constant = _without_sums(values, weights, np.array(space.sizes))
    eigenvector = np.linalg.eigh(weights)[1][:, 0]  # of the least eigenvalue
    has_other_sign = eigenvector * eigenvector[np.abs(eigenvector).argmax()] < -1e-9
    side = np.where(has_other_sign, -1.0, 1.0)
    same_side = np.outer(side, side)
    # (m, K, K): the weights, and the split if there are two sides
    matrices = np.stack([weights, np.abs(weights).max() / 2.0 * same_side])[: len(np.unique(side))]
    hulls = [_Hull(matrix, space) for matrix in matrices]
    reach = float(np.linalg.norm(hulls[0].centred(values)) * np.linalg.norm(hulls[0].spectrum))
    if reach <= 1e-9 * np.linalg.norm(values) * hulls[0].norm:
        return np.inf
    pace = reach / float(hulls[0].spectrum @ hulls[0].spectrum)
    corners = _corners(matrices, same_side, space)
    curvature = np.linalg.norm(corners, 2) ** 2 or 1.0
    count = np.arange(1.0, len(corners) + 1.0)[:, None, None]
    shares = np.full((len(corners), *values.shape), 1.0 / len(corners))
    Y = np.tensordot(corners.T, shares, 1)  # (m, N, N)
    dual = np.zeros_like(Y)
    goals = np.stack([values, 0.0 * values])[: len(Y)]
    best = np.inf
    for step in range(1, steps + 1):
        pulled = Y - dual + goals / pace
        in_hulls = [hull.nearest(part) for hull, part in zip(hulls, pulled, strict=True)]
        wanted = dual + np.stack(in_hulls)
        shares = shares + np.tensordot(corners, wanted - Y, 1) / curvature
        excess = (np.cumsum(-np.sort(-shares, axis=0), axis=0) - 1.0) / count
        shares = np.maximum(shares - excess.max(axis=0), 0.0)  # the nearest that sum to one
        Y = np.tensordot(corners.T, shares, 1)
        for part, wanted_part, hull in zip(Y, wanted, hulls, strict=True):
            np.fill_diagonal(part, _nearest_mixture(np.diag(wanted_part), hull.diagonal))
        dual = wanted - Y
        if step % _EVERY == 0:
            moved = pace * (dual + dual.transpose(0, 2, 1)) / 2.0  # D - M
            by_pair = np.tensordot(corners, moved, 1).max(axis=0)
            np.fill_diagonal(by_pair, 0.0)
            bound = constant + float(by_pair.sum() + 1e-9 * np.abs(by_pair).sum())
            for hull, goal, part in zip(hulls, goals, moved, strict=True):
                bound += hull.greatest(goal - part)
                bound += float(_extremes(np.diag(part), hull.diagonal)[1])
            if bound > best - 1e-5 * reach:
                break
            best = bound
    return best


def _corners(matrices: Floats, same_side: Floats, space: SequenceSpace) -> Floats:
    """Return the at most four points, (c, m), whose mixtures a pair of classes can have."""
    has_pairs = pair_counts(space.sizes) > 0.0
    corners = []
    for level in np.unique(same_side):
        task_pairs = has_pairs & (same_side == level)
        if task_pairs.any():
            points = matrices[:, task_pairs].T
            weights = points[:, 0]
            corners += [points[weights.argmin()], points[weights.argmax()]]
    return np.array(corners)


def _without_sums(values: Floats, weights: Floats, sizes: Ints) -> tuple[Floats, Floats, float]:
    """Return D, weights and a constant whose bound is no smaller, without weights uᵢ + uⱼ.

    Such weights count the row sums of the classes of a task. The part of u that is linear in the
    row sums of the other weights goes into D, the rest into the constant. All stay as they are if
    no such weights fit.
    """
    off_diagonal = ~np.eye(len(sizes), dtype=bool)
    unit_vectors = np.eye(len(sizes))
    first_task, second_task = np.nonzero(off_diagonal)
    design = unit_vectors[first_task] + unit_vectors[second_task]
    u = np.linalg.lstsq(design, weights[off_diagonal], rcond=None)[0]
    other_weights = weights - u[:, None] - u[None, :]
    if len(sizes) < 2 or np.ptp(other_weights[off_diagonal]) >= np.ptp(weights[off_diagonal]):
        return values, weights, 0.0
    sums = other_weights @ sizes
    spread = sums - sizes @ sums / sizes.sum()
    is_varied = sizes @ spread**2 > 1e-12 * sizes @ sums**2
    slope = (sizes * spread) @ u / (sizes @ spread**2) if is_varied else 0.0
    rows = values.sum(axis=1)
    rest = np.repeat(u - slope * sums, sizes)
    slack = 1e-9 * np.linalg.norm(rest) * np.linalg.norm(rows)
    constant = 2.0 * _extremes(rest, rows)[1] + slack
    return values + slope * (rows[:, None] + rows[None, :]), other_weights, float(constant)


def _nearest_mixture(point: Floats, values: Floats) -> Floats:
    """Return the point nearest to `point` in the convex hull of all orders of `values`."""
    order = np.argsort(-point, kind="stable")
    sums = np.concatenate([[0.0], np.cumsum(point[order] - np.sort(values)[::-1])])
    start, end = np.ogrid[: len(point), 1 : len(sums)]
    mean = (sums[end] - sums[start]) / np.maximum(end - start, 1)
    # Isotonic regression: the least over starts of the greatest mean over ends.
    from_last = np.where(start < end, mean, -np.inf)[:, ::-1]
    greatest = np.maximum.accumulate(from_last, axis=1)[:, ::-1]
    nearest = np.empty_like(point)
    nearest[order] = point[order] - np.where(start < end, greatest, np.inf).min(axis=0)
    return nearest
