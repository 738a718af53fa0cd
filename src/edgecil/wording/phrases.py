"""Numbers, counts and lists as every sentence writes them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from edgecil.io.numbers import per_cent, rounded_limit
from edgecil.runs.metrics import find_metric
from edgecil.statistics.posterior import Interval
from edgecil.statistics.verdicts import LEVEL

MOST_NAMED = 4
"""Methods that a sentence names one by one; more are counted."""

_MOST_DECIMALS = 6


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


def is_per_cent(metric: str) -> bool:
    """Whether a metric is a share in per cent, so that its differences are points."""
    return find_metric(metric).bounds[1] == 100.0


def decimals_of(metric: str, values: Iterable[float]) -> int:
    """Return how many decimals numbers of a metric take.

    A share in per cent takes one. Numbers without a unit, of any size, take as many as show how
    far these values lie apart to two digits.

    >>> decimals_of("accuracy", (0.61, 0.64)), decimals_of("loss", (0.029, 0.033))
    (1, 4)
    >>> decimals_of("perplexity", (24.0, 27.5)), decimals_of("loss", (1200.0, 1900.0))
    (1, 0)
    """
    if is_per_cent(metric):
        return 1
    return decimals_between(*values)


def decimals_between(*values: float) -> int:
    """Return how many decimals show to two digits how far values lie apart, at most 6.

    >>> decimals_between(1.0, 2.5), decimals_between(0.5, 0.5)
    (1, 2)
    """
    spread = max(values) - min(values) or max(map(abs, values))
    if spread == 0.0:
        return 1
    return min(max(1 - math.floor(math.log10(spread)), 0), _MOST_DECIMALS)


def signed(value: float, decimals: int = 1) -> str:
    """Return a number with a true minus sign."""
    return rounded_limit(value, decimals).replace("-", "−")


def points(difference: float, metric: str, decimals: int = 1) -> str:
    """Return a difference with its unit: points of an accuracy, nothing of a loss.

    >>> points(2.04, "accuracy"), points(0.31, "loss", 2)
    ('2.0 points', '0.31')
    """
    return signed(difference, decimals) + (" points" if is_per_cent(metric) else "")


def interval_words(interval: Interval, level: float = LEVEL, decimals: int = 1) -> str:
    """Return an interval with its level.

    >>> interval_words((1.0, 2.5), 0.95)
    '95 % interval 1.0 to 2.5'
    """
    low, high = (signed(end, decimals) for end in interval)
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
