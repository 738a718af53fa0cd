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

    The intervals assume that the orders are a random sample of a large population. Over an
    enumerated space the coefficients are exact, apart from training noise.
    """
    x, y = np.asarray(predicted, dtype=np.float64), np.asarray(accuracies, dtype=np.float64)
    finite = np.isfinite(x) & np.isfinite(y)
    x, y = x[finite], y[finite]
    n = len(x)
    if n < 3:
        return Correlation(
            n, reason=f"requires at least 3 different orders not chosen by similarity; got {n}"
        )
    for name, values in (("predictor", x), ("accuracy", y)):
        if np.ptp(values) <= SAME * max(1.0, float(np.abs(values).max())):
            return Correlation(n, reason=f"requires a {name} that differs between orders")
    r, rho = _pearson(x, y), _pearson(rankdata(x.round(9)), rankdata(y.round(9)))
    if n == 3:
        return Correlation(n, r, None, rho, None, "intervals require at least 4 orders")
    return Correlation(
        n, r, _fisher(r, 1.0 / (n - 3)), rho, _fisher(rho, (1 + rho**2 / 2) / (n - 3))
    )


def trust_in(sign: int | None, correlation: Correlation) -> Trust:
    """How far a predictor can be trusted.

    Args:
        sign: of the correlation that the predictor's construction claims; None if none.
        correlation: of the predictor with accuracy.

    Returns:
        `unknown` without a correlation, `undecided` if its interval contains 0 or is missing,
        `backward` if it has the wrong sign, `weak` if |r| < 0.3, else `good`.
    """
    if correlation.pearson is None:
        return "unknown"
    interval = correlation.pearson_interval
    if interval is None or interval[0] <= 0.0 <= interval[1]:
        return "undecided"
    if sign is not None and correlation.pearson * sign < 0.0:
        return "backward"
    return "weak" if abs(correlation.pearson) < WEAK else "good"


def warn_of_predictor(name: str, sign: int | None, correlation: Correlation) -> str | None:
    """One sentence unless the predictor can be trusted.

    Args:
        name: of the predictor.
        sign: that its construction claims; None if none.
        correlation: of the predictor with accuracy.
    """
    trust = trust_in(sign, correlation)
    if correlation.pearson is None:
        return f"The correlation of {name} with accuracy is unknown: it {correlation.reason}."
    interval = correlation.pearson_interval
    around = "" if interval is None else f" [{interval[0]:+.2f}, {interval[1]:+.2f}]"
    numbers = f"(r = {correlation.pearson:+.2f}{around}, n = {correlation.n})"
    if trust == "backward":
        return (
            f"{name} has the wrong sign {numbers}: sequences called hard tend to be easy. Do not "
            "rely on its extremes."
        )
    if trust == "undecided":
        return (
            f"{name} has no detectable correlation with accuracy {numbers}: 'hard' and 'easy' may "
            "mean nothing."
        )
    if trust == "weak":
        return (
            f"{name} predicts accuracy only weakly {numbers}: a 'hard' sequence need not have a "
            "low accuracy."
        )
    return None


def _pearson(x: Floats, y: Floats) -> float:
    x, y = x - x.mean(), y - y.mean()
    return float(np.clip((x @ y) / np.sqrt((x @ x) * (y @ y)), -1.0, 1.0))


def _fisher(r: float, variance: float) -> tuple[float, float]:
    """The interval of a correlation r by Fisher's z: artanh r ± 1.96 √variance."""
    if abs(r) >= 1.0 - 1e-12:
        return (r, r)
    reach = float(ndtri((1.0 + _LEVEL) / 2.0)) * np.sqrt(variance)
    return float(np.tanh(np.arctanh(r) - reach)), float(np.tanh(np.arctanh(r) + reach))
