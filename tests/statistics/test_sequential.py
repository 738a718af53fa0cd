"""Confidence sequences hold at all times at once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from edgecil.errors import UsageError
from edgecil.statistics import confidence_interval
from edgecil.statistics.sequential import ConfidenceSequence, excludes_zero
from edgecil.statistics.student import Sample, difference

DRAWS: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "normal": lambda rng, n: rng.normal(0.0, 1.0, n),
    "skewed": lambda rng, n: 3.0 - rng.gamma(3.0, 1.0, n),
    "bimodal": lambda rng, n: rng.choice([-1.0, 1.0], n) + 0.3 * rng.normal(size=n),
}


@pytest.mark.parametrize("name", DRAWS)
def test_looking_after_every_value_is_wrong_at_most_as_often_as_nominal(name: str) -> None:
    """300 series of 40 values, each looked at 36 times; 0.05 and two standard errors."""
    rng = np.random.default_rng(0)
    wrong = 0
    for _ in range(300):
        values = DRAWS[name](rng, 40).tolist()
        intervals = (confidence_interval(values[:n]) for n in range(5, 41))
        wrong += any(not low <= 0.0 <= high for low, high in filter(None, intervals))
    assert wrong / 300 <= 0.05 + 2.0 * np.sqrt(0.05 * 0.95 / 300)


def test_the_bayes_factor_is_at_its_bound_at_both_ends() -> None:
    values = np.random.default_rng(1).normal(50.0, 2.0, 12)
    interval = confidence_interval(values.tolist(), 0.95)
    assert interval is not None
    room = 2.0 * values.std(ddof=1) / 13.0  # for an outlier that has not been seen
    for end, sign in zip(interval, (1.0, -1.0), strict=True):
        t2 = 12 * (values.mean() - end - sign * room) ** 2 / values.var(ddof=1)
        ratio = (1.0 + t2 / 11) / (1.0 + t2 / (11 * 19.0))
        assert ratio**6 / np.sqrt(19.0) == pytest.approx(20.0)


def test_it_narrows_and_is_scale_equivariant() -> None:
    values = np.tile([1.0, -1.0], 20).tolist()
    short, long = confidence_interval(values[:10]), confidence_interval(values)
    assert long[1] - long[0] < 0.6 * (short[1] - short[0])
    scaled = confidence_interval([5.0 + 3.0 * value for value in values])
    assert scaled == pytest.approx((5.0 + 3.0 * long[0], 5.0 + 3.0 * long[1]))


def test_few_and_equal_values_have_no_interval() -> None:
    assert confidence_interval([1.0, 2.0, 3.0, 4.0]) is None
    assert confidence_interval([2.0] * 9) is None
    with pytest.raises(UsageError, match="finite"):
        confidence_interval([1.0, float("nan")])


def test_a_sequence_has_the_interval_of_its_values() -> None:
    values = np.random.default_rng(2).normal(2.0, 1.5, 9).tolist()
    sequence = ConfidenceSequence.of(values)
    assert sequence is not None
    for level in (0.8, 0.95, 0.99):
        assert sequence.interval(level) == pytest.approx(confidence_interval(values, level))
    assert ConfidenceSequence.of(values[:4]) is None
    assert ConfidenceSequence.of([3.0] * 8) is None
    assert sequence.interval(1.0 - 1e-9) is None, "nine values exclude nothing so surely"


def test_beside_a_fixed_sample_both_intervals_have_half_the_probability_to_miss() -> None:
    values = np.random.default_rng(3).normal(2.0, 1.5, 12).tolist()
    others = np.array([0.3, -0.4, 0.6, -0.5])  # around 0
    sequence = ConfidenceSequence.of(values)
    assert sequence is not None
    fixed = difference(Sample.of(others), Sample(0.0))
    beside = ConfidenceSequence(sequence.mean, sequence.std, sequence.size, fixed)
    low, high = beside.interval(0.9) or (0.0, 0.0)
    alone = confidence_interval(values, 0.95)
    added = stats.t.ppf(0.975, 3) * stats.sem(others)
    assert alone is not None
    assert (low, high) == pytest.approx((alone[0] - added, alone[1] + added))


@pytest.mark.parametrize("mean", [0.9, -2.0])
def test_the_p_value_is_where_the_interval_ends_at_zero(mean: float) -> None:
    values = np.random.default_rng(4).normal(mean, 1.0, 15).tolist()
    sequence = ConfidenceSequence.of(values)
    assert sequence is not None
    p = sequence.p_value
    assert 0.0 < p < 1.0
    wider = confidence_interval(values, 1.0 - 0.99 * p)
    narrower = confidence_interval(values, 1.0 - 1.01 * p)
    assert wider is not None
    assert narrower is not None
    assert wider[0] < 0.0 < wider[1]
    assert narrower[0] > 0.0 or narrower[1] < 0.0
    centred = ConfidenceSequence.of((np.array(values) - np.mean(values)).tolist())
    assert centred is not None
    assert centred.p_value == pytest.approx(1.0)


def test_zero_is_excluded_from_series_where_the_interval_of_each_beginning_excludes_it() -> None:
    rng = np.random.default_rng(5)
    series = rng.normal(1.0, 1.0, (6, 20)) * np.array([1, -1, 1, 1, 1, 0])[:, None]
    series[4] += 100.0  # far from 0 in units of its spread
    excluded = excludes_zero(series, 0.9)
    for row, values in enumerate(series.tolist()):
        for count in range(1, 21):
            interval = confidence_interval(values[:count], 0.9)
            expected = interval is not None and not interval[0] <= 0.0 <= interval[1]
            assert excluded[row, count - 1] == expected, (row, count)
    assert excluded[:4].any()
    assert not excluded[:4].all()
