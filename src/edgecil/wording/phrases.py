"""Numbers, counts and lists as every sentence writes them."""

from __future__ import annotations

from collections.abc import Sequence

from edgecil.io.numbers import per_cent, rounded_limit
from edgecil.runs.metrics import find_metric
from edgecil.statistics.posterior import Interval
from edgecil.statistics.verdicts import LEVEL

MOST_NAMED = 4
"""Methods that a sentence names one by one; more are counted."""


POOLED = " are averaged: "
"""In the note on every method whose runs are averaged though their settings differ."""


def count(number: int, noun: str) -> str:
    """Return a number and its noun.

    >>> count(1, "order"), count(3, "order")
    ('1 order', '3 orders')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def count_range(least: int, most: int, noun: str) -> str:
    """Return a range of numbers and their noun.

    >>> count_range(3, 5, "order"), count_range(3, 3, "order")
    ('3 to 5 orders', '3 orders')
    """
    start = f"{least:,} to " if least < most else ""
    return start + count(most, noun)


def signed(value: float) -> str:
    """Return a number with a true minus sign."""
    return rounded_limit(value).replace("-", "−")


def points(difference: float, metric: str) -> str:
    """Return a difference with its unit: points of an accuracy, nothing of a loss.

    >>> points(2.04, "accuracy"), points(0.31, "loss")
    ('2.0 points', '0.3')
    """
    unit = " points" if find_metric(metric).bounds[1] == 100.0 else ""
    return signed(difference) + unit


def interval_words(interval: Interval, level: float = LEVEL) -> str:
    """Return an interval with its level.

    >>> interval_words((1.0, 2.5), 0.95)
    '95 % interval 1.0 to 2.5'
    """
    low, high = map(signed, interval)
    return f"{per_cent(level)} interval {low} to {high}"


def bracket(*parts: str) -> str:
    """Return what stands in brackets after a number; empty parts are left out.

    >>> bracket("90 % interval 1.0 to 2.5", ""), bracket("")
    (' (90 % interval 1.0 to 2.5)', '')
    """
    inside = "; ".join(part for part in parts if part)
    return f" ({inside})" if inside else ""


def join_words(words: Sequence[str], last: str = "and") -> str:
    """Return a list of words.

    >>> join_words(["a", "b", "c"]), join_words(["a", "b"], "or")
    ('a, b and c', 'a or b')
    """
    *others, end = words
    return f"{', '.join(others)} {last} {end}" if others else end


def list_methods(names: Sequence[str]) -> str:
    """Return names of methods for a sentence; many are counted.

    >>> list_methods(["a", "b"]), list_methods(list("abcde"))
    ('a, b', '5 methods')
    """
    return f"{len(names)} methods" if len(names) > MOST_NAMED else ", ".join(names)


def describe_probability(chance: float) -> str:
    """Return a probability in per cent; one that is not certain does not become 0 or 100 %.

    >>> describe_probability(0.9999), describe_probability(0.42), describe_probability(0.0001)
    ('above 99 %', '42 %', 'below 1 %')
    """
    if chance > 0.995:
        return "above 99 %"
    return "below 1 %" if chance < 0.005 else f"{100.0 * chance:.0f} %"
