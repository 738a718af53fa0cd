"""What a few blindly drawn orders say about all orders, whatever the distribution of accuracies.

The L orders are drawn uniformly, without looking at the classes; nothing else is assumed. Ranks
alone decide: the L + 1 gaps that L draws leave between them (below all, between neighbours, above
all) are exchangeable, so that on average each holds the same share of the orders. Where several
orders have the same accuracy, the statements hold with room to spare.

With `size` the draws are without replacement from the |Ω| orders of a finite space; without it,
from an endless one.
"""

from __future__ import annotations

import math
from fractions import Fraction

from edgecil.theory.arguments import least_integer, open_probability, whole_number
from edgecil.theory.tails import miss_probability, probability_of_miss

_ENDLESS = 10**12


def expected_share_inside(runs: int, size: int | None = None) -> float:
    """Return the expected share of all orders between the worst and the best of L random ones.

    (L−1)/(L+1); in a finite space the L orders themselves count, too, and the share is
    ((L−1)|Ω| + 2L)/((L+1)|Ω|).

    >>> expected_share_inside(3)
    0.5
    >>> expected_share_inside(90, size=90)
    1.0
    """
    drawn = whole_number("runs", runs, least=1, most=size)
    share = Fraction(drawn - 1, drawn + 1)
    if size is not None:
        share += Fraction(2 * drawn, (drawn + 1) * size)
    return float(share)


def worse_probability(runs: int) -> float:
    """Return the probability that a further random order is worse than all L before it: 1/(L+1).

    The same holds for better, and in a finite space for an order that is none of the L.

    >>> worse_probability(3)
    0.25
    """
    return 1 / (whole_number("runs", runs, least=1) + 1)


def tolerance_runs(
    share: float, confidence: float, *, sides: int = 1, size: int | None = None
) -> int:
    """Return the least number of random orders that bound that share of all orders with confidence.

    1 − p^L for one side. In a finite space at most m = ⌊(1−p)|Ω|⌋ orders may lie outside: one side
    fails if none of the m + 1 worst orders is drawn; two sides fail, since the gaps are
    exchangeable, as often as fewer than two of the m + 2 worst orders are drawn.

    >>> tolerance_runs(0.95, 0.95), tolerance_runs(0.95, 0.95, sides=2)
    (59, 93)
    >>> tolerance_runs(0.95, 0.95, size=90)
    40
    """
    exact_share = open_probability("share", share)
    wanted = open_probability("confidence", confidence)
    whole_number("sides", sides, least=1, most=2)
    least = least_integer(lambda runs: _confidence(exact_share, runs, sides, size) >= wanted, size)
    assert least is not None  # all of a finite space bound all of it
    return least


def tolerance_share(runs: int, confidence: float, *, size: int | None = None) -> float:
    """Return the largest share of all orders that are no worse than L random ones, with confidence.

    Rounded down, so that it is granted; in a finite space it is an integer of orders.

    >>> round(tolerance_share(3, 0.95), 4)
    0.3684
    """
    drawn = whole_number("runs", runs, least=1, most=size)
    wanted = open_probability("confidence", confidence)
    if size is not None and not _is_endless(size, drawn):
        # With all orders but one outside, the confidence is 1.
        outside = least_integer(
            lambda left: _confidence(1 - Fraction(left - 1, size), drawn, 1, size) >= wanted, size
        )
        assert outside is not None
        share = 1 - Fraction(outside - 1, size)
        return float(share) if Fraction(float(share)) <= share else math.nextafter(share, 0.0)
    low, high = 0.0, 1.0
    while (middle := (low + high) / 2) not in (low, high):
        granted = _confidence(Fraction(middle), drawn, 1, None) >= wanted
        low, high = (middle, high) if granted else (low, middle)
    return low


def _is_endless(population: int, runs: int) -> bool:
    """Return whether drawing with or without replacement differs by less than rounding."""
    return population > _ENDLESS * runs**2


def _confidence(share: Fraction, runs: int, sides: int, population: int | None) -> float:
    if population is None or _is_endless(population, runs):
        missed = miss_probability(1 - share, runs)
        if sides == 2:
            power = 1.0 if runs == 1 else miss_probability(1 - share, runs - 1)
            missed = min(1.0, missed + runs * float(1 - share) * power)
        return 1.0 - missed
    outside = math.floor((1 - share) * population)
    if outside + sides > population:
        return 1.0
    missed = probability_of_miss(outside + sides, runs, population)
    if sides == 2:
        once = (outside + 2) * math.comb(population - outside - 2, runs - 1)
        missed = min(1.0, missed + once / math.comb(population, runs))
    return 1.0 - missed
