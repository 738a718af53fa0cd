"""How many class sequences there are: exact integers, however many digits they have."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from numbers import Integral

from edgecil.errors import UsageError, shown


def count_sequences(sizes: Sequence[int]) -> int:
    """|Ω|, the number of ways to deal N classes into ordered tasks of these sizes.

    The multinomial coefficient N!/∏mᵢ! with N = Σmᵢ (Lemma 1 of the paper, for any sizes): the
    order of the tasks counts, the order inside a task does not.

    Args:
        sizes: classes per task, in task order; each at least 1.

    >>> count_sequences([2, 2, 2])
    90
    """
    _check(sizes)
    repeats = Counter(int(size) for size in sizes)
    inside_tasks: int = math.prod(math.factorial(size) ** times for size, times in repeats.items())
    return math.factorial(sum(int(size) for size in sizes)) // inside_tasks


def ln_count(sizes: Sequence[int]) -> float:
    """Return the natural logarithm of `count_sequences`, to the last digits of a float.

    Taken from the exact integer: a difference of log-gammas would lose digits when one task holds
    nearly all classes.

    >>> round(ln_count([10] * 10), 6)
    212.69525
    """
    return math.log(count_sequences(sizes))


def log10_count(sizes: Sequence[int]) -> float:
    """Return the decimal logarithm of `count_sequences`, to the last digits of a float.

    >>> round(log10_count([10] * 10), 4)
    92.3724
    """
    return math.log10(count_sequences(sizes))


def count_text(number: int) -> str:
    """Return how many, as people read it: exactly below a million, as a power of ten from there on.

    >>> count_text(113_400), count_text(7 * 10**14)
    ('113,400', 'about 10^15')
    """
    return f"{number:,}" if number < 10**6 else f"about 10^{math.log10(number):.0f}"


def decimal_text(number: int) -> str:
    """Return every decimal digit of an integer, beyond the 4,300 that `str` is willing to write.

    Goes through `decimal`, whose conversion of integers is exact and has no digit limit, so that
    no interpreter setting is touched (`sys.set_int_max_str_digits` is global, and absent before
    Python 3.10.7). About a tenth of a second for 85,000 digits.

    >>> len(decimal_text(10**5000))
    5001
    """
    return format(Decimal(number), "f")


def _check(sizes: Sequence[int]) -> None:
    if len(sizes) == 0:
        raise UsageError("The 'sizes' parameter must name at least one task. Got none instead.")
    for size in sizes:
        if not isinstance(size, Integral) or isinstance(size, bool) or size < 1:
            raise UsageError(
                f"The 'sizes' parameter must contain ints >= 1. Got {shown(size)} instead."
            )
