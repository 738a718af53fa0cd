from __future__ import annotations

from hypothesis import given, strategies as st

from edgecil.statistics.arguments import least_integer


@given(st.integers(1, 10**40), st.integers(1, 10**40))
def test_finds_the_step_or_says_there_is_none(step: int, last: int) -> None:
    least = least_integer(lambda value: value >= step, last)
    assert least == (step if step <= last else None)
    assert least_integer(lambda value: value >= step) == step


def test_a_large_range_costs_nothing() -> None:
    asked = []
    assert least_integer(lambda value: bool(asked.append(value)) or value >= 9, 10**9999) == 9
    assert len(asked) < 10
