"""Latin runs are balanced over positions, and classes change partners as far as they can."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from edgecil.sequences import SequenceSpace, latin
from tests.sequences.oracles import near_equal


def visits(runs) -> Counter[tuple[int, int]]:
    """How often each class stands at each position."""
    return Counter(
        (class_, position)
        for run in runs
        for position, task in enumerate(run.tasks)
        for class_ in task
    )


def repeats(tasks_of_runs) -> int:
    """How often a pair that has met meets again: two meetings are one, three are three."""
    met = Counter(
        pair for tasks in tasks_of_runs for task in tasks for pair in combinations(sorted(task), 2)
    )
    return sum(times * (times - 1) // 2 for times in met.values())


def check_balance(space: SequenceSpace, runs) -> None:
    N, L = space.classes, len(runs)
    seen = visits(runs)
    for position, size in enumerate(space.sizes):
        for class_ in range(N):
            assert L * size // N <= seen[class_, position] <= -(-L * size // N)


@settings(max_examples=60)
@given(
    st.lists(st.integers(1, 6), min_size=1, max_size=6), st.integers(1, 8), st.integers(0, 2**32)
)
def test_every_class_visits_every_position_its_share_of_times(sizes, count, seed) -> None:
    space = SequenceSpace(sizes)
    runs = latin(space, count, np.random.default_rng(seed))
    assert len(runs) == count
    assert all(run in space for run in runs)
    check_balance(space, runs)


@pytest.mark.parametrize(
    ("space", "count"),
    [
        (SequenceSpace.equal(100, 10), 3),
        (SequenceSpace.base_increment(100, 50, 10), 3),
        (near_equal(100, 7), 5),
    ],
    ids=lambda value: str(getattr(value, "sizes", value)),
)
def test_so_it_does_in_the_fields_usual_set_ups(space, count) -> None:
    check_balance(space, latin(space, count, np.random.default_rng(0)))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("sizes", "count"), [((2, 2, 2), 3), ((3, 3, 3, 3), 2), ((1,) * 6, 6)])
def test_nobody_meets_twice_where_that_is_possible(sizes, count, seed) -> None:
    """Six classes in pairs over three runs, for one: 9 of the 15 pairs meet once."""
    runs = latin(SequenceSpace(sizes), count, np.random.default_rng(seed))
    assert repeats(run.tasks for run in runs) == 0


def test_classes_are_treated_alike() -> None:
    """Over many seeds each class is in the first task of the first run equally often."""
    space = SequenceSpace((2, 2, 2))
    first = Counter(
        class_
        for seed in range(600)
        for class_ in latin(space, 2, np.random.default_rng(seed))[0].tasks[0]
    )
    assert all(abs(first[class_] - 200) < 4 * np.sqrt(600 * 2 / 9) for class_ in range(6))


@pytest.mark.parametrize(
    ("sizes", "runs"),
    [
        *(((1,) * 3, 6), ((1,) * 4, 8), ((1,) * 10, 20)),
        *(((2, 2, 2), runs) for runs in (6, 30, 45, 46, 60, 85, 89, 90)),
        *(((2, 2, 2, 2), 300), ((3, 1, 2), 40)),
    ],
)
def test_no_run_comes_twice_while_the_space_has_others(sizes: tuple[int, ...], runs: int) -> None:
    made = latin(SequenceSpace(sizes), runs, np.random.default_rng(0))
    assert len(set(made)) == runs
    check_balance(SequenceSpace(sizes), made)


def test_very_many_runs_are_made_in_parts_and_stay_balanced() -> None:
    space = SequenceSpace.equal(20, 10)
    made = latin(space, 1230, np.random.default_rng(0))
    assert len(set(made)) == 1230
    check_balance(space, made)


def test_thousands_of_classes_stay_balanced_and_change_partners() -> None:
    space = SequenceSpace.equal(6000, 60)
    first, second = (sequence.task_of() for sequence in latin(space, 2, np.random.default_rng(0)))
    assert not np.any(first == second)
    together = np.flatnonzero(first == first[0])
    assert len(set(second[together].tolist())) > 10
