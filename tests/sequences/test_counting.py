"""|Ω| is what counting on one's fingers gives, and huge values stay exact."""

from __future__ import annotations

import math
import sys
import time

from hypothesis import given, strategies as st

from edgecil.sequences.counting import count_sequences, decimal_text

IMAGENET_21K = 21_841


@given(st.lists(st.integers(1, 12), min_size=1, max_size=8))
def test_equals_choosing_one_task_after_another(sizes: list[int]) -> None:
    left, ways = sum(sizes), 1
    for size in sizes:
        ways *= math.comb(left, size)
        left -= size
    assert count_sequences(sizes) == ways


@given(st.integers())
def test_decimal_text_is_str_where_str_is_willing(number: int) -> None:
    assert decimal_text(number) == str(number)


def test_decimal_text_of_imagenet_21k_leaves_the_interpreter_alone() -> None:
    size = count_sequences([1] * IMAGENET_21K)
    get_limit = getattr(sys, "get_int_max_str_digits", lambda: None)
    limit = get_limit()
    start = time.process_time()
    text = decimal_text(size)
    assert time.process_time() - start < 10
    assert get_limit() == limit
    assert len(text) == 85_292
    assert int(text[-4000:]) == size % 10**4000
    assert int(text[:4000]) == size // 10 ** (85_292 - 4000)
