from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from edgecil.errors import DataError
from edgecil.io.arrays import Floats
from edgecil.io.json import from_json, to_json

SCHEMA = "example/1"


@dataclass(frozen=True, eq=False)
class Example:
    """Something to write."""

    name: str
    interval: tuple[float, float] | None
    values: Floats


EXAMPLE = Example("a", (0.1 + 0.2, 1.0), np.array([[1.0 / 3.0, np.nan]]))


def test_an_object_is_read_back_bit_by_bit() -> None:
    again = from_json(to_json(EXAMPLE, SCHEMA), Example, SCHEMA)
    assert (again.name, again.interval) == ("a", (0.1 + 0.2, 1.0))
    assert again.values.dtype == np.float64
    assert np.array_equal(again.values, EXAMPLE.values, equal_nan=True)


@pytest.mark.parametrize(
    "text", [b"", b"{", b"[]", b'{"schema":"example/2"}', b'{"schema":"example/1","name":3}']
)
def test_other_text_is_refused(text: bytes) -> None:
    with pytest.raises(DataError, match="example/1"):
        from_json(text, Example, SCHEMA)
