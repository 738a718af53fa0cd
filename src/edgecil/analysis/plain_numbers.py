"""Accuracies as plain numbers, `[64.1, 63.0, 65.2]`: one run of a method each."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any, TypeAlias

import numpy as np

from edgecil.errors import UsageError

Numbers: TypeAlias = Sequence[float] | np.ndarray[Any, Any]


def is_numbers(source: object) -> bool:
    """Return whether a source is a list, an array or a series of numbers."""
    if isinstance(source, (list, tuple)):
        return bool(source) and all(isinstance(value, Real) for value in source)
    is_series = hasattr(source, "to_numpy") and not hasattr(source, "columns")
    return isinstance(source, np.ndarray) or is_series


def numbers_frame(source: Any) -> Any:
    """Return accuracies as a DataFrame with one row for each run."""
    import pandas

    values = np.asarray(source)
    if values.ndim != 1 or values.dtype.kind not in "fiu" or not values.size:
        raise UsageError(
            "Accuracies must be a list or an array of numbers, one for each run. Got an array of "
            f"shape {values.shape} of {values.dtype}."
        )
    return pandas.DataFrame({"accuracy": values.astype(float)})
