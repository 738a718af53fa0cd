from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas
import pytest
from numpy.typing import ArrayLike
from scipy import stats

from edgecil.estimation import Comparison, compare, compare_pairs, holm
from edgecil.estimation.comparison import performance_profile
from edgecil.estimation.samples import know
from tests.estimation.tables import build, noisy, runs_of, table_of

RNG = np.random.default_rng(0)
A = RNG.normal(50.0, 5.0, 30)
B = A + RNG.normal(1.0, 2.0, 30)


def compared(a: ArrayLike, b: ArrayLike) -> Comparison:
    """Runs that are paired by seed."""
    frame = pandas.DataFrame({"a": np.asarray(a), "b": np.asarray(b)})
    return compare(frame.assign(seed=range(len(frame))))["a", "b"]


def test_with_many_orders_interval_and_test_are_scipys_paired_ones() -> None:
    result, oracle = compared(A, B), stats.ttest_rel(A, B)
    interval = oracle.confidence_interval(0.9)
    assert result.interval == pytest.approx((interval.low, interval.high), abs=0.03)
    assert result.p_value == pytest.approx(oracle.pvalue, rel=0.3, abs=1e-4)
    assert result.difference == pytest.approx((A - B).mean())


def test_a_seed_that_all_orders_share_widens_the_interval() -> None:
    def interval(own: bool) -> tuple[float, float]:
        runs = [
            replace(run, seed=number if own else 0)
            for method, place in (("a", 0), ("b", 1))
            for number, run in enumerate(runs_of(method, "enumerate", noisy(place)))
        ]
        pair = compare_pairs(build(runs), ("a", "b"))["a"]["b"]
        assert ("one training seed" in pair.population) != own
        assert pair.interval is not None
        return pair.interval

    (low, high), (lowest, highest) = interval(own=True), interval(own=False)
    assert lowest < low < high < highest


@pytest.mark.parametrize(
    ("gap", "spread", "orders", "expected"),
    [
        (5.0, 1.0, 10, "clear"),
        (1.0, 1.4, 10, "likely"),
        (0.1, 1.0, 10, "cannot tell"),
        (5.0, 1.0, 2, "too few"),
    ],
)
def test_verdicts_have_grades(gap: float, spread: float, orders: int, expected: str) -> None:
    gains = gap + spread * stats.norm.ppf((np.arange(orders) + 0.5) / orders)
    result = compared(50.0 + gains, np.full(orders, 50.0))
    assert result.grade == expected
    assert (result.interval is None) == (expected == "too few")


def test_ties_count_half() -> None:
    result = compared([1.0, 2.0, 3.0, 4.0], [0.0, 2.0, 3.0 + 1e-13, 5.0])
    assert result.won == pytest.approx((1 + 0.5 + 0.5 + 0) / 4)
    assert (result.wins, result.tied, result.n) == (1, 2, 4)
    assert (result.swapped().wins, result.swapped().tied) == (1, 2)


def test_the_other_way_round_is_the_complement() -> None:
    swapped, other = compared(A, B).swapped(), compared(B, A)
    for name in ("difference", "interval", "won", "new_run_probability"):
        assert getattr(swapped, name) == pytest.approx(getattr(other, name))


def test_over_learners_of_all_kinds_the_probability_on_a_new_order_is_right() -> None:
    rng = np.random.default_rng(1)
    gains = rng.normal(0.0, 10.0, (2_000, 1)) + rng.normal(0.0, 2.0, (2_000, 6))
    known = (know(own[:5, None], np.arange(5)[:, None], "accuracy") for own in gains)
    claimed = [float(one.above("next", 0.0)) for one in known if one is not None]
    won = gains[:, 5] > 0.0
    confident = np.array(claimed) > 0.8
    assert won[confident].mean() == pytest.approx(np.array(claimed)[confident].mean(), abs=0.05)


def test_holm_is_that_of_the_textbook() -> None:
    adjusted = holm({"a": 0.01, "b": 0.04, "c": 0.03, "d": None, "e": 0.005})
    assert adjusted == {"a": 0.03, "b": 0.06, "c": 0.06, "d": None, "e": 0.02}


def test_pairs_are_compared_on_the_orders_of_blind_protocols() -> None:
    table = table_of({"low": noisy(0), "high": noisy(1, mean=60.0)}, ("latin", "edge"))
    result = compare_pairs(table, ("low", "high"))["low"]["high"]
    assert (result.n, result.blind) == (3, True)
    assert result.interval is not None
    assert result.adjusted_p == result.p_value
    chosen = table_of({"a": noisy(0), "b": noisy(1)}, ("edge",))
    only = compare_pairs(chosen, ("a", "b"))["a"]["b"]
    assert (only.n, only.blind) == (3, False)
    assert (only.protocols, result.protocols) == (("edge",), ())
    assert only.interval is None, "orders chosen by similarity say nothing about others"


def test_repeats_count_only_if_both_methods_have_their_seed() -> None:
    a, b = noisy(0), noisy(1)
    runs = [
        *runs_of("a", "random", a),
        *runs_of("a", "random", lambda sequence: a(sequence) + 9.0, seed=1),
        *runs_of("b", "random", b),
    ]
    result = compare_pairs(build(runs), ("a", "b"))["a"]["b"]
    orders = {run.sequence for run in runs}
    assert result.difference == pytest.approx(np.mean([a(one) - b(one) for one in orders]))


def test_a_verdict_and_its_interval_follow_one_rule_whatever_the_number_of_pairs() -> None:
    verdicts = set()
    for seed in range(4):
        rng = np.random.default_rng(seed)
        values = {name: noisy(place, mean=50.0 + 0.6 * place) for place, name in enumerate("abcd")}
        runs = [
            replace(run, seed=number, accuracy=(run.accuracy or 0.0) + rng.normal(0.0, 1.0))
            for name, accuracy in values.items()
            for number, run in enumerate(runs_of(name, "random", accuracy))
        ]
        for others in compare_pairs(build(runs), "abcd").values():
            for pair in others.values():
                assert pair.interval is not None
                low, high = pair.interval
                assert (low <= 0.0 <= high) == (pair.grade == "cannot tell")
                verdicts.add(pair.grade)
    assert len(verdicts) > 1


def test_a_difference_stays_within_the_bounds_of_the_metric() -> None:
    low, high = compared([99.0, 100.0, 95.0, 99.9], [0.0, 5.0, 0.0, 0.0]).interval or ()
    assert low < 96.0 < high <= 100.0


def test_performance_profile_is_the_mean_over_datasets() -> None:
    runs = np.array([1.0, 3.0]), np.array([2.0, 2.0, 2.0, 4.0])
    profile = performance_profile(runs, np.array([0.0, 2.5, 5.0]))
    assert profile.share.tolist() == [1.0, (0.5 + 0.25) / 2, 0.0]
    assert (profile.low <= profile.share).all()
    assert (profile.share <= profile.high).all()
