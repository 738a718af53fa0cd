"""Numbers as text: parsed from files and options, rounded for readers, and durations."""

from __future__ import annotations

import math

_MOST_DIGITS = 4


def parse_int(text: str) -> int:
    """Parse an integer; unlike `int`, accept no underscores and no digits of other scripts."""
    try:
        return int(_plain(text))
    except ValueError:
        raise ValueError(f"{text.strip()!r} is not an integer") from None


def parse_float(text: str, *, finite: bool = False) -> float:
    """Parse a number; unlike `float`, accept no underscores and no digits of other scripts."""
    try:
        value = float(_plain(text))
    except ValueError:
        raise ValueError(f"{text.strip()!r} is not a number") from None
    if finite and not math.isfinite(value):
        raise ValueError(f"{text.strip()!r} is not a finite number")
    return value


def parse_cell(text: str) -> float | None:
    """Parse a cell of a table: None if it is empty or `nan`, NaN if it is not a number.

    >>> parse_cell("61.2"), parse_cell("NaN"), parse_cell("61,2")
    (61.2, None, nan)
    """
    if text.lower() in ("", "nan"):
        return None
    try:
        return parse_float(text)
    except ValueError:
        return math.nan


def is_number(text: str) -> bool:
    """Return whether :func:`parse_float` reads a text.

    >>> [is_number(text) for text in ("1.5", "nan", "1_0", "")]
    [True, True, False, False]
    """
    try:
        parse_float(text)
    except ValueError:
        return False
    return True


def rounded(value: float, digits: int = 1) -> str:
    """Return a number with so many decimals; zero has no sign.

    >>> rounded(-0.04), rounded(-1.26)
    ('0.0', '-1.3')
    """
    return f"{round(value, digits) + 0.0:.{digits}f}"


def rounded_limit(value: float, digits: int = 1) -> str:
    """Return an end of an interval, with more decimals if it would look like zero.

    >>> rounded_limit(-0.02), rounded_limit(2.35), rounded_limit(0.0)
    ('-0.02', '2.4', '0.0')
    """
    while value != 0.0 and round(value, digits) == 0.0 and digits < _MOST_DIGITS:
        digits += 1
    return rounded(value, digits)


def format_duration(seconds: float) -> str:
    """Return a duration in a few characters.

    >>> format_duration(7.6), format_duration(200.0), format_duration(90000.0)
    ('8 s', '3 min 20 s', '25 h 0 min')
    """
    minutes, seconds_left = divmod(max(0, round(seconds)), 60)
    if minutes == 0:
        return f"{seconds_left} s"
    if minutes < 60:
        return f"{minutes} min {seconds_left} s"
    return f"{minutes // 60} h {minutes % 60} min"


def _plain(text: str) -> str:
    """Return a text without underscores and digits of other scripts; else raise ValueError."""
    if "_" in text or not (text.isascii() or text.strip().isascii()):
        raise ValueError
    return text


def per_cent(level: float) -> str:
    """A level in words.

    >>> per_cent(0.95), per_cent(0.995)
    ('95 %', '99.5 %')
    """
    return f"{100.0 * level:g} %"
