"""Tests whether accuracies over class orders are normal: Box-Cox and the paper's three tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from edgecil.analysis.samples import find_truth, unbiased_orders
from edgecil.analysis.sources import Source, collect_runs

LEAST_ORDERS = 20
LEAST_DISTINCT = 10
_MOST_SHAPIRO = 5_000


@dataclass(frozen=True)
class Normality:
    """The p-values of three tests after a Box-Cox transformation.

    Attributes:
        boxcox_lambda: λ of greatest likelihood.
        shapiro_p: Shapiro-Wilk.
        dagostino_p: D'Agostino's K².
        ks_p: Kolmogorov-Smirnov against the normal with the sample's own mean and std. As these are
            fitted, the p-value is too large (Lilliefors 1967); it is reported as in the paper.
        reason: why a value is None; None if all are given.
    """

    boxcox_lambda: float | None = None
    shapiro_p: float | None = None
    dagostino_p: float | None = None
    ks_p: float | None = None
    reason: str | None = None


def normality(
    source: Source | Sequence[Source], *, metric: str | None = None, classifier: str | None = None
) -> dict[str, dict[str, Normality]]:
    """Test the accuracies of each method: of all orders, or of orders not chosen by similarity.

    Args:
        source: experiment directories and CSV files of accuracies.
        metric: metric to test; by default the one in the experiment's configuration.
        classifier: classifier of the methods to test; by default each method's main one.

    Returns:
        By dataset and method.
    """
    tests: dict[str, dict[str, Normality]] = {}
    for runs in collect_runs(source, metric=metric, classifier=classifier).datasets:
        table = runs.table.renumbered()
        tests[table.dataset] = {}
        for name in table.methods:
            if len(table.orders(name)):
                _, accuracies = unbiased_orders(table, name, find_truth(table, name))
                tests[table.dataset][name] = check_normality(accuracies)
    return tests


def check_normality(accuracies: ArrayLike) -> Normality:
    """Return Box-Cox λ by maximum likelihood, and tests of the transformed accuracies, (n,)."""
    values = np.asarray(accuracies, dtype=np.float64)
    distinct = len(np.unique(values.round(9)))
    if len(values) < LEAST_ORDERS:
        return Normality(reason=f"requires at least {LEAST_ORDERS} orders; got {len(values)}")
    if distinct < LEAST_DISTINCT:
        return Normality(
            reason=f"requires at least {LEAST_DISTINCT} different accuracies; got {distinct}"
        )
    if values.min() <= 0.0:
        return Normality(reason="Box-Cox requires positive accuracies, and one is 0")
    # λ does not depend on the unit; values near 1 avoid overflow in their powers.
    scaled = values / np.exp(np.log(values).mean())
    power = float(stats.boxcox_normmax(scaled, method="mle"))
    transformed = stats.boxcox(scaled, lmbda=power)
    spread = transformed.std(ddof=1)
    if not np.isfinite(power) or not np.isfinite(spread) or spread == 0.0:
        return Normality(reason="the Box-Cox likelihood of these accuracies has no maximum")
    z = (transformed - transformed.mean()) / spread
    too_many = len(z) > _MOST_SHAPIRO
    return Normality(
        power,
        None if too_many else float(stats.shapiro(z).pvalue),
        float(stats.normaltest(z).pvalue),
        float(stats.kstest(z, "norm").pvalue),
        f"Shapiro-Wilk is valid up to {_MOST_SHAPIRO} orders" if too_many else None,
    )
