from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

from edgecil.errors import UsageError
from edgecil.statistics import Distribution
from edgecil.statistics.distributions import smooth

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


UNROUNDED = np.array([61.2345, 63.1, 64.98765, 60.0, 66.5])


def test_smoothed_accuracies_have_the_kernel_of_silverman_times_nine_tenths() -> None:
    result = smooth(UNROUNDED, 3.0)
    assert result.mean == pytest.approx(UNROUNDED.mean())
    assert result.std == pytest.approx(3.0)
    factor = stats.gaussian_kde(UNROUNDED, bw_method="silverman").factor
    assert result.width == pytest.approx(0.9 * factor * 3.0, rel=1e-3)
    ranks = np.argsort(np.argsort(UNROUNDED))
    assert np.argsort(np.argsort(result.locations)).tolist() in (ranks.tolist(), [0, 1, 2, 3, 4])
    single = smooth(np.array([50.0, 50.0, 50.0]), 2.0)
    np.testing.assert_allclose(
        single.cdf([47.0, 50.0, 53.0]), stats.norm(50.0, 2.0).cdf([47.0, 50.0, 53.0])
    )


def test_smoothed_accuracies_are_those_that_can_occur() -> None:
    """Each accuracy has the probability that lies nearer to it than to its neighbours."""
    values, step = np.array([62.5, 65.0, 61.25, 63.75]), 1.25
    result = smooth(values, 1.5)
    places = result.locations / step
    np.testing.assert_allclose(places, np.round(places))
    factor = stats.gaussian_kde(values, bw_method="silverman").factor * 0.9
    inwards = np.sqrt(1.0 - factor**2) * 1.5 / values.std()
    kernels = stats.norm(values.mean() + inwards * (values - values.mean()), factor * 1.5)
    for location in result.locations:
        high, low = (kernels.cdf(location + side * step / 2.0).mean() for side in (1.0, -1.0))
        weight = result.cdf(location + 1e-6) - result.cdf(location - 1e-6)
        assert float(weight) == pytest.approx(high - low, abs=2e-3)
    assert float(result.cdf(result.locations[-1] + 1e-6)) == pytest.approx(1.0)
    assert result.locations[0] < 58.0 < 69.0 < result.locations[-1]
