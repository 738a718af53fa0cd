"""How far an estimated distribution of accuracy is from the true one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri, rel_entr

from edgecil.estimation.distributions import SAME, Distribution, as_accuracies, grid
from edgecil.io.arrays import Floats, Ints

# Finite stand-ins, so that a point is a normal distribution too and 0 times the last level is 0.
_NARROWEST, _FARTHEST = 1e-300, 1e300
_CELLS = 50_000  # of work arrays, which then fit into the processor's cache
_FEW = 512  # accuracies that are all looked at; of more, blocks


def jensen_shannon(truth: ArrayLike, estimate: Distribution) -> float:
    """Jensen-Shannon divergence in nats, in [0, ln 2], on the truth's :func:`grid`.

    A point mass puts all its probability into one bin, or half of it into either neighbour if it
    lies on the edge between them; nothing is smoothed.

    Args:
        truth: (n,) accuracies, each of the same probability.
        estimate: the distribution to compare with the truth.
    """
    return float(Target.of(truth).distances([estimate])[0, 0])


def wasserstein(truth: ArrayLike, estimate: Distribution) -> float:
    """W₁ = ∫ |F - G| in accuracy points, exactly, between n accuracies and any distribution."""
    return float(Target.of(truth).distances([estimate])[0, 1])


def wasserstein_2(truth: ArrayLike, estimate: Distribution) -> float:
    """W₂ = √∫ (F⁻¹ - G⁻¹)² in accuracy points, exactly, between n accuracies and a distribution.

    ∫ (F⁻¹ - G⁻¹)² = E[X²] + E[Y²] - 2 ∫ F⁻¹ G⁻¹; F⁻¹ is constant between levels, where the integral
    of G⁻¹ is a partial mean of the estimate.

    >>> round(wasserstein_2([1.0, 3.0], Distribution.of([2.0])), 6)
    1.0
    """
    target = Target.of(truth)
    level = np.concatenate([[0.0], target.reached])
    share = np.diff(level)
    mixed = float(target.values @ np.diff(_partial_means(estimate, level)))
    squares = float(share @ target.values**2) + estimate.mean**2 + estimate.std**2
    return math.sqrt(max(squares - 2.0 * mixed, 0.0))


def _partial_means(estimate: Distribution, levels: Floats) -> Floats:
    """∫ of the quantile function from 0 to each level in [0, 1], the first 0 and the last 1."""
    if estimate.width == 0.0:
        reached = np.concatenate([[0.0], np.cumsum(estimate.weights)])
        sums = np.concatenate([[0.0], np.cumsum(estimate.weights * estimate.locations)])
        return np.asarray(np.interp(levels, reached / reached[-1], sums))
    inner = levels[1:-1]
    points = estimate.quantile(inner) if inner.size else inner
    # ∫₀ᵖ G⁻¹ = p q - E[(q - Y)₊] with q = G⁻¹(p)
    means = inner * points - estimate.shortfall(points)
    return np.concatenate([[0.0], means, [estimate.mean]])


@dataclass(frozen=True, eq=False)
class Target:
    """True accuracies, sorted and binned once, to compare many estimates with.

    Attributes:
        values: (m,) different accuracies, ascending.
        reached: (m,) share of the n accuracies up to each of them; the last is 1.
        edges: those of the :func:`grid`.
        shares: probability of each bin, the open ones included.
    """

    values: Floats
    reached: Floats
    edges: Floats
    shares: Floats

    @classmethod
    def of(cls, truth: ArrayLike) -> Target:
        """Return the target that n accuracies make, each of the same probability."""
        accuracies = as_accuracies(truth)
        values, counts = np.unique(accuracies, return_counts=True)
        edges = grid(accuracies)
        weights = np.asarray(counts, dtype=np.float64)
        shares = _binned(Distribution(values, weights).cdf(_around(edges)))
        return cls(values, np.cumsum(counts) / counts.sum(), edges, shares)

    def distances(self, estimates: Sequence[Distribution]) -> Floats:
        """JSD and W₁ of each of B estimates, shape (B, 2); normal ones all at once."""
        if all(len(estimate.locations) == 1 for estimate in estimates):
            means = np.array([estimate.locations[0] for estimate in estimates])
            stds = np.array([estimate.width for estimate in estimates])
            rows = max(1, _CELLS // min(len(self.values), _FEW))
            distances = [
                self._to_normals(
                    means[start : start + rows, None], stds[start : start + rows, None]
                )
                for start in range(0, len(means), rows)
            ]
            return np.concatenate(distances) if distances else np.empty((0, 2))
        return np.array(
            [
                (
                    self._divergence(_binned(estimate.cdf(self._points))),
                    self._to_mixture(estimate),
                )
                for estimate in estimates
            ]
        )

    def _divergence(self, shares: Floats) -> Floats:
        """JSD of bins' probabilities, shape (…, bins), from the truth's: shape (…)."""
        middle = (self.shares + shares) / 2.0
        divergence = (rel_entr(self.shares, middle) + rel_entr(shares, middle)).sum(axis=-1) / 2.0
        return np.asarray(np.clip(divergence, 0.0, np.log(2.0)))

    @cached_property
    def _levels(self) -> tuple[Floats, Floats, Floats]:
        """The levels from 0 to 1, (m + 1,), and Φ⁻¹ and the normal density there."""
        level = np.concatenate([[0.0], self.reached])
        z = ndtri(level)
        density = np.exp(-0.5 * z**2) / np.sqrt(2.0 * np.pi)
        return level, z.clip(-_FARTHEST, _FARTHEST), density

    @cached_property
    def _sums(self) -> Floats:
        """∫ F⁻¹ up to each level, (m + 1,)."""
        level, _, _ = self._levels
        return np.concatenate([[0.0], np.cumsum(np.diff(level) * self.values)])

    @cached_property
    def _area(self) -> Floats:
        """∫ F up to each accuracy, (m,)."""
        return np.concatenate([[0.0], np.cumsum(self.reached[:-1] * np.diff(self.values))])

    @cached_property
    def _points(self) -> Floats:
        return _around(self.edges)

    def _to_normals(self, means: Floats, stds: Floats) -> Floats:
        """Return distances (B, 2) of normal distributions, with arguments of shape (B, 1)."""
        reached = ndtr((self._points[:, None] - means) / np.maximum(stds, _NARROWEST))
        jsd = self._divergence(_binned(reached))
        if len(self.values) > _FEW:
            return np.stack([jsd, self._by_blocks(means, stds)], axis=1)
        level, z, density = self._levels
        gaps = np.abs(np.diff(level) * (self.values - means) + stds * np.diff(density))
        row, place = np.nonzero(
            (means + stds * z[:-1] < self.values) & (self.values < means + stds * z[1:])
        )
        gaps[row, place] = self._crossed(means[row, 0], stds[row, 0], place)
        return np.stack([jsd, gaps.sum(axis=1)], axis=1)

    def _crossed(self, mean: Floats, std: Floats, place: Ints) -> Floats:
        """∫ |value - G⁻¹| between two levels where the quantile function G⁻¹ passes the value.

        Where F⁻¹ is constant, from one level to the next, G⁻¹ = mean + std Φ⁻¹ has the integral
        that follows from the density at Φ⁻¹ of both levels, and crosses F⁻¹ at most once.
        """
        level, _, density = self._levels
        value = self.values[place]
        crossing = (value - mean) / std
        # ∫ (value - G⁻¹) up to a level is that much above or below 0; both sides count positive.
        until, below, above = (
            (value - mean) * share + std * height
            for share, height in (
                (ndtr(crossing), np.exp(-0.5 * crossing**2) / np.sqrt(2.0 * np.pi)),
                (level[place], density[place]),
                (level[place + 1], density[place + 1]),
            )
        )
        return np.asarray(2.0 * until - below - above)

    def _by_blocks(self, means: Floats, stds: Floats) -> Floats:
        """W₁ = ∫ |F⁻¹ - G⁻¹| of normal distributions, for many accuracies: shape (B,).

        F⁻¹ - G⁻¹ keeps its sign in a block of accuracies if all of them are above, or all below,
        what G⁻¹ reaches there; the integral over such a block follows from both ends. Other blocks
        are divided, down to single accuracies.
        """
        level, z, density = self._levels
        count, sums = len(self.values), self._sums
        row, start = np.arange(len(means)), np.zeros(len(means), dtype=np.int64)
        end = np.full(len(means), count)
        distance = np.zeros(len(means))
        for stride in (int(count ** (2 / 3)), int(count ** (1 / 3)), 1):
            row, start, end = _divide(row, start, end, stride)
            mean, std = means[row, 0], stds[row, 0]
            low, high = mean + std * z[start], mean + std * z[end]
            share, rise = level[end] - level[start], density[end] - density[start]
            gaps = np.abs(sums[end] - sums[start] - mean * share + std * rise)
            sure = (self.values[start] >= high) | (self.values[end - 1] <= low)
            if stride == 1:
                unsure = np.flatnonzero(~sure)
                gaps[unsure] = self._crossed(mean[unsure], std[unsure], start[unsure])
                sure[:] = True
            distance += np.bincount(row[sure], weights=gaps[sure], minlength=len(means))
            row, start, end = row[~sure], start[~sure], end[~sure]
        return distance

    def _to_mixture(self, estimate: Distribution) -> float:
        """W₁ of a mixture, by the areas under F and G between accuracies.

        Between accuracies far apart F - G keeps its sign if G at one of them is beyond F at the
        other. Where that does not hold every accuracy is looked at: between neighbours F is
        constant, and G crosses it at most once.
        """
        values, level = self.values, self.reached
        last = len(values) - 1
        powers = (1 / 2,) if last < _FEW else (2 / 3, 1 / 3)
        first, *finer = [max(1, int(last**power)) for power in powers]
        knots = np.append(np.arange(0, last, first), last)
        cdf = estimate.cdf(values[knots])
        for stride in (*finer, 1):
            unsure = (cdf[:-1] < level[knots[1:] - 1]) & (cdf[1:] > level[knots[:-1]])
            doubtful = zip(knots[:-1][unsure], knots[1:][unsure], strict=True)
            between = np.concatenate(
                [knots[:0], *(np.arange(a, b, stride)[1:] for a, b in doubtful)]
            )
            knots = np.concatenate([knots, between])
            cdf = np.concatenate([cdf, estimate.cdf(values[between])])
            order = np.argsort(knots)
            knots, cdf = knots[order], cdf[order]
        points, low = values[knots], level[knots[:-1]]
        under = estimate.shortfall(points)
        gaps = np.diff(self._area[knots]) - np.diff(under)
        crossed = np.flatnonzero((cdf[:-1] < low) & (cdf[1:] > low))
        if crossed.size:
            start, level_there = points[crossed], low[crossed]
            crossing = estimate.solve(level_there, start, points[crossed + 1])
            above = level_there * (crossing - start) - estimate.shortfall(crossing) + under[crossed]
            gaps[crossed] = 2.0 * above - gaps[crossed]
        beyond = under[-1] + estimate.mean - values[-1]
        return float(under[0] + np.abs(gaps).sum() + max(beyond, 0.0))


def _divide(row: Ints, start: Ints, end: Ints, stride: int) -> tuple[Ints, Ints, Ints]:
    """Blocks from `start` to `end` in parts of a length, each with the row of its block."""
    parts = -(-(end - start) // stride)
    first = np.repeat(np.cumsum(parts) - parts, parts)
    begin = np.repeat(start, parts) + stride * (np.arange(len(first)) - first)
    return np.repeat(row, parts), begin, np.minimum(begin + stride, np.repeat(end, parts))


def _around(edges: Floats) -> Floats:
    """Return points just below and just above every inner edge, and the outer edges, (2, edges).

    The mean of a cdf at both counts what lies on an edge half for either bin.
    """
    aside = np.full(len(edges), SAME)
    aside[[0, -1]] = 0.0
    return np.stack([edges - aside, edges + aside])


def _binned(reached: Floats) -> Floats:
    """Return the probability of each bin, (…, bins), from a cdf at both sides of the edges."""
    cdf = reached.mean(axis=0)
    return np.asarray(np.diff(cdf, axis=-1, prepend=0.0, append=1.0).clip(0.0))
