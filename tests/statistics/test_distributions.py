from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

from edgecil.errors import UsageError
from edgecil.statistics import Distribution

SOME = {
    "atoms": Distribution.of([3.0, 1.0, 2.0, 2.0]),
    "point": Distribution.normal(4.0, 0.0),
    "normal": Distribution.normal(50.0, 3.0),
    "mixture": Distribution(np.array([40.0, 50.0, 52.0]), np.array([1.0, 2.0, 1.0]), 1.5),
}


@pytest.mark.parametrize("name", SOME)
def test_quantiles_undo_the_cdf(name: str) -> None:
    result = SOME[name]
    for p in (0.01, 0.25, 0.4, 0.5, 0.75, 0.99):
        at = float(result.quantile(p))
        assert result.cdf(at) >= p - 1e-9
        assert result.cdf(at - 1e-6) <= p + 1e-9


@pytest.mark.parametrize("name", SOME)
def test_the_shortfall_is_the_integral_of_the_cdf(name: str) -> None:
    result = SOME[name]
    low, high = result.mean - 40.0, result.mean + 3.0
    breaks = [float(at) for at in result.locations if low < at < high]
    area, _ = quad(lambda x: float(result.cdf(x)), low, high, points=breaks, limit=200)
    assert float(result.shortfall(high)) == pytest.approx(area, abs=1e-6)


def test_one_component_is_scipys_normal() -> None:
    result, oracle = SOME["normal"], stats.norm(50.0, 3.0)
    at = np.linspace(40.0, 60.0, 11)
    np.testing.assert_allclose(result.cdf(at), oracle.cdf(at))
    np.testing.assert_allclose(result.quantile([0.05, 0.5, 0.95]), oracle.ppf([0.05, 0.5, 0.95]))
    np.testing.assert_allclose(result.interval(0.9), oracle.interval(0.9))


def test_moments_of_a_mixture_are_those_worked_out_by_hand() -> None:
    result = Distribution(np.array([0.0, 10.0]), np.array([3.0, 1.0]), 2.0)
    assert result.mean == pytest.approx(2.5)
    assert result.std == pytest.approx(np.sqrt(0.75 * 2.5**2 + 0.25 * 7.5**2 + 4.0))


def test_atoms_are_numpys_population_statistics() -> None:
    values = np.random.default_rng(0).normal(size=20)
    result = Distribution.of(values)
    assert (result.mean, result.std) == (pytest.approx(values.mean()), pytest.approx(values.std()))
    expected = np.quantile(values, [0.1, 0.5, 0.9], method="inverted_cdf")
    np.testing.assert_array_equal(result.quantile([0.1, 0.5, 0.9]), expected)


@pytest.mark.parametrize(
    ("locations", "weights", "width"),
    [
        ([], [], 0.0),
        ([1.0], [1.0, 1.0], 0.0),
        ([1.0], [0.0], 0.0),
        ([np.nan], [1.0], 0.0),
        ([1.0], [1.0], -1.0),
        ([1.0], [1.0], np.nan),
    ],
)
def test_what_is_no_distribution_is_refused(
    locations: list[float], weights: list[float], width: float
) -> None:
    with pytest.raises(UsageError):
        Distribution(np.array(locations), np.array(weights), width)
