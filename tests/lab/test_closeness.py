from __future__ import annotations

import numpy as np
import pytest

from edgecil.lab.closeness import average_closeness, closeness
from edgecil.lab.estimators import Observations, get_estimator

TRUTH = np.random.default_rng(0).normal(50.0, 5.0, 40)
DRAWN = [get_estimator("gaussian")(Observations(TRUTH[place : place + 3])) for place in range(25)]


def test_the_means_are_those_of_each_draws_closeness() -> None:
    result = average_closeness(TRUTH, DRAWN)
    each = [closeness(TRUTH, estimate) for estimate in DRAWN]
    for name in ("jsd", "wasserstein", "mean_error", "std_error", "min_error", "max_error"):
        values = np.abs([getattr(one, name) for one in each])
        assert getattr(result, name) == pytest.approx(values.mean())
        assert result.standard_errors is not None
        assert result.standard_errors[name] == pytest.approx(values.std(ddof=1) / 5.0)


def test_ends_outside_the_truth_keep_their_signs_and_miss_nothing() -> None:
    """Of a sample from 40 to 60 the first draw finds 30 to 55, the second 42 to 66."""
    truth = np.array([40.0, 50.0, 60.0])
    drawn = [
        get_estimator("gaussian")(Observations(np.array(ends))) for ends in ([30, 55.0], [42, 66.0])
    ]
    result = average_closeness(truth, drawn)
    assert (result.min, result.max) == (36.0, 60.5)
    assert result.missed_range == pytest.approx((5.0 + 2.0) / 2)
    assert (result.min_error, result.max_error) == (6.0, 5.5)


def test_all_possible_draws_leave_no_error_and_a_single_one_says_none() -> None:
    whole = average_closeness(TRUTH, DRAWN, exhaustive=True)
    assert whole.standard_errors is not None
    assert set(whole.standard_errors.values()) == {0.0}
    assert average_closeness(TRUTH, DRAWN[:1]).standard_errors is None
