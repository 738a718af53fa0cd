"""Parsing of numbers in text files and options."""

from __future__ import annotations

import math


def parse_int(text: str) -> int:
    """Parse an integer; unlike `int`, accept no underscores and no digits of other scripts.

    >>> parse_int(" -12 ")
    -12
    >>> parse_int("1_0")
    Traceback (most recent call last):
    ValueError: '1_0' is not an integer
    """
    _check(text, "an integer")
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"{text.strip()!r} is not an integer") from None


def parse_float(text: str, *, finite: bool = False) -> float:
    """Parse a number; unlike `float`, accept no underscores and no digits of other scripts.

    >>> parse_float("1e-3")
    0.001
    """
    _check(text, "a number")
    try:
        value = float(text)
    except ValueError:
        raise ValueError(f"{text.strip()!r} is not a number") from None
    if finite and not math.isfinite(value):
        raise ValueError(f"{text.strip()!r} is not a finite number")
    return value


def parse_cell(text: str) -> float | None:
    """Parse a cell of a table: None if it is empty or `nan`, NaN if it is no number.

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


def _check(text: str, kind: str) -> None:
    if "_" in text or not (text.isascii() or text.strip().isascii()):
        raise ValueError(f"{text.strip()!r} is not {kind}")
