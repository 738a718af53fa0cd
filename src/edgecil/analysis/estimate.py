"""A number with its interval, as a notebook uses it: `analysis["icarl"].mean`."""

from __future__ import annotations

from edgecil.statistics.verdicts import LEVEL


class Estimate(float):
    """A number, with the interval that belongs to it.

    It is a float: it is added, compared and formatted like one.

    Attributes:
        low: the lower end of the interval; None if there is none.
        high: the upper end.
        level: probability with which the interval contains the true value.

    >>> mean = Estimate(64.06, 61.9, 66.2, 0.95)
    >>> mean, mean.low, mean > 60.0, f"{mean:.1f}"
    (64.06 (95 % interval 61.9 to 66.2), 61.9, True, '64.1')
    """

    low: float | None
    high: float | None
    level: float

    def __new__(
        cls,
        value: float,
        low: float | None = None,
        high: float | None = None,
        level: float = LEVEL,
    ) -> Estimate:
        """Make a number of a value and its interval."""
        number = super().__new__(cls, value)
        number.low, number.high, number.level = low, high, level
        return number

    def __reduce__(self) -> tuple[type[Estimate], tuple[float, float | None, float | None, float]]:
        return Estimate, (float(self), self.low, self.high, self.level)

    def __repr__(self) -> str:
        from edgecil.wording.phrases import bracket, decimals_between, interval_words

        if self.low is None or self.high is None:
            return f"{round(float(self), 2):g}"
        decimals = max(decimals_between(self.low, self.high), 1)
        value = f"{float(self):.{max(decimals, 2)}f}".replace("-", "−")
        return value + bracket(interval_words((self.low, self.high), self.level, decimals))
