"""The shares of the variance of accuracy due to the class order and to the training seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from edgecil.estimation.distances import SAME

LEAST_REPEATS = 10


@dataclass(frozen=True)
class VarianceShares:
    """One-way random effects: accuracy = mean + order + seed.

    Attributes:
        repeated_orders: how many sequences were trained with several seeds.
        repeats: how many trainings these are beyond the first of each.
        order_std: standard deviation due to the order, without the noise of training.
        seed_std: standard deviation between seeds of one order.
        order_share: of the variance, in [0, 1]; None with fewer than 10 repeats, or if nothing
            varies.
        seed_share: the rest.
        reason: why there are no shares.
    """

    repeated_orders: int
    repeats: int
    order_std: float
    seed_std: float
    order_share: float | None
    seed_share: float | None
    reason: str | None = None


def split_variance(groups: Sequence[ArrayLike]) -> VarianceShares | None:
    """Variance components by the analysis of variance, for groups of any sizes.

    The mean squares between and within groups give the components; a negative one counts as 0
    (Searle, Casella and McCulloch 1992, section 3.6).

    Args:
        groups: the accuracies of each order, one per seed.

    Returns:
        None unless there are at least two orders and one of them has several seeds.
    """
    arrays = [np.asarray(group, dtype=np.float64) for group in groups]
    sizes = np.array([len(group) for group in arrays], dtype=np.float64)
    count, total = len(arrays), float(sizes.sum())
    if count < 2 or total <= count:
        return None
    means = np.array([group.mean() for group in arrays])
    grand = float(sizes @ means / total)
    within = sum(float(((group - group.mean()) ** 2).sum()) for group in arrays) / (total - count)
    between = float(sizes @ (means - grand) ** 2) / (count - 1)
    typical = (total - float(sizes @ sizes) / total) / (count - 1)
    order = max(0.0, (between - within) / typical)
    whole = order + within
    repeated, repeats = int((sizes > 1).sum()), int(total) - count
    stds = float(np.sqrt(order)), float(np.sqrt(within))
    if repeats < LEAST_REPEATS:
        reason = f"shares require at least {LEAST_REPEATS} repeated trainings; got {repeats}"
        return VarianceShares(repeated, repeats, *stds, None, None, reason)
    if whole <= SAME**2:
        return VarianceShares(repeated, repeats, *stds, None, None, "no accuracy differs")
    return VarianceShares(repeated, repeats, *stds, order / whole, within / whole)
