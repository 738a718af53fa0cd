"""Intervals cover as often as they claim, in simulations with known truths."""

from __future__ import annotations

import numpy as np
import pytest

from edgecil.estimation import Observations, get_estimator
from edgecil.estimation.estimators import LEVEL, Interval, normal_intervals, smoothed

MEAN, STD = 50.0, 4.0


def coverage(hits: list[bool]) -> float:
    return float(np.mean(hits))


def inside(interval: Interval | None, value: float) -> bool:
    assert interval is not None
    return interval[0] <= value <= interval[1]


@pytest.mark.parametrize("count", [3, 5, 10])
def test_intervals_of_normal_accuracies_have_their_level(count: int) -> None:
    rng = np.random.default_rng(count)
    hits: list[tuple[bool, bool, bool]] = []
    for _ in range(3_000):
        *values, following = rng.normal(MEAN, STD, count + 1)
        mean, std, prediction = normal_intervals(np.array(values))
        hits.append((inside(mean, MEAN), inside(std, STD), inside(prediction, following)))
    for covered in zip(*hits, strict=True):
        assert coverage(list(covered)) == pytest.approx(LEVEL, abs=0.02)


@pytest.mark.parametrize("count", [3, 5, 10])
def test_the_next_of_ninety_skewed_orders_is_predicted(count: int) -> None:
    rng = np.random.default_rng(count)
    hits = []
    for _ in range(100):
        truth = 80.0 - rng.gamma(3.0, 2.0, 90)
        for _ in range(20):
            *values, following = rng.permutation(truth)[: count + 1]
            hits.append(inside(normal_intervals(np.array(values))[2], following))
    assert coverage(hits) == pytest.approx(LEVEL, abs=0.03)


@pytest.mark.slow
@pytest.mark.parametrize(("count", "rho"), [(3, 0.0), (5, 0.0), (5, 0.7)])
def test_intervals_by_regression_have_their_level(count: int, rho: float) -> None:
    rng = np.random.default_rng(count)
    levels = (np.array([-1.0, 1.0]), np.full(2, 0.5))
    hits = []
    for _ in range(1_200):
        z, noise = rng.choice([-1.0, 1.0], count), rng.normal(size=count)
        values = MEAN + STD * (rho * z + np.sqrt(1.0 - rho**2) * noise)
        estimate = get_estimator("regression")(Observations(values, z, levels))
        hits.append((inside(estimate.mean_interval, MEAN), inside(estimate.std_interval, STD)))
    for covered in zip(*hits, strict=True):
        assert coverage(list(covered)) == pytest.approx(LEVEL, abs=0.03)  # 3 standard errors


@pytest.mark.parametrize("name", ["gaussian-c4", "smoothed"])
def test_equal_accuracies_have_no_intervals(name: str) -> None:
    estimate = get_estimator(name)(Observations(np.full(3, 70.0)))
    assert estimate.mean_interval is None
    assert estimate.std_interval is None
    assert estimate.prediction_interval is None


@pytest.mark.parametrize("count", [2, 3, 10, 40])
def test_smoothing_keeps_mean_and_variance(count: int) -> None:
    values = np.random.default_rng(0).gamma(2.0, 3.0, count)
    estimate = smoothed(Observations(values))
    assert estimate.distribution.mean == pytest.approx(values.mean())
    assert estimate.distribution.std == pytest.approx(values.std())
    assert (estimate.min, estimate.max) == (values.min(), values.max())
    assert 0.0 < estimate.distribution.width < values.std()
