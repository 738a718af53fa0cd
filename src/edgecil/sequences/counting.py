"""How many class sequences there are: exact integers, however many digits they have."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal


def count_sequences(sizes: Sequence[int]) -> int:
    """|Ω|, the number of ways to deal N classes into ordered tasks of these sizes.

    The multinomial coefficient N!/∏mᵢ! with N = Σmᵢ (Lemma 1 of the paper, for any sizes): the
    order of the tasks counts, the order inside a task does not.

    Args:
        sizes: classes per task, in task order; each at least 1.

    >>> count_sequences([2, 2, 2])
    90
    """
    inside_tasks: int = math.prod(
        math.factorial(size) ** times for size, times in Counter(sizes).items()
    )
    return math.factorial(sum(sizes)) // inside_tasks


def count_text(number: int) -> str:
    """Return how many, as people read it: exactly below a million, as a power of ten from there on.

    >>> count_text(113_400), count_text(7 * 10**14)
    ('113,400', 'about 10^15')
    """
    return f"{number:,}" if number < 10**6 else f"about 10^{math.log10(number):.0f}"


def decimal_text(number: int) -> str:
    """Return every decimal digit of an integer, beyond the 4,300 that `str` is willing to write.

    >>> len(decimal_text(10**5000))
    5001
    """
    return format(Decimal(number), "f")
