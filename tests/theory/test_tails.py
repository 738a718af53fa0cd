"""The chance of missing extreme sequences, against enumeration and against SciPy."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import assume, given, settings, strategies as st
from scipy import stats

from edgecil.errors import UsageError
from edgecil.sequences.space import count_sequences
from edgecil.theory import gaussian_tail, miss_probability, miss_probability_paper, runs_to_hit

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
