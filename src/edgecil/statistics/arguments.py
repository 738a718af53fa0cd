"""Checks of arguments, which return exact numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from numbers import Rational, Real

from edgecil.errors import format_value, is_integer, wrong_value_error


def whole_number(name: str, value: int, *, least: int, most: int | None = None) -> int:
    """Return the integer itself, if it lies in [least, most].

    >>> whole_number("runs", 0, least=1, most=90)
    Traceback (most recent call last):
    edgecil.errors.UsageError: 'runs' must be an int in [1, 90]. Got 0 instead.
    """
    if is_integer(value):
        number = int(value)
        if number >= least and (most is None or number <= most):
            return number
    allowed = f"an int >= {least}" if most is None else f"an int in [{least}, {format_value(most)}]"
    raise wrong_value_error(name, allowed, value)


def positive_number(name: str, value: float) -> Fraction:
    """Return the exact value of a finite number above 0."""
    return _number(name, value, "a number > 0", lambda number: number > 0)


def number_at_least_zero(name: str, value: float) -> Fraction:
    """Return the exact value of a finite number that is 0 or more."""
    return _number(name, value, "a number >= 0", lambda number: number >= 0)


def open_probability(name: str, value: float) -> Fraction:
    """Return the exact value of a probability that is neither 0 nor 1."""
    return _number(name, value, "a number in (0, 1)", lambda number: 0 < number < 1)


def closed_probability(name: str, value: float | Fraction) -> Fraction:
    """Return the exact value of a probability, 0 and 1 included."""
    return _number(name, value, "a number in [0, 1]", lambda number: 0 <= number <= 1)


def _number(
    name: str, value: float | Fraction, allowed: str, holds: Callable[[Fraction], bool]
) -> Fraction:
    if isinstance(value, Real) and not isinstance(value, bool):
        rational = isinstance(value, Rational)
        if rational or math.isfinite(value):
            number = Fraction(value if rational else float(value))
            if holds(number):
                return number
    raise wrong_value_error(name, allowed, value)
