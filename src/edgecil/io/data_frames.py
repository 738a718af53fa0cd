"""What a data frame of pandas, Polars or another library has in common."""

from __future__ import annotations

from typing import Any, Protocol


class DataFrameLike(Protocol):
    """A table with named columns; pandas' own, or one with `to_pandas`."""

    @property
    def columns(self) -> Any:
        """The names of the columns."""

    def __getitem__(self, name: Any) -> Any:
        """Return a column."""
