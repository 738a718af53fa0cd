"""The least integer for which something holds, in a range that may have no upper end."""

from __future__ import annotations

from collections.abc import Callable


def least_integer(holds: Callable[[int], bool], last: int | None = None) -> int | None:
    """Return the least integer in [1, last] for which `holds`, or None if there is none.

    Doubles until it holds, then bisects: about 2·log₂ of the answer calls, however large `last`.

    Args:
        holds: a condition that stays true once it has become true.
        last: the end of the range (at least 1); without it the condition must contain somewhere.

    >>> least_integer(lambda runs: runs * runs >= 50)
    8
    """
    fails, succeeds = 0, 1
    while not holds(succeeds):
        if succeeds == last:
            return None
        fails = succeeds
        succeeds = 2 * succeeds if last is None else min(2 * succeeds, last)
    while succeeds - fails > 1:
        middle = (fails + succeeds) // 2
        if holds(middle):
            succeeds = middle
        else:
            fails = middle
    return succeeds
