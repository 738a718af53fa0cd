"""Durations in a few characters, for tables and sentences."""

from __future__ import annotations


def format_duration(seconds: float) -> str:
    """A duration in a few characters.

    >>> format_duration(7.6), format_duration(200.0), format_duration(90000.0)
    ('8 s', '3 min 20 s', '25 h 0 min')
    """
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
