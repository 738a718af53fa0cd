"""Inversion of monotone functions: bisection, Newton's method, and the least integer."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from edgecil.io.arrays import Bools, Floats

_NEWTON_STEPS = 60
_NEAR = 1e-12


def bisect(
    is_below: Callable[[Floats], Bools], low: Floats, high: Floats, steps: int
) -> tuple[Floats, Floats]:
    """Return the ends of intervals (…) around points, halved as often as asked.

    Args:
        is_below: returns whether numbers lie below the points.
        low: (…) lower ends.
        high: (…) upper ends.
        steps: number of halvings.

    >>> low, high = bisect(lambda root: root**2 < 2.0, np.array(0.0), np.array(2.0), 30)
    >>> round(float(low), 6), round(float(high), 6)
    (1.414214, 1.414214)
    """
    for _ in range(steps):
        middle = (low + high) / 2.0
        below = is_below(middle)
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return low, high


def invert(
    curve: Callable[[Floats], tuple[Floats, Floats]], probability: Floats, low: Floats, high: Floats
) -> Floats:
    """Invert a cdf at n probabilities by Newton's method, safeguarded by bisection.

    Args:
        curve: returns the cdf and its density at n points.
        probability: (n,) values of the cdf.
        low: (n,) points where the cdf is too small.
        high: (n,) points where the cdf is too large.
    """
    point = (low + high) / 2.0
    for _ in range(_NEWTON_STEPS):
        reached, density = curve(point)
        below = reached < probability
        low, high = np.where(below, point, low), np.where(below, high, point)
        step = point + (probability - reached) / np.maximum(density, _NEAR)
        following = np.where((step >= low) & (step <= high), step, (low + high) / 2.0)
        moved = np.abs(following - point).max()
        point = following
        if moved <= _NEAR * (1.0 + np.abs(point).max()):
            break
    return point


def least_integer(holds: Callable[[int], bool], last: int | None = None) -> int | None:
    """Return the least integer in [1, last] for which `holds`, or None if there is none.

    The condition must stay true once it is, and become true where there is no `last`: the integer
    is doubled until it holds, then bisected.

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
