from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from edgecil.errors import UsageError
from edgecil.estimation import compare

RNG = np.random.default_rng(0)
A = RNG.normal(50.0, 5.0, 30)
B = A + RNG.normal(1.0, 2.0, 30)


def test_interval_and_test_are_scipys_paired_ones() -> None:
    result = compare(A, B)
    oracle = stats.ttest_rel(A, B).confidence_interval(0.95)
    assert result.interval == pytest.approx((oracle.low, oracle.high))
    assert result.p_value == pytest.approx(stats.wilcoxon(A, B).pvalue)
    assert result.difference == pytest.approx((A - B).mean())


def test_ties_count_half() -> None:
    result = compare([1.0, 2.0, 3.0, 4.0], [0.0, 2.0, 3.0 + 1e-13, 5.0])
    assert result.probability_of_improvement == pytest.approx((1 + 0.5 + 0.5 + 0) / 4)


def test_the_other_way_round_is_the_complement() -> None:
    one, other = compare(A, B), compare(B, A)
    assert one.probability_of_improvement == pytest.approx(1 - other.probability_of_improvement)
    assert one.difference == pytest.approx(-other.difference)


def test_one_order_has_no_interval_and_equal_methods_no_test() -> None:
    assert compare([1.0], [2.0]).interval is None
    same = compare([1.0, 2.0], [1.0, 2.0])
    assert (same.p_value, same.probability_of_improvement) == (None, 0.5)


@pytest.mark.parametrize(("a", "b"), [([], []), ([1.0], [1.0, 2.0])])
def test_unpaired_accuracies_are_refused(a: list[float], b: list[float]) -> None:
    with pytest.raises(UsageError, match="Paired"):
        compare(a, b)
