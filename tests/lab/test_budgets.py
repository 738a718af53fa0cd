from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import chisquare

from edgecil.errors import UsageError
from edgecil.estimation import Distribution
from edgecil.lab.budgets import budget_curve, count_outside, draw_runs
from edgecil.lab.distances import wasserstein

TRUTH = np.random.default_rng(0).normal(50.0, 5.0, 12)


def test_the_mean_is_that_over_every_possible_draw() -> None:
    every = [
        wasserstein(TRUTH, Distribution.normal(TRUTH[list(c)].mean(), TRUTH[list(c)].std()))
        for c in combinations(range(12), 3)
    ]
    (result,) = budget_curve(TRUTH, np.random.default_rng(1), sizes=[3], draws=600)
    assert result.wasserstein == pytest.approx(np.mean(every), rel=0.06)
    low, high = np.quantile(every, [0.05, 0.95])
    assert result.wasserstein_band == pytest.approx((low, high), rel=0.12)


def test_more_runs_come_closer_and_all_of_them_leave_only_the_shape() -> None:
    points = budget_curve(TRUTH, np.random.default_rng(1), sizes=[3, 6, 12, 13], draws=40)
    assert [point.budget for point in points] == [3, 6, 12], "13 are not to be had"
    distances = [point.wasserstein for point in points]
    assert distances == sorted(distances, reverse=True)
    assert points[-1].wasserstein_band[0] == pytest.approx(points[-1].wasserstein_band[1])


def test_fixed_sequences_are_in_every_draw_and_no_sequence_comes_twice() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        places = draw_runs(12, 5, rng, fixed=[3, 14])
        assert {3, 14} <= set(places.tolist())
        assert len(set(places.tolist())) == 5
        assert set(places.tolist()) - {14} <= set(range(12))


def test_more_runs_than_there_are_is_an_error() -> None:
    with pytest.raises(UsageError, match=r"\[0, 12\]"):
        draw_runs(12, 13, np.random.default_rng(0))


def test_capture_counts_what_the_ends_leave_outside() -> None:
    result = count_outside([72.3, 58.5], [57.55, 58.5, 60.0, 72.3 + 1e-12, 80.0])
    assert (result.low, result.high) == (58.5, 72.3)
    assert (result.below, result.above, result.n) == (1, 1, 5)


def test_runs_are_drawn_from_a_space_too_large_to_list() -> None:
    places = draw_runs(10**12, 4, np.random.default_rng(0), fixed=[5])
    assert places[0] == 5
    assert len(set(places.tolist())) == 4


def test_every_choice_beside_the_fixed_is_equally_likely() -> None:
    rng = np.random.default_rng(0)
    drawn = [tuple(sorted(draw_runs(5, 3, rng, fixed=[1])[1:].tolist())) for _ in range(6_000)]
    counts = [drawn.count(pair) for pair in combinations((0, 2, 3, 4), 2)]
    assert sum(counts) == 6_000
    assert chisquare(counts).pvalue > 0.01
