"""Certificates: a value that no sequence of a space can beat, without looking at them all.

The projected eigenvalue bound of quadratic assignment (Hadley, Rendl and Wolkowicz 1992): around
the mean, an objective is a row-sum part, bounded by pairing sorted row sums of D with sorted row
sums of the weights, plus an eigenvalue part, bounded by pairing the sorted spectra.

Up to some hundred classes it is then tightened. A sequence gives each pair of classes the weight of
their tasks, Y. For any matrix M, the eigenvalue bound of <M, Y> plus the greatest <D - M, Y> pair
by pair bounds the objective <D, Y>. ADMM looks for a good M; no bound relies on how far it came.
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
    slack = 1e-9 * float(abs(constant) + np.abs(row_part).max() + np.abs(spectral_part).max())
    lower, upper = (constant + row_part + spectral_part + [-slack, slack]).tolist()
    steps = min(_STEPS, _WORK // N**3)
    if steps >= _EVERY:
        values = similarity.submatrix(np.arange(N))
        # Threads gain nothing at this size, change last digits, and on a busy machine cost tenfold.
        with threadpool_limits(1, user_api="blas"):
            lower = max(lower, -_tightened(values, space, -objective.weights, steps))
            upper = min(upper, _tightened(values, space, objective.weights, steps))
    return Bounds(lower, upper)


def _weight_spectrum(objective: Objective, sizes: Floats) -> Floats:
    """Return the N - 1 centred eigenvalues of the weights over places, at most K - 1 nonzero."""
    root = np.sqrt(sizes)
    ones = root / np.linalg.norm(root)
    project = np.eye(len(sizes)) - np.outer(ones, ones)
    eigenvalues = np.linalg.eigvalsh(project @ (np.outer(root, root) * objective.weights) @ project)
    kept = np.sort(np.delete(eigenvalues, np.abs(eigenvalues).argmin()))
    return np.concatenate([kept, np.zeros(int(sizes.sum()) - len(sizes))])


def _extremes(left: Floats, right: Floats) -> Floats:
    """Return the least and greatest scalar product over all pairings of two lists, shape (2,)."""
    ascending, other = np.sort(left), np.sort(right)
    return np.array([ascending @ other[::-1], ascending @ other])


class _Hull:
    """A convex set around every matrix over classes that has given weights of task pairs."""

    def __init__(self, weights: Floats, space: SequenceSpace) -> None:
        N, task = space.classes, np.repeat(np.arange(space.tasks), space.sizes)
        places = weights[np.ix_(task, task)]
        # (N, N - 1), orthonormal columns that sum to zero
        self.basis = np.eye(N)[:, 1:] - (1.0 + np.sqrt(N) * np.eye(N)[:, :1]) / (N + np.sqrt(N))
        self.rows, self.diagonal = places.sum(axis=1), np.diag(places)
        self.spectrum = np.linalg.eigvalsh(self.centred(places)).astype(np.float64)
        self.norm = float(np.linalg.norm(places))

    def centred(self, matrix: Floats) -> Floats:
        centred: Floats = self.basis.T @ matrix @ self.basis
        return centred

    def nearest(self, matrix: Floats) -> Floats:
        """Return the matrix of the hull that is nearest to this one."""
        rows = _nearest_mixture(matrix.sum(axis=1), self.rows) / len(matrix)
        eigenvalues, vectors = np.linalg.eigh(self.centred(matrix))
        vectors = self.basis @ vectors
        near: Floats = vectors * _nearest_mixture(eigenvalues, self.spectrum) @ vectors.T
        near += rows[:, None] + rows[None, :] - rows.mean()
        return near

    def greatest(self, matrix: Floats) -> float:
        """Return what <matrix, Y> cannot pass for any Y of the hull."""
        N, rows = len(matrix), matrix.sum(axis=1)
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
    least = np.linalg.eigh(weights)[1][:, 0]
    side = np.where(least * least[np.abs(least).argmax()] < -1e-9, -1.0, 1.0)
    same = np.outer(side, side)
    both = np.stack([weights, np.abs(weights).max() / 2.0 * same])[: len(np.unique(side))]
    hulls = [_Hull(one, space) for one in both]
    reach = float(np.linalg.norm(hulls[0].centred(values)) * np.linalg.norm(hulls[0].spectrum))
    if reach <= 1e-9 * np.linalg.norm(values) * hulls[0].norm:
        return np.inf
    pace = reach / float(hulls[0].spectrum @ hulls[0].spectrum)
    # What a pair of classes can have of both is a mixture of at most four corners.
    possible = [(pair_counts(space.sizes) > 0.0) & (same == level) for level in np.unique(same)]
    sides = [both[:, pairs].T for pairs in possible if pairs.any()]
    corners = np.array([one[pick(one[:, 0])] for one in sides for pick in (np.argmin, np.argmax)])
    curvature = np.linalg.norm(corners, 2) ** 2 or 1.0
    count = np.arange(1.0, len(corners) + 1.0)[:, None, None]
    shares = np.full((len(corners), *values.shape), 1.0 / len(corners))
    Y = np.tensordot(corners.T, shares, 1)
    dual, goals, best = np.zeros_like(Y), np.stack([values, 0.0 * values])[: len(Y)], np.inf
    for step in range(1, steps + 1):
        pulled = Y - dual + goals / pace
        wanted = dual + [hull.nearest(one) for hull, one in zip(hulls, pulled, strict=True)]
        shares = shares + np.tensordot(corners, wanted - Y, 1) / curvature
        above = (np.cumsum(-np.sort(-shares, axis=0), axis=0) - 1.0) / count
        shares = np.maximum(shares - above.max(axis=0), 0.0)  # the nearest that are shares
        Y = np.tensordot(corners.T, shares, 1)
        for one, want, hull in zip(Y, wanted, hulls, strict=True):
            np.fill_diagonal(one, _nearest_mixture(np.diag(want), hull.diagonal))
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


def _without_sums(values: Floats, weights: Floats, sizes: Ints) -> tuple[Floats, Floats, float]:
    """Return D, weights and a constant of no smaller value, without weights uᵢ + uⱼ if they fit.

    Such weights count the row sums of the classes of a task. As far as u is linear in the row sums
    of the other weights they go into D, else into the constant.
    """
    apart = ~np.eye(len(sizes), dtype=bool)
    design = np.add(*(np.eye(len(sizes))[ends] for ends in np.nonzero(apart)))
    u = np.linalg.lstsq(design, weights[apart], rcond=None)[0]
    others = weights - u[:, None] - u[None, :]
    if len(sizes) < 2 or np.ptp(others[apart]) >= np.ptp(weights[apart]):
        return values, weights, 0.0
    sums = others @ sizes
    spread = sums - sizes @ sums / sizes.sum()
    varied = sizes @ spread**2 > 1e-12 * sizes @ sums**2
    slope = (sizes * spread) @ u / (sizes @ spread**2) if varied else 0.0
    rows, left = values.sum(axis=1), np.repeat(u - slope * sums, sizes)
    constant = 2.0 * _extremes(left, rows)[1] + 1e-9 * np.linalg.norm(left) * np.linalg.norm(rows)
    return values + slope * (rows[:, None] + rows[None, :]), others, float(constant)


def _nearest_mixture(point: Floats, values: Floats) -> Floats:
    """Return the point nearest to `point` in the convex hull of all orders of `values`."""
    order = np.argsort(-point, kind="stable")
    sums = np.concatenate([[0.0], np.cumsum(point[order] - np.sort(values)[::-1])])
    start, end = np.ogrid[: len(point), 1 : len(sums)]
    mean = (sums[end] - sums[start]) / np.maximum(end - start, 1)
    # Isotonic regression: the least over starts of the greatest mean over ends.
    greatest = np.maximum.accumulate(np.where(start < end, mean, -np.inf)[:, ::-1], axis=1)[:, ::-1]
    nearest = np.empty_like(point)
    nearest[order] = point[order] - np.where(start < end, greatest, np.inf).min(axis=0)
    return nearest
