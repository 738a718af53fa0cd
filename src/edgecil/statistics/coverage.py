"""What a few random orders say about all orders, and how easily they miss extreme ones.

The L orders are drawn uniformly, without looking at the classes; nothing else is assumed (but by
`gaussian_tail`). Ranks alone decide: the L + 1 gaps that L draws leave between them (below all,
between neighbours, above all) are exchangeable, so that on average each holds the same share of the
orders. Where several orders have the same accuracy, the statements hold with room to spare.

With `size` the draws are without replacement from the |Ω| orders of a finite space; without it,
from an endless one.
"""

from __future__ import annotations

import math
from fractions import Fraction

from edgecil.statistics.arguments import (
    closed_probability,
    number_at_least_zero,
    open_probability,
    whole_number,
)
from edgecil.statistics.inversion import least_integer

_ENDLESS = 10**12
_UNDERFLOW = 750  # exp(-750) is 0 as a float
_EXACT_POWER = 1_000
_EXACT_DRAWS = 10_000
_SPARSE = 1_000


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
        missed = _miss_endless(1 - share, runs)
        if sides == 2:
            once = runs * float(1 - share) * _miss_endless(1 - share, runs - 1)
            missed = min(1.0, missed + once)
        return 1.0 - missed
    outside = math.floor((1 - share) * population)
    if outside + sides > population:
        return 1.0
    missed = probability_of_miss(outside + sides, runs, population)
    if sides == 2:
        alone = (outside + 2) * math.comb(population - outside - 2, runs - 1)
        missed = min(1.0, missed + alone / math.comb(population, runs))
    return 1.0 - missed


def gaussian_tail(deviations: float) -> float:
    """Return the two-sided share of a normal distribution beyond `deviations` deviations.

    P(|X − μ| > tσ) = erfc(t/√2). Assumes normality, which the paper observes for accuracies over
    Ω without proving it.

    >>> round(gaussian_tail(1.96), 4)
    0.05
    """
    return math.erfc(float(number_at_least_zero("deviations", deviations)) / math.sqrt(2))


def miss_probability(share: float | Fraction, runs: int, size: int | None = None) -> float:
    """Return the probability that `runs` random sequences all miss a set of that share of Ω.

    With `size` the runs are drawn without replacement: C(|Ω|−m, L)/C(|Ω|, L), where the set holds
    m = share·|Ω| sequences, rounded to an integer. Correctly rounded in small spaces; in
    large ones the logarithm of the product is summed by its Taylor series about the middle draw,
    with a relative error of the probability below 1e-11 wherever that exceeds 1e-9. Without
    `size`, with replacement or from an endless Ω: (1 − share)^L, correctly rounded up to L = 1000.

    Args:
        share: |E|/|Ω|, in [0, 1]; for instance a `gaussian_tail`.
        runs: L.
        size: |Ω|, exact.

    >>> miss_probability(1 / 90, runs=3, size=90) == 87 / 90
    True
    >>> miss_probability(0.5, runs=3)
    0.125
    """
    exact_share = closed_probability("share", share)
    if size is None:
        return _miss_endless(exact_share, whole_number("runs", runs, least=1))
    population = whole_number("size", size, least=1)
    drawn = whole_number("runs", runs, least=1, most=population)
    return probability_of_miss(round(exact_share * population), drawn, population)


def miss_probability_paper(share: float, runs: int) -> float:
    """Return the paper's approximation of `miss_probability`: exp(−share·L).

    Never below (1 − share)^L, which is never below the probability without replacement, so that
    it overstates the risk; close for small shares and L ≪ |Ω|.

    >>> round(miss_probability_paper(0.5, runs=3), 4)
    0.2231
    """
    expected_hits = closed_probability("share", share) * whole_number("runs", runs, least=1)
    return 0.0 if expected_hits > _UNDERFLOW else math.exp(-float(expected_hits))


def runs_to_hit(share: float, confidence: float, size: int | None = None) -> int | None:
    """Return the least number of random runs that hit a set of that share with that probability.

    The least L with `miss_probability(share, L, size)` ≤ 1 − confidence; from about 10¹⁵ runs on,
    only its leading digits mean anything, as with any float.

    Returns:
        L, or None when the set is empty (share 0, or less than half a sequence of `size`).

    >>> runs_to_hit(0.01, confidence=0.95)
    299
    >>> runs_to_hit(0.1, confidence=0.95, size=90)
    25
    """
    exact_share = closed_probability("share", share)
    accepted = 1 - open_probability("confidence", confidence)
    if size is None:
        if exact_share == 0:
            return None
        return least_integer(lambda runs: _miss_endless(exact_share, runs) <= accepted)
    population = whole_number("size", size, least=1)
    marked = round(exact_share * population)
    if marked == 0:
        return None
    return least_integer(
        lambda runs: probability_of_miss(marked, runs, population) <= accepted, population
    )


def _miss_endless(share: Fraction, runs: int) -> float:
    if runs <= _EXACT_POWER:
        return float((1 - share) ** runs)
    expected_hits = share * runs
    if share == 1 or expected_hits > _UNDERFLOW:
        return 0.0
    return math.exp(-float(expected_hits) * _log_ratio(float(share), float(1 - share)))


def probability_of_miss(marked: int, runs: int, population: int) -> float:
    """Return the probability that L draws without replacement from T miss all of m marked ones.

    C(T−m, L)/C(T, L) = ∏ᵢ (1 − m/(T−i)), i = 0..L−1; symmetric in m and L.
    """
    if marked == 0:
        return 1.0
    if marked + runs > population:
        return 0.0
    fewer, more = sorted((marked, runs))
    if fewer <= _EXACT_DRAWS and _SPARSE * fewer > population - more:
        return math.perm(population - more, fewer) / math.perm(population, fewer)
    if fewer * more > _UNDERFLOW * population:
        return 0.0
    twice_middle = 2 * population - fewer + 1
    twice_rest = twice_middle - 2 * more
    share, rest = 2 * more / twice_middle, twice_rest / twice_middle
    if rest == 0:
        return 0.0
    first_order = 2 * fewer * more / twice_middle
    spread = (2 * fewer / twice_rest) ** 2 - (2 / twice_rest) ** 2
    return math.exp(-first_order * (_log_ratio(share, rest) + spread * (1 + rest) / 24))


def _log_ratio(share: float, rest: float) -> float:
    """−ln(1 − share)/share with rest = 1 − share given beside it, so that neither end loses."""
    if share == 0:
        return 1.0
    return -(math.log1p(-share) if share < 0.5 else math.log(rest)) / share
