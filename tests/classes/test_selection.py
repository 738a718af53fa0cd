from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from edgecil.classes import select_classes
from edgecil.errors import UsageError


@given(st.integers(2, 300), st.data())
def test_the_first_or_a_draw_or_all(total: int, data: st.DataObject) -> None:
    count = data.draw(st.integers(2, total))
    seed = data.draw(st.integers(0, 2**32))
    assert select_classes(total).tolist() == list(range(total))
    assert select_classes(total, count=count).tolist() == list(range(count))
    drawn = select_classes(total, count=count, seed=seed)
    assert drawn.dtype == np.int64
    permuted = np.random.default_rng(seed).permutation(total)[:count]
    assert drawn.tolist() == sorted(permuted.tolist())


@pytest.mark.parametrize("ids", [[3, 0, 2], (3, 0, 2), np.array([3, 0, 2], dtype=np.uint8)])
def test_given_ids_keep_their_order(ids: Any) -> None:
    chosen = select_classes(4, ids=ids)
    assert chosen.dtype == np.int64
    assert chosen.tolist() == [3, 0, 2]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"count": 1}, r"must be in \[2, 10\]. Got 1"),
        ({"count": 11}, r"in \[2, 10\]. Got 11"),
        ({"seed": 0}, "give 'classes'"),
        ({"count": 2, "seed": -1}, "0.*-1"),
        ({"ids": [1, 2], "count": 2}, "not both"),
        ({"ids": [1, 2], "seed": 2}, "not both"),
        ({"ids": [1, 10]}, r"in \[0, 9\]. Got 10"),
        ({"ids": [-1, 1]}, r"in \[0, 9\]. Got -1"),
        ({"ids": [1, 2, 1]}, "Got 1 more than once"),
        ({"ids": [1]}, "at least 2 integers"),
        ({"ids": []}, "at least 2 integers"),
        ({"ids": [0.5, 1.5]}, "integers"),
        ({"ids": [[0, 1], [2, 3]]}, "integers"),
    ],
)
def test_a_choice_that_makes_no_sense_is_told(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        select_classes(10, **options)
