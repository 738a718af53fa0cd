"""How well a predictor predicts: its correlation with accuracy over class orders."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri
from scipy.stats import rankdata

from edgecil.estimation.distributions import SAME
from edgecil.io.arrays import Floats

Trust = Literal["good", "weak", "undecided", "backward", "unknown"]

WEAK = 0.3
_LEVEL = 0.95
_LEAST = 8  # orders, for an interval
_TOO_FEW = f"intervals require at least {_LEAST} orders"


@dataclass(frozen=True)
class Correlation:
    """Of accuracies with a predictor; None where it is not defined, with the reason.

    Attributes:
        n: how many orders stand behind it.
        pearson: r.
        pearson_interval: 95 %, by relabelling the classes, or by Fisher's z where that is not
            possible (`relabellings` is 0); the latter is too narrow for orders that overlap. None
            with fewer than 8 orders.
        spearman: ρ of the ranks, ties averaged.
        p_value: of no relation, two-sided, by relabelling the classes; None if that is not
            possible.
        adjusted_p: the same, adjusted for the number of methods by Holm's method.
        relabellings: how many relabellings of the classes were compared.
        reason: why something is None.
    """

    n: int
    pearson: float | None = None
    pearson_interval: tuple[float, float] | None = None
    spearman: float | None = None
    p_value: float | None = None
    adjusted_p: float | None = None
    relabellings: int = 0
    reason: str | None = None

    @property
    def stable(self) -> bool:
        """Whether there are 8 orders or more; tables leave out correlations of fewer."""
        return self.n >= _LEAST


def correlate(
    predicted: ArrayLike, accuracies: ArrayLike, relabelled: Floats | None = None
) -> Correlation:
    """Pearson's and Spearman's correlation of n pairs; pairs with NaN are left out.

    With relabelled values, p is the share of relabellings (the identity included) whose |r| is at
    least as large, and the interval is tanh(artanh r ± q), with q the least |artanh r| that 95 % of
    them do not exceed: it excludes 0 if p < 0.05.

    Args:
        predicted: (n,) the predictor's values.
        accuracies: (n,) per cent.
        relabelled: (B, n) from :func:`~edgecil.estimation.relabelling.relabelled_values`.
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
    if relabelled is not None and finite.all():
        others = np.abs(_correlations(relabelled, y))
        p_value = float(1 + (others >= abs(r) - SAME).sum()) / (1 + len(others))
        if n < _LEAST:
            return Correlation(n, r, None, rho, p_value, p_value, len(others), _TOO_FEW)
        reach = np.quantile(np.append(others, abs(r)), _LEVEL, method="higher")
        interval = _around(r, float(np.arctanh(min(reach, 1.0 - SAME))))
        return Correlation(n, r, interval, rho, p_value, p_value, len(others))
    if n < _LEAST:
        return Correlation(n, r, None, rho, reason=_TOO_FEW)
    reach = float(ndtri((1.0 + _LEVEL) / 2.0)) / np.sqrt(n - 3)
    return Correlation(n, r, _around(r, reach), rho)


def trust_in(sign: int | None, correlation: Correlation) -> Trust:
    """Return how far a predictor can be trusted.

    Args:
        sign: of the correlation that the predictor's construction claims; None if none.
        correlation: of the predictor with accuracy.

    Returns:
        `unknown` without a correlation, `undecided` if the relabelling test, adjusted for the
        number of methods, has p >= 0.05, or without it if the interval contains 0 or is missing,
        `backward` if it has the wrong sign, `weak` if |r| < 0.3, else `good`.
    """
    if correlation.pearson is None:
        return "unknown"
    interval = correlation.pearson_interval
    if correlation.adjusted_p is not None:
        if correlation.adjusted_p >= 1.0 - _LEVEL:
            return "undecided"
    elif interval is None or interval[0] <= 0.0 <= interval[1]:
        return "undecided"
    if sign is not None and correlation.pearson * sign < 0.0:
        return "backward"
    return "weak" if abs(correlation.pearson) < WEAK else "good"


def warn_of_predictor(name: str, sign: int | None, correlation: Correlation) -> str | None:
    """Return one sentence unless the predictor can be trusted.

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
    p = "" if correlation.adjusted_p is None else f", p = {correlation.adjusted_p:.2g}"
    r = f"r = {correlation.pearson:+.2f}{around}{p}, " if correlation.stable else ""
    numbers = f"({r}n = {correlation.n})"
    if trust == "backward":
        return (
            f"{name} has the wrong sign {numbers}: sequences called hard tend to be easy. Do not "
            "rely on its extremes."
        )
    if trust == "undecided":
        return (
            f"{name} has no detectable correlation with accuracy {numbers}, so the labels "
            "'hard' and 'easy' may not be meaningful."
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


def _correlations(rows: Floats, y: Floats) -> Floats:
    """Pearson's r of each row with y; 0 for a constant row."""
    centred, y = rows - rows.mean(axis=1, keepdims=True), y - y.mean()
    norms = np.sqrt(np.einsum("ij,ij->i", centred, centred) * (y @ y))
    return np.asarray(np.where(norms > SAME, (centred @ y) / np.maximum(norms, SAME), 0.0))


def _around(r: float, reach: float) -> tuple[float, float]:
    """tanh(artanh r ± reach)."""
    if abs(r) >= 1.0 - 1e-12:
        return (r, r)
    return float(np.tanh(np.arctanh(r) - reach)), float(np.tanh(np.arctanh(r) + reach))
