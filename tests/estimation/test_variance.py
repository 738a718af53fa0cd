from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from edgecil.estimation import split_variance


def test_the_shares_are_those_worked_out_by_hand() -> None:
    """Means 12 and 20, five each: MSB = 2 · 160/9, MSW = 2, order = (MSB - 2)/2 = 151/9."""
    result = split_variance([[11.0, 13.0], [19.0, 21.0]] * 5)
    assert result is not None
    assert result.order_std == pytest.approx(np.sqrt(151.0 / 9.0))
    assert result.seed_std == pytest.approx(np.sqrt(2.0))
    assert result.order_share == pytest.approx(151.0 / 169.0)
    assert result.seed_share == pytest.approx(18.0 / 169.0)
    assert (result.repeated_orders, result.repeats, result.reason) == (10, 10, None)


def test_the_mean_squares_are_those_of_scipys_f_test() -> None:
    groups = list(np.random.default_rng(0).normal(50.0, 2.0, (6, 4)) + np.arange(6)[:, None])
    result = split_variance(groups)
    assert result is not None
    ratio = 1.0 + 4.0 * result.order_std**2 / result.seed_std**2
    assert ratio == pytest.approx(stats.f_oneway(*groups).statistic)


def test_known_components_are_found_again_with_unequal_groups() -> None:
    rng = np.random.default_rng(1)
    sizes = rng.integers(1, 5, 4000)
    groups = [50.0 + rng.normal(0, 3.0) + rng.normal(0, 4.0, size) for size in sizes]
    result = split_variance(groups)
    assert result is not None
    assert result.order_std == pytest.approx(3.0, rel=0.05)
    assert result.seed_std == pytest.approx(4.0, rel=0.05)


@pytest.mark.parametrize("groups", [[], [[1.0, 2.0]], [[1.0], [2.0], [3.0]]])
def test_without_repeated_seeds_there_is_no_answer(groups: list[list[float]]) -> None:
    assert split_variance(groups) is None


def test_seeds_that_differ_more_than_orders_leave_no_order_variance() -> None:
    result = split_variance([[0.0, 10.0], [1.0, 9.0]] * 5)
    assert result is not None
    assert (result.order_share, result.seed_share) == (0.0, 1.0)


def test_nothing_varies_and_no_share_is_made_up() -> None:
    result = split_variance([[5.0, 5.0]] * 10)
    assert result is not None
    assert (result.order_std, result.order_share) == (0.0, None)
    assert result.reason == "no accuracy differs"


def test_few_repeats_give_no_share_and_say_how_many_there_are() -> None:
    result = split_variance([[40.0, 60.0], *([value] for value in np.arange(89.0))])
    assert result is not None
    assert (result.repeated_orders, result.repeats) == (1, 1)
    assert (result.order_share, result.seed_share) == (None, None)
    assert "10 repeated trainings; got 1" in str(result.reason)
