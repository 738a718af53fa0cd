from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from edgecil.estimation import Correlation, correlate
from edgecil.estimation.correlation import warn_of_predictor

RNG = np.random.default_rng(0)
X = RNG.normal(size=40)
Y = 0.5 * X + RNG.normal(size=40).round(1)


def test_both_coefficients_and_pearsons_interval_are_scipys() -> None:
    result, oracle = correlate(X, Y), stats.pearsonr(X, Y)
    assert result.pearson == pytest.approx(oracle.statistic)
    assert result.pearson_interval == pytest.approx(tuple(oracle.confidence_interval(0.95)))
    assert result.spearman == pytest.approx(stats.spearmanr(X, Y).statistic)


def test_pairs_with_nan_are_left_out() -> None:
    holed = Y.copy()
    holed[:10] = np.nan
    assert correlate(X, holed) == correlate(X[10:], Y[10:])


@pytest.mark.parametrize(
    ("x", "y", "reason"),
    [
        ([], [], "got 0"),
        ([1.0, 2.0], [1.0, 2.0], "got 2"),
        ([1.0, 2.0, 3.0], [5.0, 5.0, 5.0 + 1e-12], "accuracy that differs"),
        ([2.0, 2.0, 2.0], [1.0, 2.0, 3.0], "predictor that differs"),
    ],
)
def test_what_is_not_defined_is_na_with_the_reason(
    x: list[float], y: list[float], reason: str
) -> None:
    result = correlate(x, y)
    assert (result.pearson, result.spearman) == (None, None)
    assert reason in str(result.reason)


def test_an_interval_requires_eight_orders() -> None:
    relabelled = RNG.normal(size=(50, 8))
    assert correlate(X[:7], Y[:7], relabelled[:, :7]).pearson_interval is None
    assert correlate(X[:8], Y[:8], relabelled).pearson_interval is not None
    assert correlate(X[:7], Y[:7]).pearson_interval is None
    assert correlate(X[:8], Y[:8]).pearson_interval is not None


def test_a_perfect_line_is_one_without_a_warning_from_inside() -> None:
    result = correlate(X, 2.0 * X)
    assert result.pearson == pytest.approx(1.0)
    assert result.pearson_interval == pytest.approx((1.0, 1.0), abs=1e-6)


@pytest.mark.parametrize(
    ("pearson", "interval", "sign", "said"),
    [
        (0.6, (0.4, 0.7), 1, None),
        (-0.6, (-0.7, -0.4), -1, None),
        (-0.6, (-0.7, -0.4), 1, "wrong sign"),
        (-0.25, (-0.4, -0.1), 1, "wrong sign"),
        (0.25, (0.1, 0.4), -1, "wrong sign"),
        (-0.1, (-0.3, 0.1), 1, "no detectable"),
        (0.6, (-0.1, 0.9), 1, "no detectable"),
        (-0.6, (-0.9, 0.0), 1, "no detectable"),
        (0.9, None, 1, "no detectable"),
        (0.25, (0.1, 0.4), 1, "weakly"),
    ],
)
def test_trust_depends_on_interval_sign_and_strength(
    pearson: float, interval: tuple[float, float] | None, sign: int, said: str | None
) -> None:
    warning = warn_of_predictor("S", sign, Correlation(90, pearson, interval))
    assert said in warning if said and warning else said == warning
