from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from edgecil.paper import check_normality

SKEWED = 20.0 + np.random.default_rng(0).gamma(3.0, 4.0, 90)


def test_lambda_and_tests_are_scipys() -> None:
    result = check_normality(SKEWED)
    transformed, power = stats.boxcox(SKEWED)
    z = (transformed - transformed.mean()) / transformed.std(ddof=1)
    assert result.boxcox_lambda == pytest.approx(power, abs=1e-4)
    assert result.shapiro_p == pytest.approx(stats.shapiro(z).pvalue, rel=1e-3)
    assert result.dagostino_p == pytest.approx(stats.normaltest(z).pvalue, rel=1e-3)
    assert result.ks_p == pytest.approx(stats.kstest(z, "norm").pvalue, rel=1e-3)


def test_the_unit_does_not_matter() -> None:
    here, there = check_normality(SKEWED), check_normality(SKEWED / 100.0)
    assert there.boxcox_lambda == pytest.approx(here.boxcox_lambda, abs=1e-5)


def test_a_narrow_band_high_up_still_has_a_lambda() -> None:
    result = check_normality(98.0 + np.random.default_rng(1).normal(0.0, 0.1, 90))
    assert result.reason is None
    assert result.boxcox_lambda is not None


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ([50.0], "at least 20 orders"),
        ([50.0] * 90, "10 different accuracies; got 1"),
        ([95.33, 95.83] * 45, "got 2"),
        ([0.0, *np.linspace(10.0, 20.0, 30)], "one is 0"),
    ],
)
def test_too_little_to_test_is_na_with_the_reason(values: list[float], reason: str) -> None:
    result = check_normality(values)
    assert (result.boxcox_lambda, result.shapiro_p, result.dagostino_p, result.ks_p) == (None,) * 4
    assert reason in str(result.reason)


def test_a_large_sample_goes_without_shapiro_and_says_so() -> None:
    result = check_normality(50.0 + np.random.default_rng(2).normal(size=5001))
    assert result.shapiro_p is None
    assert result.ks_p is not None
    assert "5000" in str(result.reason)
