from __future__ import annotations

import numpy as np
from hypothesis import given, strategies as st

from edgecil.statistics.inversion import bisect, least_integer


@given(st.integers(1, 10**40), st.integers(1, 10**40))
def test_finds_the_step_or_says_there_is_none(step: int, last: int) -> None:
    least = least_integer(lambda value: value >= step, last)
    assert least == (step if step <= last else None)
    assert least_integer(lambda value: value >= step) == step


def test_a_large_range_costs_nothing() -> None:
    asked = []
    assert least_integer(lambda value: bool(asked.append(value)) or value >= 9, 10**9999) == 9
    assert len(asked) < 10


def test_bisection_encloses_roots_in_intervals_of_known_width() -> None:
    numbers = np.array([0.5, 2.0, 3.0])
    low, high = bisect(lambda root: root**2 < numbers, np.zeros(3), np.full(3, 2.0), 20)
    assert (low <= np.sqrt(numbers)).all()
    assert (np.sqrt(numbers) <= high).all()
    assert (high - low).tolist() == [2.0**-19] * 3
