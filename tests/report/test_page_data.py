"""Packed columns hold every value: packing and unpacking gives the same numbers."""

from __future__ import annotations

import base64

import numpy as np
from hypothesis import given, strategies as st

from edgecil.report.page_data import Packed, pack

WHOLE = st.integers(-(2**40), 2**40)


def unpack(column: Packed, count: int) -> list[int | None]:
    """What a page's script reads, bit by bit."""
    bits = np.unpackbits(np.frombuffer(base64.b64decode(column["text"]), dtype=np.uint8))
    codes = []
    for place in range(count):
        own = bits[place * column["bits"] : (place + 1) * column["bits"]]
        codes.append(int("".join(map(str, own)), 2))
    return [None if code == column["none"] else column["low"] + code for code in codes]


@given(st.lists(st.none() | WHOLE, max_size=40))
def test_every_value_comes_back(values: list[int | None]) -> None:
    numbers = [np.nan if value is None else value for value in values]
    assert unpack(pack(numbers), len(values)) == values


def test_a_column_has_no_more_bits_than_its_range_needs() -> None:
    packed = pack([1000 + place for place in range(8)])
    assert (packed["bits"], packed["none"]) == (3, -1)
    assert len(base64.b64decode(packed["text"])) == 3
    assert pack([5] * 16)["bits"] == 1
    assert pack([np.nan, 5])["bits"] == 1
