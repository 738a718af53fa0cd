"""How easily random sequences miss the extreme ones."""

from __future__ import annotations

import math
from fractions import Fraction

from edgecil.theory.arguments import (
    closed_probability,
    least_integer,
    number_at_least_zero,
    open_probability,
    whole_number,
)

_UNDERFLOW = 750  # exp(-750) is 0 as a float
_EXACT_POWER = 1_000
_EXACT_DRAWS = 10_000
_SPARSE = 1_000


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
