"""Order or luck: how far differences between orders are due to the order, or to training noise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import fdtrc, fdtri

from edgecil.io.arrays import Bools, Floats
from edgecil.statistics.distributions import SAME
from edgecil.statistics.inversion import bisect
from edgecil.statistics.posterior import Interval
from edgecil.statistics.verdicts import LEVEL

_NUMBERS = 2_000_000
_DRAWS = 4_000
_STEPS = 80


@dataclass(frozen=True)
class OrderEffect:
    """One-way random effects: accuracy = mean + order + training noise.

    Attributes:
        order_count: how many different sequences were trained.
        repeated_orders: how many of them were trained with several seeds.
        repeats: how many trainings these are beyond the first of each.
        range: highest minus lowest accuracy of the orders, each the mean over its trainings.
        order_std: standard deviation due to the order, without training noise; None without
            repeats, and so are the following fields.
        noise_std: standard deviation between trainings of one order.
        order_share: of the variance of single trainings, in [0, 1]; None if nothing varies.
        order_share_low: lower end of its interval at the level that was asked for, which is exact
            if accuracies are normal, and wider where orders differ less than noise would make them.
        order_share_high: its upper end.
        p_value: of the F test that orders do not differ.
        noise_range: mean range of as many orders if they differed by training noise only.
        noise_range_limit: exceeded by noise alone with probability 1 - level; noise_std is
            uncertain, and that is taken into account.
        reason: why something is None.
    """

    order_count: int
    repeated_orders: int
    repeats: int
    range: float
    order_std: float | None = None
    noise_std: float | None = None
    order_share: float | None = None
    order_share_low: float | None = None
    order_share_high: float | None = None
    p_value: float | None = None
    noise_range: float | None = None
    noise_range_limit: float | None = None
    reason: str | None = None

    @property
    def order_share_interval(self) -> Interval | None:
        """Both ends of the interval of the order's share; None if there is none."""
        if self.order_share_low is None or self.order_share_high is None:
            return None
        return self.order_share_low, self.order_share_high

    @property
    def exceeds_noise(self) -> bool | None:
        """Whether the range is larger than noise alone would give; None if that is unknown."""
        return None if self.noise_range_limit is None else self.range > self.noise_range_limit


def split_variance(groups: Sequence[ArrayLike], level: float = LEVEL) -> OrderEffect:
    """Return the order's part and the noise's part of the variance, for groups of any sizes.

    The mean squares between and within orders give the components; a negative one counts as 0
    (Searle, Casella and McCulloch 1992, section 3.6). The interval is Wald's (1940): with weights
    wᵢ = 1/(τ + 1/nᵢ) and the weighted mean, Σ wᵢ (ȳᵢ - ȳ)² / (L-1) divided by the mean square
    within has an F distribution if τ is the true ratio of the variances; it decreases with τ.
    Where orders differ less than noise would make them, its upper end would be near 0 or at 0 by
    luck, from any number of orders; it is at least the upper end for orders that differ as noise
    alone does, at the median of F (a power-constrained limit; Cowan et al. 2011, arXiv:1105.3166).

    Args:
        groups: the accuracies of each order, one per training.
        level: probability with which the interval contains the order's share.
    """
    arrays = [np.asarray(group, dtype=np.float64) for group in groups]
    sizes = np.array([len(group) for group in arrays], dtype=np.float64)
    means, squares = np.zeros((2, len(arrays)))
    for size in set(sizes.tolist()):
        has_size = sizes == size
        same = np.stack([group for group in arrays if len(group) == size])
        means[has_size] = same.mean(axis=1)
        squares[has_size] = ((same - means[has_size, None]) ** 2).sum(axis=1)
    count, total = len(arrays), int(sizes.sum())
    about = count, int((sizes > 1).sum()), total - count, float(np.ptp(means))
    if total == count:
        return OrderEffect(*about, reason="each order was trained once")
    within, freedom = sum(squares.tolist()) / (total - count), total - count
    noise = float(np.sqrt(within))
    if count < 2:
        return OrderEffect(*about, noise_std=noise, reason="requires at least 2 orders; got 1")
    grand = float(sizes @ means / total)
    between = float(sizes @ (means - grand) ** 2) / (count - 1)
    typical = (total - float(sizes @ sizes) / total) / (count - 1)
    order = max(0.0, (between - within) / typical)
    whole = order + within
    if whole <= SAME**2:
        return OrderEffect(*about, order_std=0.0, noise_std=noise, reason="no accuracy differs")
    low, high = _share_interval(means, sizes, within, freedom, level)
    usual, limit = _noise_range(noise / np.sqrt(sizes), freedom, level)
    return OrderEffect(
        *about,
        order_std=float(np.sqrt(order)),
        noise_std=noise,
        order_share=order / whole,
        order_share_low=low,
        order_share_high=high,
        p_value=float(fdtrc(count - 1, freedom, between / within)) if within > 0.0 else 0.0,
        noise_range=usual,
        noise_range_limit=limit,
    )


def _share_interval(
    means: Floats, sizes: Floats, within: float, freedom: int, level: float
) -> Interval:
    """Wald's interval of τ/(1 + τ), the order's share of the variance of a single training."""
    if within <= 0.0:
        return (1.0, 1.0)
    count, tail = len(means), (1.0 - level) / 2.0

    def statistic(share: float) -> float:
        noise = max(1.0 - share, 1e-12)
        weights = noise / (share + noise / sizes)  # 1/(τ + 1/n)
        centre = float(weights @ means / weights.sum())
        return float(weights @ (means - centre) ** 2) / (count - 1) / within

    def constrained(share: float) -> float:
        usual = (1.0 - share) / (share * sizes + (1.0 - share))  # 1 for noise alone
        return max(statistic(share), median * float(usual.mean()))

    def solve(function: Callable[[float], float], value: float) -> float:
        def is_below(share: Floats) -> Bools:
            return np.asarray(function(float(share)) > value)

        low, high = bisect(is_below, np.array(0.0), np.array(1.0), _STEPS)
        return float((low + high) / 2.0)

    least, most, median = (float(fdtri(count - 1, freedom, p)) for p in (1.0 - tail, tail, 0.5))
    low = 0.0 if statistic(0.0) <= least else solve(statistic, least)
    return low, solve(constrained, most)


def _noise_range(deviations: Floats, freedom: int, level: float) -> tuple[float, float]:
    """Simulate the mean range of noise of these standard deviations, and its limit."""
    rng = np.random.default_rng(0)
    draws = max(200, min(_DRAWS, _NUMBERS // len(deviations)))
    ranges = np.ptp(rng.standard_normal((draws, len(deviations))) * deviations, axis=1)
    uncertain = ranges / np.sqrt(rng.chisquare(freedom, draws) / freedom)
    return float(ranges.mean()), float(np.quantile(uncertain, level))
