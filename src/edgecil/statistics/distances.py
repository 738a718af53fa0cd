"""How far an estimated distribution of accuracy is from the true one: W₁ and JSD."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri, rel_entr

from edgecil.errors import UsageError
from edgecil.io.arrays import Floats
from edgecil.statistics.distributions import SAME, Distribution, grid

_NARROWEST, _FARTHEST = 1e-300, 40.0  # a point is a narrow normal distribution
_ROOT = math.sqrt(2.0 * math.pi)


def jensen_shannon(truth: ArrayLike, estimate: Distribution) -> float:
    """Jensen-Shannon divergence in nats, in [0, ln 2], of n accuracies on their :func:`grid`."""
    return float(Target.of(truth).distances([estimate])[0, 0])


def wasserstein(truth: ArrayLike, estimate: Distribution) -> float:
    """W₁ = ∫ |F - G| in accuracy points, exactly, between n accuracies and any distribution."""
    return float(Target.of(truth).distances([estimate])[0, 1])


@dataclass(frozen=True, eq=False)
class Target:
    """True accuracies, sorted and binned once, to compare many estimates with.

    Attributes:
        values: (m,) different accuracies, ascending.
        reached: (m,) share of the n accuracies up to each of them; the last is 1.
        edges: (2, k) points just below and above the edges of the :func:`grid`, so that what lies
            on an inner edge counts half for either bin.
        shares: probability of each bin, the open ones included.
    """

    values: Floats
    reached: Floats
    edges: Floats
    shares: Floats

    @classmethod
    def of(cls, truth: ArrayLike) -> Target:
        """Return the target that n accuracies make, each of the same probability."""
        accuracies = np.atleast_1d(np.asarray(truth, dtype=np.float64))
        if accuracies.ndim != 1 or not accuracies.size or not np.isfinite(accuracies).all():
            raise UsageError("A true distribution requires accuracies, all of them finite.")
        values, counts = np.unique(accuracies, return_counts=True)
        edges = _around(grid(accuracies))
        reached = np.concatenate([[0.0], np.cumsum(counts) / counts.sum()])
        at = reached[np.searchsorted(values, edges, side="right")].mean(axis=0)
        return cls(values, reached[1:], edges, np.diff(at, prepend=0.0, append=1.0))

    def distances(self, estimates: Sequence[Distribution]) -> Floats:
        """JSD and W₁ of each of B estimates, shape (B, 2); normal ones all at once."""
        if estimates and all(len(estimate.locations) == 1 for estimate in estimates):
            means = np.array([[estimate.mean] for estimate in estimates])
            stds = np.maximum([[estimate.width] for estimate in estimates], _NARROWEST)
            at = means + stds * np.clip(ndtri(self._inner), -_FARTHEST, _FARTHEST)
            reached = ndtr((self.edges[:, None] - means) / stds).mean(axis=0)

            def area(points: Floats) -> Floats:
                above = points - means
                z = np.clip(above / stds, -_FARTHEST, _FARTHEST)
                return np.asarray(above * ndtr(z) + stds * np.exp(-0.5 * z**2) / _ROOT)

            return np.stack([self._divergence(reached), self._area(at, area, means)], axis=1)
        rows = []
        for estimate in estimates:
            below = estimate.cdf(self.values)
            crossed = (below[:-1] < self._inner) & (self._inner < below[1:])
            at = np.where(self._inner <= below[:-1], self.values[:-1], self.values[1:])
            ends = self.values[:-1][crossed], self.values[1:][crossed]
            if crossed.any():
                at[crossed] = estimate.solve(self._inner[crossed], *ends)
            reached = estimate.cdf(self.edges).mean(axis=0)
            w1 = self._area(at[None], estimate.shortfall, np.array([[estimate.mean]]))[0]
            rows.append((float(self._divergence(reached)), float(w1)))
        return np.array(rows).reshape(-1, 2)

    @property
    def _inner(self) -> Floats:
        return self.reached[:-1]

    def _divergence(self, reached: Floats) -> Floats:
        """JSD from the truth of a cdf at the edges, shape (…, edges): shape (…)."""
        ends = np.zeros((*reached.shape[:-1], 1))
        shares = np.diff(np.concatenate([ends, reached, ends + 1.0], axis=-1), axis=-1)
        middle = (self.shares + shares) / 2.0
        divergence = (rel_entr(self.shares, middle) + rel_entr(shares, middle)).sum(axis=-1) / 2.0
        return np.asarray(np.clip(divergence, 0.0, np.log(2.0)))

    def _area(self, at: Floats, area: Callable[[Floats], Floats], means: Floats) -> Floats:
        """∫ |F - G|, (B,).

        F is constant between neighbouring accuracies a and b, where G crosses it at most once, at
        q: ∫ |F - G| = F (q - a) - ∫ₐ𐞥 G + ∫_qᵇ G - F (b - q), with ∫ G up to x = E[(x - Y)₊].

        Args:
            at: (B, m - 1) where G reaches each level of F.
            area: ∫ G up to points of shape (B, k) or (k,).
            means: (B, 1) of the estimates.
        """
        low, high = self.values[:-1], self.values[1:]
        crossing = np.clip(at, low, high)
        integral, middle = area(self.values) + 0.0 * means, area(crossing)
        between = self._inner * (2.0 * crossing - low - high) + (
            integral[:, :-1] + integral[:, 1:] - 2.0 * middle
        )
        # below all accuracies F is 0, above all it is 1: E[(a - Y)₊] and E[(Y - b)₊]
        above = means[:, 0] - self.values[-1] + integral[:, -1]
        return np.asarray(integral[:, 0] + np.maximum(above, 0.0) + between.sum(axis=1))


def _around(edges: Floats) -> Floats:
    aside = np.full(len(edges), SAME)
    aside[[0, -1]] = 0.0
    return np.stack([edges - aside, edges + aside])
