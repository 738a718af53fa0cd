"""Student's t: the mean of one sample and the difference of two, from values or from summaries.

The textbook's intervals, which SciPy's `ttest_1samp`, `ttest_rel` and `ttest_ind(equal_var=False)`
give, too. Only mean, standard deviation and size of a sample are needed, so that the summary of a
published table is a sample like any other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtr, stdtrit

from edgecil.statistics.verdicts import LEAST_RUNS, LEVEL


@dataclass(frozen=True)
class Sample:
    """What is known of a sample.

    Attributes:
        mean: its mean.
        std: its standard deviation, with n - 1 in the denominator; None if nothing is known about
            the spread, so that the mean counts as a constant.
        size: number of values; None of a constant.
    """

    mean: float
    std: float | None = None
    size: int | None = None

    @classmethod
    def of(cls, values: ArrayLike) -> Sample:
        """Return the summary of two or more values."""
        array = np.asarray(values, dtype=np.float64)
        return cls(float(array.mean()), float(array.std(ddof=1)), len(array))

    @property
    def variance_of_mean(self) -> float:
        """The estimated variance of the mean; 0 of a constant."""
        if self.std is None or self.size is None:
            return 0.0
        return self.std**2 / self.size


@dataclass(frozen=True)
class Student:
    """A quantity whose distance from its estimate, in standard errors, has Student's distribution.

    Attributes:
        mean: the estimate.
        error: its standard error.
        next_error: the standard error of predicting the next run, or the next difference.
        freedom: degrees of freedom of both errors.
        against_constant: whether one of two means that are compared is a constant.
        shared_seeds: number of training seeds that all runs share; always 0.
    """

    mean: float
    error: float
    next_error: float
    freedom: float
    against_constant: bool = False
    shared_seeds: int = 0

    def cdf(self, quantity: Literal["mean", "next"], at: float) -> float:
        """Return the probability that the true mean, or the next run, is below a value."""
        return float(stdtr(self.freedom, (at - self.mean) / self.error_of(quantity)))

    def above(self, quantity: Literal["mean", "next"], at: float) -> float:
        """Return the probability that it is above a value, exact also where it is tiny."""
        return float(stdtr(self.freedom, (self.mean - at) / self.error_of(quantity)))

    def quantile(self, quantity: Literal["mean", "next"], probability: float) -> float:
        """Return the value below which it is with this probability."""
        return self.mean + self.error_of(quantity) * float(stdtrit(self.freedom, probability))

    def interval(
        self, quantity: Literal["mean", "next"], level: float = LEVEL
    ) -> tuple[float, float]:
        """Return the interval that contains it with this probability."""
        tail = (1.0 - level) / 2.0
        return self.quantile(quantity, tail), self.quantile(quantity, 1.0 - tail)

    def error_of(self, quantity: Literal["mean", "next"]) -> float:
        """Return the standard error of the mean, or of predicting the next run."""
        return self.error if quantity == "mean" else self.next_error


def difference(first: Sample, second: Sample) -> Student | None:
    """Return the difference of the means of two independent samples, by Welch's test.

    The standard error is √(s₁²/n₁ + s₂²/n₂), with the degrees of freedom of Satterthwaite (1946)
    and Welch (1947),

        ν = (s₁²/n₁ + s₂²/n₂)² / ((s₁²/n₁)²/(n₁ - 1) + (s₂²/n₂)²/(n₂ - 1)).

    Against a constant it is the one-sample t test. A predicted difference of the next runs adds
    s₁² + s₂² to the variance.

    Returns:
        None if a sample has fewer than three values, if both are constants, or if no value differs
        from the others of its sample.

    >>> first, second = Sample(80.5, 1.5, 5), Sample(78.1, 1.2, 3)
    >>> welch = difference(first, second)
    >>> round(welch.freedom, 2), [round(end, 2) for end in welch.interval("mean")]
    (5.22, [-0.05, 4.85])
    """
    freedom, total, following = 0.0, 0.0, 0.0
    for sample in (first, second):
        if sample.std is None or sample.size is None:
            continue
        if sample.size < LEAST_RUNS:
            return None
        total += sample.variance_of_mean
        following += sample.variance_of_mean + sample.std**2
        freedom += sample.variance_of_mean**2 / (sample.size - 1)
    if freedom == 0.0:
        return None
    return Student(
        first.mean - second.mean,
        math.sqrt(total),
        math.sqrt(following),
        total**2 / freedom,
        against_constant=first.std is None or second.std is None,
    )


def average_equally(parts: Sequence[Student]) -> Student:
    """Return the mean of independent quantities, each of which weighs the same.

    Its variance is the sum of theirs over k², with the degrees of freedom of Satterthwaite (1946),
    as in :func:`difference`.

    >>> parts = [Student(1.0, 0.5, 1.0, 4.0), Student(3.0, 0.5, 1.0, 4.0)]
    >>> both = average_equally(parts)
    >>> both.mean, round(both.error, 3), both.freedom
    (2.0, 0.354, 8.0)
    """
    count = len(parts)
    variances = [(part.error / count) ** 2 for part in parts]
    following = sum((part.next_error / count) ** 2 for part in parts)
    total = sum(variances)
    squares = [variance**2 / part.freedom for variance, part in zip(variances, parts, strict=True)]
    return Student(
        sum(part.mean for part in parts) / count,
        math.sqrt(total),
        math.sqrt(following),
        total**2 / sum(squares),
    )
