from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from edgecil.errors import UsageError
from edgecil.estimation.distributions import unbiasing
from edgecil.estimation.population import independent_variance
from edgecil.lab.distances import wasserstein
from edgecil.lab.estimators import ESTIMATORS, Observations, get_estimator

LEVELS = (np.linspace(-2.0, 2.0, 41), np.full(41, 1 / 41))
VALUES = np.array([41.0, 47.0, 50.0, 44.0, 52.0, 58.0])
Z = np.array([-2.0, -0.5, 0.1, 0.4, 1.0, 2.0])


def runs(accuracies: object, z: object = None) -> Observations:
    values = np.array(accuracies, dtype=float)
    if z is None:
        z = np.linspace(-2.0, 2.0, len(values)) if len(values) > 1 else np.zeros(1)
    return Observations(values, np.array(z, dtype=float), LEVELS, 90)


@pytest.mark.parametrize("name", ESTIMATORS)
class TestEveryEstimator:
    def test_gives_a_whole_distribution_with_ends_around_its_runs(self, name: str) -> None:
        made = ESTIMATORS[name](runs(VALUES, Z))
        quantiles = made.distribution.quantile([0.05, 0.25, 0.5, 0.75, 0.95])
        assert (np.diff(quantiles) > 0.0).all()
        assert made.min <= VALUES.min()
        assert made.max >= VALUES.max()
        for interval, value in (
            (made.mean_interval, made.distribution.mean),
            (made.std_interval, made.distribution.std),
        ):
            assert interval is None or interval[0] < value < interval[1]

    def test_moves_and_scales_with_the_accuracies(self, name: str) -> None:
        made = ESTIMATORS[name](runs(VALUES, Z)).distribution
        moved = ESTIMATORS[name](runs(10.0 + 0.5 * VALUES, Z)).distribution
        assert moved.mean == pytest.approx(10.0 + 0.5 * made.mean, abs=1e-4)
        near = 0.1 if name == "smoothed" else 1e-6  # its prior is in points
        assert moved.std == pytest.approx(0.5 * made.std, rel=near)

    def test_does_not_care_in_which_order_runs_come(self, name: str) -> None:
        shuffled = [3, 5, 0, 1, 4, 2]
        made = ESTIMATORS[name](runs(VALUES, Z))
        turned = ESTIMATORS[name](runs(VALUES[shuffled], Z[shuffled]))
        assert turned.distribution.mean == pytest.approx(made.distribution.mean)
        assert turned.distribution.std == pytest.approx(made.distribution.std)

    def test_equal_accuracies_are_a_point(self, name: str) -> None:
        made = ESTIMATORS[name](runs([50.0] * 6, Z))
        assert made.distribution.mean == pytest.approx(50.0)
        least = 0.0 if name != "smoothed" else 0.12  # no needle
        assert made.distribution.std == pytest.approx(least, abs=0.05)
        assert (made.min, made.max) == (pytest.approx(50.0), pytest.approx(50.0))

    def test_too_few_runs_are_told(self, name: str) -> None:
        predictor = ESTIMATORS[name]
        few = runs(VALUES[: predictor.least_runs - 1])
        assert str(predictor.least_runs) in str(predictor.obstacle(few))
        with pytest.raises(UsageError, match=f"at least {predictor.least_runs} runs"):
            predictor(few)
        assert predictor.obstacle(runs(VALUES[: predictor.least_runs])) is None

    def test_asks_for_a_predictor_only_if_it_needs_one(self, name: str) -> None:
        predictor = ESTIMATORS[name]
        assert (predictor.obstacle(Observations(VALUES)) is not None) == predictor.needs_predictor
        unknown = Observations(VALUES, np.full(6, np.nan), LEVELS)
        assert (predictor.obstacle(unknown) is not None) == predictor.needs_predictor
        constant = Observations(VALUES, np.zeros(6), (np.zeros(1), np.ones(1)))
        assert (predictor.obstacle(constant) is not None) == predictor.needs_predictor

    def test_the_ends_stay_within_what_an_accuracy_can_be(self, name: str) -> None:
        made = ESTIMATORS[name](runs([2.0, 9.0, 55.0, 60.0, 91.0, 98.0], Z))
        assert 0.0 <= made.min <= made.max <= 100.0


def test_the_papers_gaussian_has_the_population_std() -> None:
    made = ESTIMATORS["gaussian"](Observations(VALUES))
    assert made.distribution.std == pytest.approx(VALUES.std(ddof=0))
    assert (made.min, made.max) == (41.0, 58.0)
    assert ESTIMATORS["gaussian"](Observations(np.array([7.0]))).distribution.std == 0.0


@pytest.mark.parametrize(("count", "c4"), [(2, 0.797885), (3, 0.886227), (10, 0.972659)])
def test_c4_is_the_tabled_one(count: int, c4: float) -> None:
    assert unbiasing(count) == pytest.approx(c4, abs=1e-6)


def test_c4_makes_three_random_runs_unbiased_and_the_papers_is_28_per_cent_short() -> None:
    drawn = np.random.default_rng(0).normal(50.0, 5.0, (2000, 3))
    ours, papers = (
        np.mean([ESTIMATORS[name](Observations(row)).distribution.std for row in drawn])
        for name in ("gaussian-c4", "gaussian")
    )
    assert ours == pytest.approx(5.0, rel=0.03)
    assert papers == pytest.approx(0.7236 * 5.0, rel=0.03)


