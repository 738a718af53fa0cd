"""Columns of whole numbers as short texts: as few bits as the values need, in base64."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray


class Packed(TypedDict):
    """A column as a page's script reads it.

    Attributes:
        low: the value of code 0.
        bits: of a code, highest bit first.
        none: the code of a missing value; -1 if no value is missing.
        text: the codes one after the other, in base64.
    """

    low: int
    bits: int
    none: int
    text: str


def pack(values: Sequence[int | None] | NDArray[Any]) -> Packed:
    """Pack whole numbers, some of which may be missing.

    >>> pack([3, None, 4])
    {'low': 3, 'bits': 2, 'none': 2, 'text': 'JA=='}
    """
    if isinstance(values, np.ndarray):
        numbers, missing = values.astype(np.int64).ravel(), np.zeros(values.size, dtype=bool)
    else:
        missing = np.array([value is None for value in values], dtype=bool)
        numbers = np.array([value or 0 for value in values], dtype=np.int64)
    given = numbers[~missing]
    low, high = (int(given.min()), int(given.max())) if given.size else (0, 0)
    none = high - low + 1 if missing.any() else -1
    bits = max(1, max(high - low, none).bit_length())
    codes = np.where(missing, none, numbers - low)
    shifts = np.arange(bits - 1, -1, -1)
    stream = np.packbits(((codes[:, None] >> shifts) & 1).astype(np.uint8).ravel())
    return {
        "low": low,
        "bits": bits,
        "none": none,
        "text": base64.b64encode(stream.tobytes()).decode(),
    }


def pack_decimals(values: Sequence[float | None]) -> Packed:
    """Pack numbers in hundredths, rounded as they are printed.

    >>> pack_decimals([0.125, 0.135])["low"]
    12
    """
    return pack([None if value is None else round(100.0 * round(value, 2)) for value in values])
