"""How well a predictor predicts: its correlation with accuracy over class orders."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri
from scipy.stats import rankdata

from edgecil.estimation.distances import SAME
from edgecil.io.arrays import Floats

Trust = Literal["good", "weak", "undecided", "backward", "unknown"]

WEAK = 0.3
_LEVEL = 0.95


@dataclass(frozen=True)
class Correlation:
    """Of accuracies with a predictor; None where it is not defined, with the reason.

    Attributes:
        n: how many orders stand behind it.
        pearson: r.
        pearson_interval: 95 %, by Fisher's z.
        spearman: ρ of the ranks, ties averaged.
        spearman_interval: 95 %, by Fisher's z with the variance of Bonett and Wright (2000).
        reason: why something is None.
    """

    n: int
    pearson: float | None = None
    pearson_interval: tuple[float, float] | None = None
    spearman: float | None = None
    spearman_interval: tuple[float, float] | None = None
    reason: str | None = None


def correlate(predicted: ArrayLike, accuracies: ArrayLike) -> Correlation:
    """Pearson's and Spearman's correlation of n pairs; pairs with NaN are left out.

    The intervals take the orders for a random sample of a large population. Over an enumerated
    space the coefficients themselves are exact, but for training noise.
    """
    x, y = np.asarray(predicted, dtype=np.float64), np.asarray(accuracies, dtype=np.float64)
    known = np.isfinite(x) & np.isfinite(y)
    x, y = x[known], y[known]
    n = len(x)
    if n < 3:
        return Correlation(
            n, reason=f"needs at least 3 different orders drawn blindly, there are {n}"
        )
    for name, values in (("predictor", x), ("accuracy", y)):
        if np.ptp(values) <= SAME * max(1.0, float(np.abs(values).max())):
            return Correlation(n, reason=f"the {name} is the same for every order")
    r, rho = _pearson(x, y), _pearson(rankdata(x.round(9)), rankdata(y.round(9)))
    if n == 3:
        return Correlation(n, r, None, rho, None, "intervals need at least 4 orders")
    return Correlation(
        n, r, _fisher(r, 1.0 / (n - 3)), rho, _fisher(rho, (1 + rho**2 / 2) / (n - 3))
    )


def trust_in(sign: int | None, found: Correlation) -> Trust:
    """How far a predictor may be trusted; `sign` is the one that its construction claims, if any.

    Undecided is what cannot be told from no relation: without an interval, or with one around 0.
    """
    if found.pearson is None:
        return "unknown"
    interval = found.pearson_interval
    if interval is None or interval[0] <= 0.0 <= interval[1]:
        return "undecided"
    if sign is not None and found.pearson * sign < 0.0:
        return "backward"
    return "weak" if abs(found.pearson) < WEAK else "good"


def warn_of_predictor(name: str, sign: int | None, found: Correlation) -> str | None:
    """One sentence if the predictor is backward, undecided or weak; None if it may be trusted.

    Args:
        name: of the predictor.
        sign: that its construction claims; None if none.
        found: its correlation with accuracy.
    """
    trust = trust_in(sign, found)
    if found.pearson is None:
        return f"How well {name} predicts is not known here: {found.reason}."
    interval = found.pearson_interval
    around = "" if interval is None else f" [{interval[0]:+.2f}, {interval[1]:+.2f}]"
    told = f"(Pearson {found.pearson:+.2f}{around}, n = {found.n})"
    if trust == "backward":
        return (
            f"{name} points the wrong way here {told}: what is called hard tends to be easy; trust "
            "neither its extremes nor their names."
        )
    if trust == "undecided":
        return (
            f"{name} cannot be told from no relation with accuracy here {told}: 'hard' and 'easy' "
            "may mean nothing."
        )
    if trust == "weak":
        return (
            f"{name} predicts accuracy only weakly here {told}: 'hard' and 'easy' are names of "
            "constructions, not of outcomes."
        )
    return None


def _pearson(x: Floats, y: Floats) -> float:
    x, y = x - x.mean(), y - y.mean()
    return float(np.clip((x @ y) / np.sqrt((x @ x) * (y @ y)), -1.0, 1.0))


def _fisher(r: float, variance: float) -> tuple[float, float]:
    """The interval around a coefficient whose inverse hyperbolic tangent is nearly normal."""
    if abs(r) >= 1.0 - 1e-12:
        return (r, r)
    reach = float(ndtri((1.0 + _LEVEL) / 2.0)) * np.sqrt(variance)
    return float(np.tanh(np.arctanh(r) - reach)), float(np.tanh(np.arctanh(r) + reach))
