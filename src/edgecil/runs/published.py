"""Published numbers: the mean of a method's runs as a paper prints it, with or without its spread.

A table in a paper has "80.5 ± 1.5 (n = 3)" where a table of runs has three rows. Such a number is a
sample of size n of which only mean and standard deviation are known, or, without a spread, a
constant.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from edgecil.errors import DataError


@dataclass(frozen=True)
class PublishedResult:
    """The result of one method on one dataset, as published.

    Attributes:
        method: the name of the method.
        mean: over its runs.
        std: standard deviation over its runs; None if only the mean was published, which then
            counts as a constant.
        n: number of runs; None if only the mean was published.
        ddof: what was subtracted from n in the denominator of the variance, 0 or 1; None if it is
            unknown.
        dataset: the name of the dataset; empty if it is unknown.
        metric: what the numbers are values of.
        source: where it was published: a file, or a reference.
    """

    method: str
    mean: float
    std: float | None = None
    n: int | None = None
    ddof: int | None = None
    dataset: str = ""
    metric: str = "accuracy"
    source: str = ""

    def __post_init__(self) -> None:
        if not math.isfinite(self.mean):
            raise DataError(f"The mean of {self.method} must be a finite number. Got {self.mean}.")
        if self.std is not None and not 0.0 <= self.std < math.inf:
            raise DataError(
                f"The standard deviation of {self.method} must be a number of at least 0. "
                f"Got {self.std}."
            )
        if self.n is not None and self.n < 1:
            raise DataError(f"{self.method} must have at least one run. Got {self.n}.")
        if self.std is not None and self.n is None:
            raise DataError(
                f"The mean of {self.method} has a standard deviation, but the number of runs is "
                "unknown. Give it as `n`."
            )
        if self.ddof not in (None, 0, 1):
            raise DataError(f"`ddof` must be 0 or 1, or None if unknown. Got {self.ddof}.")

    @property
    def is_constant(self) -> bool:
        """Whether nothing is known about the spread of the runs behind the mean."""
        return self.std is None

    @property
    def sample_std(self) -> float | None:
        """The standard deviation with n - 1 in the denominator; None if it is unknown.

        One of unknown kind is taken to have n in the denominator, as NumPy's default has it: this
        makes the sample's standard deviation larger, never smaller, than what was published.

        >>> round(PublishedResult("ours", 80.0, std=2.0, n=3).sample_std, 4)
        2.4495
        >>> PublishedResult("ours", 80.0, std=2.0, n=3, ddof=1).sample_std
        2.0
        """
        if self.std is None or self.n is None or self.n < 2:
            return None
        if self.ddof == 1:
            return self.std
        return self.std * math.sqrt(self.n / (self.n - 1))
