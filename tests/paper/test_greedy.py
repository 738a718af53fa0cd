"""Theorem 4 as stated, and the facts about S that its docstring claims."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction

import pytest
from hypothesis import given, strategies as st

from edgecil.errors import UsageError
from edgecil.paper import PAPER_PARTITIONS, greedy_bound, partition_table

task_counts = st.integers(2, 50)


def test_as_stated_by_hand() -> None:
    """N = 100, K = 10, S̄ = 0.6, U = 1: E = 10⁴·9/200·0.6 and ceiling = 200·(ln 10 + 1)/9."""
    bound = greedy_bound(100, 10, 0.6)
    assert bound.expected == pytest.approx(270)
    assert bound.ceiling == pytest.approx(200 / 9 * 3.302585092994046)
    assert bound.delta == pytest.approx(270 - 73.39077984)
    assert bound.delta_proved == pytest.approx(270 - 146.78155969)
    assert bound.threshold == pytest.approx(400 * 3.302585092994046 / 8100)
    assert bound.probability == pytest.approx(1 - math.exp(-5))
    assert bound.expected_score == pytest.approx(6)


@given(tasks=task_counts, task_size=st.integers(1, 50), upper=st.floats(0.01, 1))
def test_delta_changes_sign_at_the_threshold(tasks: int, task_size: int, upper: float) -> None:
    classes = tasks * task_size
    threshold = greedy_bound(classes, tasks, 0, upper).threshold
    if threshold * 1.001 < upper:
        assert greedy_bound(classes, tasks, threshold * 1.001, upper).delta > 0
    assert greedy_bound(classes, tasks, min(threshold * 0.999, upper), upper).delta < 0


def test_expected_score_is_the_mean_of_s_over_every_order() -> None:
    """Six classes in three tasks; S = K/((K−1)N)·Σ over neighbours, averaged over all orders."""
    rng = random.Random(0)
    tasks = [(0, 1), (2, 3), (4, 5)]
    similarity = {
        frozenset(pair): Fraction(rng.randrange(100), 100)
        for pair in itertools.combinations(range(6), 2)
    }

    def between(one: tuple[int, int], other: tuple[int, int]) -> Fraction:
        return sum((similarity[frozenset(p)] for p in itertools.product(one, other)), Fraction(0))

    pairs = list(itertools.combinations(tasks, 2))
    mean_similarity = sum(between(*pair) for pair in pairs) / (4 * len(pairs))
    sums = [between(a, b) + between(b, c) for a, b, c in itertools.permutations(tasks)]
    mean_sum = sum(sums) / len(sums)
    bound = greedy_bound(6, 3, mean_similarity)
    assert bound.expected_score == pytest.approx(float(Fraction(3, 2 * 6) * mean_sum))
    assert 2 * bound.expected == pytest.approx(float(mean_sum))


@given(tasks=task_counts, task_size=st.integers(1, 100), upper=st.floats(0.01, 1))
def test_the_ceiling_holds_for_any_order(tasks: int, task_size: int, upper: float) -> None:
    largest_score = task_size * upper
    assert largest_score < greedy_bound(tasks * task_size, tasks, 0, upper).ceiling


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((100, 1, 0.5), "'tasks'.*2.*1"),
        ((100, 7, 0.5), "100 classes.*7 equal tasks"),
        ((100, 10, 0.5, 0), "'max_similarity'.*0"),
        ((100, 10, -0.5), "'mean_similarity'.*0"),
        ((100, 10, 0.5, 0.4), r"'mean_similarity'.*\[0, 0.4\]"),
    ],
)
def test_says_what_is_wrong(arguments: tuple[float, ...], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        greedy_bound(*arguments)


def test_the_papers_table_of_partitions() -> None:
    assert tuple(partition_table()) == PAPER_PARTITIONS
    assert list(partition_table().values()) == [6, 20, 70, 252, 90, 1680, 2520]
    assert partition_table([(3, 3)]) == {(3, 3): 6}
    for pair in ((10, 3), (0, 1), (4, 0), (2, 4)):
        with pytest.raises(UsageError):
            partition_table([pair])
