"""Numbers as readers see them: rounded, without a negative zero."""

from __future__ import annotations

_MOST_DIGITS = 4


def rounded(value: float, digits: int = 1) -> str:
    """Return a number with so many decimals; zero has no sign.

    >>> rounded(-0.04), rounded(-1.26)
    ('0.0', '-1.3')
    """
    return f"{round(value, digits) + 0.0:.{digits}f}"


def rounded_limit(value: float, digits: int = 1) -> str:
    """Return an end of an interval; more decimals if it would wrongly look like zero.

    >>> rounded_limit(-0.02), rounded_limit(2.35), rounded_limit(0.0)
    ('-0.02', '2.4', '0.0')
    """
    while value != 0.0 and round(value, digits) == 0.0 and digits < _MOST_DIGITS:
        digits += 1
    return rounded(value, digits)
