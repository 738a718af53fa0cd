"""Student's t from samples and from summaries is SciPy's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from edgecil.statistics.student import Sample, Student, average_equally, difference

FIRST = np.array([64.1, 62.8, 65.3, 66.0, 61.7])
SECOND = np.array([61.9, 62.0, 62.7])


def two_sided(result: Student) -> float:
    """The p-value of no difference."""
    return 2.0 * min(result.cdf("mean", 0.0), result.above("mean", 0.0))


def test_a_sample_has_the_textbooks_summary() -> None:
    sample = Sample.of(FIRST)
    assert (sample.mean, sample.std, sample.size) == pytest.approx(
        (FIRST.mean(), FIRST.std(ddof=1), 5)
    )
    assert sample.variance_of_mean == pytest.approx(stats.sem(FIRST) ** 2)
    assert Sample(80.0).variance_of_mean == 0.0
    assert Sample(80.0, 1.0).variance_of_mean == 0.0


def test_against_a_constant_it_is_the_one_sample_t_test() -> None:
    result = difference(Sample.of(FIRST), Sample(62.0))
    assert result is not None
    oracle = stats.ttest_1samp(FIRST, 62.0)
    assert two_sided(result) == pytest.approx(oracle.pvalue, rel=1e-9)
    assert result.mean == pytest.approx(FIRST.mean() - 62.0)
    assert (result.freedom, result.against_constant) == (pytest.approx(4.0), True)
    expected = stats.t.interval(0.9, 4, FIRST.mean() - 62.0, stats.sem(FIRST))
    assert result.interval("mean", 0.9) == pytest.approx(expected)
    turned = difference(Sample(62.0), Sample.of(FIRST))
    assert turned is not None
    assert turned.interval("mean", 0.9) == pytest.approx([-end for end in expected[::-1]])


def test_the_next_run_has_the_textbooks_prediction_interval() -> None:
    result = difference(Sample.of(FIRST), Sample(0.0))
    assert result is not None
    error = FIRST.std(ddof=1) * np.sqrt(1.0 + 1.0 / 5.0)
    expected = stats.t.interval(0.95, 4, FIRST.mean(), error)
    assert result.interval("next") == pytest.approx(expected)
    assert result.error_of("next") == pytest.approx(error)
    low, high = expected
    assert result.cdf("next", high) == pytest.approx(0.975)
    assert result.above("next", low) == pytest.approx(0.975)


def test_two_samples_are_compared_by_welchs_test() -> None:
    result = difference(Sample.of(FIRST), Sample.of(SECOND))
    assert result is not None
    oracle = stats.ttest_ind(FIRST, SECOND, equal_var=False)
    assert two_sided(result) == pytest.approx(oracle.pvalue, rel=1e-9)
    assert result.mean / result.error == pytest.approx(oracle.statistic)
    published = stats.ttest_ind_from_stats(80.5, 1.5, 5, 78.1, 1.2, 3, equal_var=False)
    summary = difference(Sample(80.5, 1.5, 5), Sample(78.1, 1.2, 3))
    assert summary is not None
    assert two_sided(summary) == pytest.approx(published.pvalue, rel=1e-9)
    variances = FIRST.var(ddof=1) * 6.0 / 5.0 + SECOND.var(ddof=1) * 4.0 / 3.0
    assert result.next_error == pytest.approx(np.sqrt(variances))
    assert not result.against_constant


def test_what_shows_no_spread_is_not_compared() -> None:
    pair = Sample.of([60.0, 61.0])
    assert difference(pair, Sample.of(FIRST)) is None
    assert difference(Sample.of(FIRST), pair) is None
    assert difference(Sample(60.0), Sample(61.0)) is None
    assert difference(Sample.of([60.0] * 4), Sample(61.0)) is None
    assert difference(Sample.of(FIRST), Sample.of([60.0] * 4)) is not None
    assert difference(Sample.of(SECOND), Sample(60.0)) is not None, "three are enough"


def test_the_mean_of_two_quantities_is_half_of_a_welch_test_of_one_and_the_other_negated() -> None:
    parts = [difference(Sample.of(values), Sample(0.0)) for values in (FIRST, SECOND)]
    both = average_equally([part for part in parts if part is not None])
    oracle = stats.ttest_ind(FIRST, -SECOND, equal_var=False)
    assert both.mean == pytest.approx((FIRST.mean() + SECOND.mean()) / 2.0)
    assert both.mean / both.error == pytest.approx(oracle.statistic)
    ratio = FIRST.var(ddof=1) / 5.0, SECOND.var(ddof=1) / 3.0
    freedom = sum(ratio) ** 2 / (ratio[0] ** 2 / 4.0 + ratio[1] ** 2 / 2.0)
    assert both.freedom == pytest.approx(freedom)
    welch = difference(Sample.of(FIRST), Sample.of(-SECOND))
    assert welch is not None
    assert both.next_error == pytest.approx(welch.next_error / 2.0)
