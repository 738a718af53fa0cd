"""Statements that assume no distribution, against counting every sample of small populations."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st
from scipy import stats

from edgecil.errors import UsageError
from edgecil.sequences.space import count_sequences
from edgecil.statistics import (
    expected_share_inside,
    gaussian_tail,
    miss_probability,
    miss_probability_paper,
    runs_to_hit,
    tolerance_runs,
    tolerance_share,
    worse_probability,
)
from edgecil.statistics.coverage import _confidence


def tolerance_confidence(
    share: float | Fraction, runs: int, *, sides: int = 1, size: int | None = None
) -> float:
    return _confidence(Fraction(share), runs, sides, size)


SHARES = (0.3, 0.5, 0.75, 0.9, Fraction(9, 10), Fraction(1, 2))


def outside(sample: tuple[int, ...], population: int, sides: int) -> int:
    """Orders that are worse than the worst of a sample (and better than its best)."""
    above = population - 1 - max(sample) if sides == 2 else 0
    return min(sample) + above


@pytest.mark.parametrize("population", [4, 7, 10])
def test_in_a_finite_space_they_are_what_counting_gives(population) -> None:
    for runs in range(1, population + 1):
        samples = list(combinations(range(population), runs))
        inside = [1 - Fraction(outside(s, population, 2), population) for s in samples]
        assert expected_share_inside(runs, population) == pytest.approx(
            float(sum(inside) / len(samples))
        )
        for sides in (1, 2):
            lost = [outside(sample, population, sides) for sample in samples]
            for share in SHARES:
                granted = sum(1 - Fraction(m, population) >= Fraction(share) for m in lost)
                assert tolerance_confidence(
                    share, runs, sides=sides, size=population
                ) == pytest.approx(granted / len(samples)), (runs, sides, share)


def test_in_an_endless_space_they_are_what_uniform_numbers_give() -> None:
    draws = np.sort(np.random.default_rng(0).random((200_000, 5)), axis=1)
    inside = draws[:, -1] - draws[:, 0]
    assert inside.mean() == pytest.approx(expected_share_inside(5), abs=2e-3)
    assert draws[:, 0].mean() == pytest.approx(worse_probability(5), abs=2e-3)
    for share in (0.3, 0.6, 0.8):
        assert np.mean(1 - draws[:, 0] >= share) == pytest.approx(
            tolerance_confidence(share, 5), abs=5e-3
        )
        assert np.mean(inside >= share) == pytest.approx(
            tolerance_confidence(share, 5, sides=2), abs=5e-3
        )


def test_the_numbers_that_people_quote() -> None:
    assert expected_share_inside(3) == 0.5
    assert worse_probability(3) == 0.25
    assert tolerance_runs(0.95, 0.95) == 59
    assert tolerance_runs(0.95, 0.95, sides=2) == 93
    assert tolerance_runs(0.9, 0.9) == 22
    assert tolerance_runs(0.99, 0.95) == 299


@pytest.mark.parametrize("size", [None, 20, 90, 2520, 10**18, 10**92])
@pytest.mark.parametrize("sides", [1, 2])
def test_runs_and_shares_are_the_best_that_their_confidence_allows(size, sides) -> None:
    for share, confidence in ((0.5, 0.9), (0.95, 0.95)):
        least = tolerance_runs(share, confidence, sides=sides, size=size)
        assert tolerance_confidence(share, least, sides=sides, size=size) >= confidence
        if least > 1:
            assert tolerance_confidence(share, least - 1, sides=sides, size=size) < confidence
        if sides == 1:
            granted = tolerance_share(least, confidence, size=size)
            assert granted >= share - 1e-12
            assert tolerance_confidence(granted, least, size=size) >= confidence - 1e-12


def test_a_large_space_is_as_good_as_endless() -> None:
    for sides in (1, 2):
        assert tolerance_confidence(0.9, 30, sides=sides, size=10**9) == pytest.approx(
            tolerance_confidence(0.9, 30, sides=sides), rel=1e-6
        )
    assert expected_share_inside(3, 10**40) == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: expected_share_inside(0), "'runs'"),
        (lambda: expected_share_inside(91, 90), r"'runs' .*\[1, 90\]"),
        (lambda: tolerance_runs(1.0, 0.95), "'share'"),
        (lambda: tolerance_runs(0.95, 1.0), "'confidence'"),
        (lambda: tolerance_runs(0.9, 0.9, sides=3), "'sides'"),
    ],
)
def test_arguments_out_of_range_are_refused(call, words) -> None:
    with pytest.raises(UsageError, match=words):
        call()


HUGE = count_sequences([1] * 21_841)


@given(st.floats(0, 30))
def test_gaussian_tail_is_that_of_the_normal_distribution(deviations: float) -> None:
    assert gaussian_tail(deviations) == pytest.approx(2 * stats.norm.sf(deviations), rel=1e-12)


def test_missing_a_set_counted_out_over_every_draw() -> None:
    for size, marked in itertools.product(range(1, 8), range(8)):
        if marked > size:
            continue
        for runs in range(1, size + 1):
            draws = list(itertools.combinations(range(size), runs))
            misses = sum(min(draw) >= marked for draw in draws)
            assert miss_probability(marked / size, runs, size) == misses / len(draws)


@settings(deadline=None)
@given(st.integers(2, 10**7), st.data())
def test_missing_a_set_is_precise(size: int, data: st.DataObject) -> None:
    """Against the product itself, summed in logarithms; both regimes and either side smaller."""
    few = data.draw(st.integers(1, min(size, 3000)))
    many = data.draw(st.integers(1, size))
    assume(few + many <= size)
    log_miss = math.fsum(
        math.log1p(-many / (size - i))
        if 2 * many < size - i
        else math.log((size - i - many) / (size - i))
        for i in range(few)
    )
    assume(log_miss > -600)
    for marked, runs in ((few, many), (many, few)):
        ours = miss_probability(Fraction(marked, size), runs, size)
        assert ours == pytest.approx(math.exp(log_miss), rel=1e-11)


def test_many_draws_from_a_large_space_are_precise_too() -> None:
    """20,000 marked, 30,000 drawn out of 10⁸: neither is small enough for the exact product."""
    size, marked, runs = 10**8, 20_000, 30_000
    log_miss = math.fsum(math.log1p(-marked / (size - i)) for i in range(runs))
    ours = miss_probability(Fraction(marked, size), runs, size)
    assert ours == pytest.approx(math.exp(log_miss), rel=1e-12)


def test_with_replacement_is_the_power() -> None:
    assert miss_probability(0.25, 3) == 27 / 64
    assert miss_probability(Fraction(1, 10**30), 10**30) == pytest.approx(math.exp(-1))
    assert miss_probability(1, 5000) == miss_probability(0.9, 10**400) == 0
    assert miss_probability(0, 5000) == 1


@given(st.floats(0, 1), st.integers(1, 10**5))
def test_the_papers_approximation_overstates(share: float, runs: int) -> None:
    paper = miss_probability_paper(share, runs)
    assert paper >= miss_probability(share, runs) * (1 - 1e-12)
    assert miss_probability(share, runs, HUGE) <= paper * (1 + 1e-12) + 5e-324


@given(st.integers(2, 5000), st.data())
def test_without_replacement_misses_less(size: int, data: st.DataObject) -> None:
    marked = data.draw(st.integers(0, size))
    runs = data.draw(st.integers(1, size))
    share = Fraction(marked, size)
    assert miss_probability(share, runs, size) <= miss_probability(share, runs) * (1 + 1e-12)


def test_astronomical_spaces() -> None:
    start = time.process_time()
    assert miss_probability(gaussian_tail(3), 1000, HUGE) == pytest.approx(
        miss_probability(gaussian_tail(3), 1000), rel=1e-12
    )
    assert miss_probability(Fraction(1, HUGE), HUGE // 2, HUGE) == 0.5
    assert miss_probability(Fraction(HUGE - 10**9, HUGE), 3, HUGE) == 0
    assert miss_probability(Fraction(1, 2), HUGE // 2, HUGE) == 0
    root = math.isqrt(HUGE)
    assert miss_probability(Fraction(root, HUGE), root, HUGE) == pytest.approx(math.exp(-1))
    assert runs_to_hit(gaussian_tail(3), 0.95, HUGE) == runs_to_hit(gaussian_tail(3), 0.95)
    assert time.process_time() - start < 5


@settings(deadline=None)
@given(st.floats(1e-6, 1), st.floats(0.001, 0.999), st.none() | st.integers(1, 10**6))
def test_runs_to_hit_is_the_least(share: float, confidence: float, size: int | None) -> None:
    runs = runs_to_hit(share, confidence, size)
    if runs is None:
        assert size is not None
        assert round(Fraction(share) * size) == 0
        return
    accepted = 1 - Fraction(confidence)
    assert miss_probability(share, runs, size) <= accepted
    assert runs == 1 or miss_probability(share, runs - 1, size) > accepted


def test_runs_to_hit_by_hand() -> None:
    assert runs_to_hit(0.5, 0.875) == 3  # 1 − 1/8
    assert runs_to_hit(1, 0.5) == 1
    assert runs_to_hit(0, 0.5) is None
    assert runs_to_hit(0.001, 0.5, size=90) is None
    assert runs_to_hit(1 / 90, 0.5, size=90) == 45
    assert runs_to_hit(1 / 90, 0.99, size=90) == 90


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gaussian_tail(-1), "'deviations'.*0.*-1"),
        (lambda: miss_probability(1.5, 3), r"'share'.*\[0, 1\]"),
        (lambda: miss_probability(0.5, 0), "'runs'.*1.*0"),
        (lambda: miss_probability(0.5, 91, 90), r"'runs'.*\[1, 90\]"),
        (lambda: miss_probability(0.5, 1, 0), "'size'.*1.*0"),
        (lambda: miss_probability_paper(-0.1, 3), "'share'"),
        (lambda: runs_to_hit(0.5, 1), r"'confidence'.*\(0, 1\)"),
    ],
)
def test_says_what_is_wrong(call: Callable[[], object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        call()
