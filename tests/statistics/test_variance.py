from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from edgecil.statistics import split_variance


def test_the_shares_are_those_worked_out_by_hand() -> None:
    """Means 12 and 20, five each: MSB = 2 · 160/9, MSW = 2, order = (MSB - 2)/2 = 151/9."""
    result = split_variance([[11.0, 13.0], [19.0, 21.0]] * 5)
    assert result.order_std == pytest.approx(np.sqrt(151.0 / 9.0))
    assert result.noise_std == pytest.approx(np.sqrt(2.0))
    assert result.order_share == pytest.approx(151.0 / 169.0)
    assert (result.repeated_orders, result.repeats, result.reason) == (10, 10, None)


def test_the_test_is_scipys_f_test() -> None:
    groups = list(np.random.default_rng(0).normal(50.0, 2.0, (6, 4)) + np.arange(6)[:, None])
    result, oracle = split_variance(groups), stats.f_oneway(*groups)
    ratio = 1.0 + 4.0 * result.order_std**2 / result.noise_std**2
    assert ratio == pytest.approx(oracle.statistic)
    assert result.p_value == pytest.approx(oracle.pvalue)


def test_with_equal_groups_the_interval_is_that_of_the_textbook() -> None:
    """(F/F₀ - 1)/(F/F₀ + n - 1) with both 2.5 % points F₀ of F (Searle et al. 1992, 3.5)."""
    groups = list(np.random.default_rng(0).normal(50.0, 2.0, (6, 4)) + np.arange(6)[:, None])
    ratio = stats.f_oneway(*groups).statistic
    expected = [
        (ratio / point - 1.0) / (ratio / point + 3.0)
        for point in stats.f.isf([0.025, 0.975], 5, 18)
    ]
    assert split_variance(groups).order_share_interval == pytest.approx(tuple(expected))


def test_components_are_estimated_with_unequal_groups() -> None:
    rng = np.random.default_rng(1)
    sizes = rng.integers(1, 5, 4000)
    result = split_variance(
        [50.0 + rng.normal(0, 3.0) + rng.normal(0, 4.0, size) for size in sizes]
    )
    assert result.order_std == pytest.approx(3.0, rel=0.05)
    assert result.noise_std == pytest.approx(4.0, rel=0.05)


def test_with_unequal_groups_the_components_have_the_expected_mean_squares() -> None:
    """E(MSB) = k σ²(order) + σ²(noise), with k from traces of projections, group by group."""
    sizes = (4, 1, 2, 7, 1, 3)
    rng = np.random.default_rng(5)
    groups = [50.0 + rng.normal(0.0, 6.0) + rng.normal(0.0, 1.0, size) for size in sizes]
    total, count = sum(sizes), len(sizes)
    members = np.repeat(np.eye(count), sizes, axis=0)
    onto_orders = members @ np.diag(1.0 / np.array(sizes)) @ members.T
    onto_mean = np.full((total, total), 1.0 / total)
    between = onto_orders - onto_mean
    factor = np.trace(members.T @ between @ members) / (count - 1)
    values = np.concatenate(groups)
    mean_square = values @ between @ values / (count - 1)
    noise = values @ (np.eye(total) - onto_orders) @ values / (total - count)
    result = split_variance(groups)
    assert result.order_std == pytest.approx(np.sqrt((mean_square - noise) / factor), rel=1e-9)
    assert result.noise_std == pytest.approx(np.sqrt(noise), rel=1e-9)
    assert result.p_value == pytest.approx(stats.f_oneway(*groups).pvalue, rel=1e-9)


@pytest.mark.parametrize("share", [0.3, 0.9])
def test_two_repeated_orders_of_ten_give_an_interval_that_covers(share: float) -> None:
    rng = np.random.default_rng(2)
    hits = 0
    for _ in range(400):
        groups = [
            rng.normal(0.0, np.sqrt(share)) + rng.normal(0.0, np.sqrt(1.0 - share), size)
            for size in (2, 2, *[1] * 8)
        ]
        interval = split_variance(groups).order_share_interval
        hits += interval[0] <= share <= interval[1]
    assert hits / 400 == pytest.approx(0.95, abs=0.03)


def test_noise_alone_exceeds_its_range_limit_in_one_of_twenty_cases() -> None:
    rng = np.random.default_rng(3)
    exceeded = []
    for _ in range(300):
        groups = [rng.normal(50.0, 2.0, size) for size in (2, 2, 1, 1, 1)]
        exceeded.append(split_variance(groups).exceeds_noise)
    assert np.mean(exceeded) == pytest.approx(0.05, abs=0.04)


def test_the_expected_range_of_noise_is_that_of_normal_values() -> None:
    """Five normal values have a mean range of 2.326 standard deviations."""
    result = split_variance([[9.0, 11.0]] * 5)
    assert result.noise_range == pytest.approx(2.326 * np.sqrt(2.0) / np.sqrt(2.0), rel=0.03)


def test_without_repeats_the_share_is_unknown() -> None:
    result = split_variance([[1.0], [2.0], [4.0]])
    assert (result.range, result.order_share, result.exceeds_noise) == (3.0, None, None)
    assert "once" in (result.reason or "")
    assert "got 1" in (split_variance([[1.0, 2.0]]).reason or "")


def test_seeds_that_differ_more_than_orders_leave_no_order_variance() -> None:
    result = split_variance([[0.0, 10.0], [1.0, 9.0]] * 5)
    assert result.order_share == 0.0
    assert result.order_share_interval[0] == 0.0


def test_few_orders_that_differ_less_than_noise_do_not_exclude_an_effect_of_the_order() -> None:
    """The upper end is that at the median of F, whatever luck made of the orders."""
    few = split_variance([[87.9], [87.9], [87.5, 88.3, 87.9, 87.9]])
    assert few.order_share == 0.0
    assert few.order_share_interval[0] == 0.0
    assert few.order_share_interval[1] > 0.8
    equal = split_variance([[49.0, 50.0, 51.0, 50.0]] * 6).order_share_interval
    ratio = stats.f.median(5, 18) / stats.f.ppf(0.025, 5, 18)
    assert equal == pytest.approx((0.0, (ratio - 1.0) / (ratio + 3.0)))


def test_nothing_varies_and_no_share_is_made_up() -> None:
    result = split_variance([[5.0, 5.0]] * 10)
    assert (result.order_std, result.order_share) == (0.0, None)
    assert result.reason == "no accuracy differs"


def test_two_orders_are_enough_and_without_noise_all_is_the_order() -> None:
    two = split_variance([[60.0, 61.0, 62.0], [66.0, 67.0, 68.0]])
    assert two.reason is None
    oracle = stats.f_oneway([60.0, 61.0, 62.0], [66.0, 67.0, 68.0])
    assert two.p_value == pytest.approx(oracle.pvalue)
    silent = split_variance([[60.0, 60.0], [62.0, 62.0], [67.0, 67.0]])
    assert (silent.order_share, silent.order_share_interval) == (1.0, (1.0, 1.0))
    assert silent.p_value == 0.0
    alone = split_variance([[60.0, 61.0]])
    assert alone.reason == "requires at least 2 orders; got 1"
