from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from edgecil.estimation import (
    AverageCloseness,
    Observations,
    average_closeness,
    clearly_closer,
    closeness,
    get_estimator,
)

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


@pytest.mark.parametrize(
    ("mine", "theirs", "noise", "closer"),
    [
        (0.5, 1.0, 0.1, True),
        (0.95, 1.0, 0.0, False),
        (0.85, 1.0, 0.01, True),
        (0.85, 1.0, 0.02, False),
        (0.5, 1.0, 0.2, False),
        (1.0, 0.5, 0.1, False),
        (0.0, 0.0, 0.0, False),
    ],
)
def test_closer_is_what_is_so_by_a_tenth_and_two_standard_errors_more(
    mine: float, theirs: float, noise: float, closer: bool
) -> None:
    """The difference of two means has √2 times the standard error of either."""
    some = average_closeness(TRUTH, DRAWN)

    def at(value: float) -> AverageCloseness:
        return replace(some, wasserstein=value, standard_errors={"wasserstein": noise})

    assert clearly_closer(at(mine), at(theirs), "wasserstein") is closer
    unknown = replace(at(mine), standard_errors=None)
    assert not clearly_closer(unknown, at(theirs), "wasserstein")