def test_the_intervals_of_gaussian_c4_are_nearly_scipys() -> None:
    made = ESTIMATORS["gaussian-c4"](Observations(VALUES))
    oracle = stats.t.interval(0.9, 5, VALUES.mean(), VALUES.std(ddof=1) / np.sqrt(6))
    assert made.mean_interval == pytest.approx(oracle, abs=0.2)


def test_the_regressions_spread_is_the_posterior_median_that_brute_force_gives() -> None:
    a, z = np.array([42.0, 50.0, 59.0]), np.array([-2.0, 0.5, 1.8])
    da, dz = a - a.mean(), z - z.mean()
    s = np.exp(np.linspace(np.log(0.3), np.log(3000.0), 2000))

    def density(rho: float) -> np.ndarray:
        """s^(1-n) (1-ρ²)^((1-n)/2) exp(-misfit/2) s^-2, times s for steps of ln s."""
        misfit = ((da[:, None] / s - rho * dz[:, None]) ** 2).sum(axis=0) / (1.0 - rho**2)
        return s**-3.0 / (1.0 - rho**2) * np.exp(-misfit / 2.0)

    cells = (np.arange(1000) + 0.5) / 500 - 1.0
    posterior = 0.5 * density(0.0) + 0.5 * np.mean([density(rho) for rho in cells], axis=0)
    median = np.interp(0.5, np.cumsum(posterior) / posterior.sum(), s)
    wider = posterior * s  # the intervals have the prior 1/s
    low, high = np.interp([0.05, 0.95], np.cumsum(wider) / wider.sum(), s)

    standard = (np.array([-1.0, 1.0]), np.array([0.5, 0.5]))
    made = ESTIMATORS["regression"](Observations(a, z, standard, 90))
    assert made.distribution.std == pytest.approx(median, rel=0.01)
    assert made.std_interval == pytest.approx((low, high), rel=0.02)


def test_a_predictor_far_out_does_not_widen_the_regression() -> None:
    """Three runs on a line, the ends eight standard deviations apart: s is near the slope."""
    made = ESTIMATORS["regression"](runs([42.0, 50.0, 58.0], [-4.0, 0.0, 4.0]))
    assert made.distribution.std < 4.0
    assert ESTIMATORS["gaussian"](runs([42.0, 50.0, 58.0])).distribution.std > 6.0


def test_a_falling_relation_is_the_mirror_of_a_rising_one() -> None:
    rising, falling = (
        ESTIMATORS["regression"](runs([42.0, 49.0, 58.0], sign * np.array([-4.0, 0.3, 4.0])))
        for sign in (1.0, -1.0)
    )
    assert rising.distribution.std == pytest.approx(falling.distribution.std)
    assert rising.distribution.mean == pytest.approx(falling.distribution.mean)


def simulated_distance(name: str, correlation: float, size: int, count: int = 60) -> float:
    """Mean W₁ of three EDGE runs from the truth, in its standard deviations."""
    result = []
    for replication in range(count):
        rng = np.random.default_rng([size, replication])
        z = rng.standard_normal(size)
        z = (z - z.mean()) / z.std()
        truth = 50.0 + 5.0 * (
            correlation * z + np.sqrt(1 - correlation**2) * rng.standard_normal(size)
        )
        chosen = [int(z.argmin()), int(rng.integers(size)), int(z.argmax())]
        levels = np.quantile(z, (np.arange(32) + 0.5) / 32)
        made = ESTIMATORS[name](
            Observations(truth[chosen], z[chosen], (levels, np.full(32, 1 / 32)), size)
        )
        some = np.quantile(truth, (np.arange(90) + 0.5) / 90)
        result.append(wasserstein(some, made.distribution) / 5.0)
    return float(np.mean(result))


@pytest.mark.parametrize("correlation", [0.0, -0.6, 0.8])
def test_regression_is_never_clearly_worse_than_the_papers_gaussian(correlation: float) -> None:
    ours, papers = (
        simulated_distance(name, correlation, 90) for name in ("regression", "gaussian")
    )
    assert ours < 1.1 * papers


def test_regression_halves_the_distance_where_the_predictor_is_good_and_the_space_large() -> None:
    ours, papers = (
        simulated_distance(name, 0.8, 100_000, 20) for name in ("regression", "gaussian")
    )
    assert ours < papers / 2.0


def test_an_unknown_estimator_is_told_with_those_there_are() -> None:
    with pytest.raises(UsageError, match=r"'gausian'.*'gaussian'"):
        get_estimator("gausian")


def test_independent_classes_have_the_variance_of_their_mean() -> None:
    classes = np.random.default_rng(0).normal(60.0, [1.0, 5.0, 9.0], size=(200_000, 3))
    assert independent_variance(classes) == pytest.approx(classes.mean(axis=1).var(), rel=0.02)
    assert independent_variance(np.stack([classes, classes + 7.0])).shape == (2,)


def test_orders_that_were_run_keep_their_share_of_a_small_space() -> None:
    values = np.array([50.0, 52.5, 55.0, 70.0])
    smoothed = get_estimator("smoothed")
    whole = smoothed(Observations(values, space_size=4)).distribution
    np.testing.assert_allclose(whole.locations, values)
    np.testing.assert_allclose(whole.weights, 0.25)
    half = smoothed(Observations(values, space_size=8)).distribution
    assert half.weights[np.isclose(half.locations, 70.0)][0] >= 0.125
    assert half.mean == pytest.approx(values.mean(), abs=0.1)
    many = smoothed.estimates(Observations(values[None], space_size=8))[0].distribution
    np.testing.assert_allclose(many.weights, half.weights)
