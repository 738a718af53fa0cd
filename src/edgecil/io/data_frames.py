"""The interface that data frames of pandas, Polars and other libraries share."""

from __future__ import annotations

from typing import Any, Protocol


class DataFrameLike(Protocol):
    """A table with named columns; pandas' own, or one with `to_pandas`."""

    @property
    def columns(self) -> Any:
        """The names of the columns."""

    def __getitem__(self, name: Any) -> Any:
        """Return a column."""
