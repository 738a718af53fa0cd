from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from edgecil.errors import UsageError
from edgecil.estimation import compare_accuracies, compare_pairs, holm
from edgecil.estimation.comparison import SEED_EFFECT
from edgecil.sequences.overlap import position_overlap
from tests.estimation.tables import build, noisy, runs_of, table_of

RNG = np.random.default_rng(0)
A = RNG.normal(50.0, 5.0, 30)
B = A + RNG.normal(1.0, 2.0, 30)


def test_with_many_seeds_interval_and_test_are_scipys_paired_ones() -> None:
    result, oracle = compare_accuracies(A, B, seeds=10**12), stats.ttest_rel(A, B)
    interval = oracle.confidence_interval(0.9)
    assert result.interval == pytest.approx((interval.low, interval.high))
    assert result.p_value == pytest.approx(oracle.pvalue)
    assert result.difference == pytest.approx((A - B).mean())


@pytest.mark.parametrize("seeds", [1, 2])
def test_intervals_from_few_seeds_cover_what_all_seeds_give(seeds: int) -> None:
    """A seed shifts the differences on all 30 orders alike, as it does on truth tables."""
    rng = np.random.default_rng(seeds)
    shift = rng.normal(0.0, np.sqrt(SEED_EFFECT / seeds), 1_000)
    gains = shift[:, None] + rng.normal(0.0, 1.0, (1_000, 30))
    made = [compare_accuracies(gain, np.zeros(30), seeds=seeds).interval for gain in gains]
    covered = np.mean([low <= 0.0 <= high for low, high in filter(None, made)])
    assert covered == pytest.approx(0.9, abs=0.03)
    plain = [stats.ttest_1samp(gain, 0.0).confidence_interval(0.9) for gain in gains[:300]]
    assert np.mean([low <= 0.0 <= high for low, high in plain]) < 0.87


def test_seeds_are_those_that_both_have_for_every_order() -> None:
    runs = [
        run
        for method, place in (("a", 0), ("b", 1))
        for seed in (0, 1)
        for run in runs_of(method, "latin", noisy(10 * place + seed), seed=seed)
    ]
    assert compare_pairs(build(runs), ("a", "b"))["a"]["b"].seeds == 2
    assert compare_pairs(build(runs[:-1]), ("a", "b"))["a"]["b"].seeds == 1


def test_the_interval_of_the_share_is_scipys_exact_one() -> None:
    result = compare_accuracies(A, B)
    wins = int((A > B).sum())
    oracle = stats.binomtest(wins, 30).proportion_ci(0.9)
    assert result.won == wins / 30
    assert result.won_interval == pytest.approx((oracle.low, oracle.high))


def test_ties_count_half() -> None:
    result = compare_accuracies([1.0, 2.0, 3.0, 4.0], [0.0, 2.0, 3.0 + 1e-13, 5.0])
    assert result.won == pytest.approx((1 + 0.5 + 0.5 + 0) / 4)
    assert (result.wins, result.tied, result.n) == (1, 2, 4)
    assert (result.swapped().wins, result.swapped().tied) == (1, 2)


def test_the_other_way_round_is_the_complement() -> None:
    swapped, other = compare_accuracies(A, B).swapped(), compare_accuracies(B, A)
    for name in ("difference", "interval", "won", "won_interval", "new_order_probability"):
        assert getattr(swapped, name) == pytest.approx(getattr(other, name))


def test_one_order_and_equal_differences_have_no_interval() -> None:
    assert compare_accuracies([1.0], [2.0]).interval is None
    same = compare_accuracies([1.0, 2.0, 3.0], [0.0, 1.0, 2.0])
    assert (same.interval, same.p_value, same.new_order_probability) == (None, None, None)
    assert (same.difference, same.won) == (1.0, 1.0)
    assert "equal" in (same.reason or "")


def test_over_learners_of_all_kinds_the_probability_on_a_new_order_is_right() -> None:
    rng = np.random.default_rng(1)
    gains = rng.normal(0.0, 10.0, (2_000, 1)) + rng.normal(0.0, 2.0, (2_000, 6))
    claimed = [compare_accuracies(g[:5], np.zeros(5)).new_order_probability for g in gains]
    won = gains[:, 5] > 0.0
    confident = np.array(claimed) > 0.8
    assert won[confident].mean() == pytest.approx(np.array(claimed)[confident].mean(), abs=0.05)


@pytest.mark.parametrize(("a", "b"), [([], []), ([1.0], [1.0, 2.0])])
def test_unpaired_accuracies_are_refused(a: list[float], b: list[float]) -> None:
    with pytest.raises(UsageError, match="Paired"):
        compare_accuracies(a, b)


def test_holm_is_that_of_the_textbook() -> None:
    adjusted = holm({"a": 0.01, "b": 0.04, "c": 0.03, "d": None, "e": 0.005})
    assert adjusted == {"a": 0.03, "b": 0.06, "c": 0.06, "d": None, "e": 0.02}


def test_pairs_are_compared_on_the_orders_of_blind_protocols() -> None:
    table = table_of({"low": noisy(0), "high": noisy(1, mean=60.0)}, ("latin", "edge"))
    result = compare_pairs(table, ("low", "high"))["low"]["high"]
    orders = table.orders("low", "latin").sequences
    expected = compare_accuracies(
        table.orders("low", "latin").accuracies,
        table.orders("high", "latin").accuracies,
        overlap=position_overlap(orders),
    )
    assert (result.n, result.blind) == (3, True)
    assert result.interval == pytest.approx(expected.interval)
    assert result.adjusted_p == pytest.approx(expected.p_value)
    chosen = table_of({"a": noisy(0), "b": noisy(1)}, ("edge",))
    only = compare_pairs(chosen, ("a", "b"))["a"]["b"]
    assert (only.n, only.blind, only.won_interval) == (3, False, None)
    assert (only.protocols, result.protocols) == (("edge",), ())
    ran = [chosen.orders(name, "edge").accuracies for name in "ab"]
    assert only.interval == pytest.approx(compare_accuracies(*ran, blind=False).interval)


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
