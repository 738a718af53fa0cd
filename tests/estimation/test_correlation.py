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
    found, oracle = correlate(X, Y), stats.pearsonr(X, Y)
    assert found.pearson == pytest.approx(oracle.statistic)
    assert found.pearson_interval == pytest.approx(tuple(oracle.confidence_interval(0.95)))
    assert found.spearman == pytest.approx(stats.spearmanr(X, Y).statistic)


def test_spearmans_interval_is_that_of_bonett_and_wright() -> None:
    found = correlate(X, Y)
    rho = found.spearman
    assert rho is not None
    reach = 1.959964 * np.sqrt((1 + rho**2 / 2) / 37)
    expected = (np.tanh(np.arctanh(rho) - reach), np.tanh(np.arctanh(rho) + reach))
    assert found.spearman_interval == pytest.approx(expected)


def test_pairs_with_nan_are_left_out() -> None:
    holed = Y.copy()
    holed[:10] = np.nan
    assert correlate(X, holed) == correlate(X[10:], Y[10:])


@pytest.mark.parametrize(
    ("x", "y", "reason"),
    [
        ([], [], "at least 3 different orders drawn blindly, there are 0"),
        ([1.0, 2.0], [1.0, 2.0], "at least 3"),
        ([1.0, 2.0, 3.0], [5.0, 5.0, 5.0 + 1e-12], "accuracy is the same"),
        ([2.0, 2.0, 2.0], [1.0, 2.0, 3.0], "predictor is the same"),
    ],
)
def test_what_is_not_defined_is_na_with_the_reason(
    x: list[float], y: list[float], reason: str
) -> None:
    found = correlate(x, y)
    assert (found.pearson, found.spearman) == (None, None)
    assert reason in str(found.reason)


def test_three_orders_have_a_coefficient_but_no_interval() -> None:
    found = correlate([1.0, 2.0, 3.0], [1.0, 3.0, 2.0])
    assert found.pearson == pytest.approx(0.5)
    assert found.pearson_interval is None


def test_a_perfect_line_is_one_without_a_warning_from_inside() -> None:
    found = correlate(X, 2.0 * X)
    assert found.pearson == pytest.approx(1.0)
    assert found.pearson_interval == pytest.approx((1.0, 1.0), abs=1e-6)


@pytest.mark.parametrize(
    ("pearson", "interval", "sign", "words"),
    [
        (0.6, (0.4, 0.7), 1, None),
        (-0.6, (-0.7, -0.4), -1, None),
        (-0.6, (-0.7, -0.4), None, None),
        (-0.6, (-0.7, -0.4), 1, "points the wrong way"),
        (-0.25, (-0.4, -0.1), 1, "points the wrong way"),
        (0.25, (0.1, 0.4), -1, "points the wrong way"),
        (-0.1, (-0.3, 0.1), 1, "cannot be told from no relation"),
        (0.1, (-0.1, 0.3), None, "cannot be told from no relation"),
        (0.6, (-0.1, 0.9), 1, "cannot be told from no relation"),
        (-0.6, (-0.9, 0.0), 1, "cannot be told from no relation"),
        (0.9, None, 1, "cannot be told from no relation"),
        (0.25, (0.1, 0.4), 1, "predicts accuracy only weakly"),
        (0.25, (0.1, 0.4), None, "predicts accuracy only weakly"),
        (None, None, 1, "not known here: the reason"),
    ],
)
def test_a_backward_an_undecided_and_a_weak_predictor_have_a_sentence_each(
    pearson: float | None,
    interval: tuple[float, float] | None,
    sign: int | None,
    words: str | None,
) -> None:
    found = Correlation(90, pearson, interval, reason="the reason")
    warning = warn_of_predictor("S", sign, found)
    assert (warning is None) == (words is None)
    assert words is None or words in str(warning)
