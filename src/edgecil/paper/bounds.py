"""Three bounds on the number of random sequences that estimate the mean accuracy well enough.

Each bound says: with L runs drawn uniformly without replacement from a population of T sequences,
the mean over the runs is within ε of the mean over all of Ω with probability at least 1 − δ, if

    effective(T, L)  ≥  ln(2u/δ) · R² / (2ε²),

where R is the range of the accuracies, and u the number of events in a union bound (T in the
paper's theorems, 1 where no union is needed). The bounds differ in `effective`, in T and in u.

Accuracies and ε are in [0, 1] units. |Ω| is an exact integer of any length: comparisons are
between integers, and the logarithm, the one irrational number, is taken to 60 digits. The
logarithm of a rational other than 1 is irrational, so that there are no ties.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from fractions import Fraction

from edgecil.statistics.arguments import (
    open_probability,
    positive_number,
    whole_number,
)
from edgecil.statistics.inversion import least_integer

_DIGITS = 60
_BINARY_DIGITS = 256


@dataclass(frozen=True)
class SampleBound:
    """A sufficient condition on the number of random runs, and the questions it answers.

    Attributes:
        name: the key in `BOUNDS`.
        title: its usual name.
        extreme_runs: extreme sequences run beside the random ones; T = |Ω| − extreme_runs,
            and the whole evaluation costs as many runs more.
        states_range: whether the statement has R in it; a bound without R is applied to
            accuracies divided by R, which is equivalent.
        union: whether the failure probability is spread over the T sequences, and the left-hand
            side is the paper's L(T−L)/(T−1), which grows up to L = T/2 only.
    """

    name: str
    title: str
    extreme_runs: int
    states_range: bool
    union: bool

    def runs(
        self, size: int, epsilon: float, delta: float, accuracy_range: float = 1.0
    ) -> int | None:
        """Return the least number L of random runs for which the bound holds.

        Args:
            size: |Ω|, exact.
            epsilon: largest error of the estimated mean.
            delta: the probability of a larger error.
            accuracy_range: R, largest minus smallest accuracy over all of Ω.

        Returns:
            L, without `extreme_runs`; None if no L below the number of all sequences is enough
            (small Ω), so that only enumeration is certain.

        >>> from edgecil.sequences.space import count_sequences
        >>> THEOREM_1.runs(count_sequences([10] * 10), epsilon=0.1, delta=0.05)
        10820
        """
        population = self._population(size)
        tolerance = positive_number("epsilon", epsilon)
        needed = self._weight(population, delta, accuracy_range) / tolerance**2

        def enough(runs: int) -> bool:
            numerator, denominator = self._effective(population, runs)
            return numerator * needed.denominator >= needed.numerator * denominator

        return least_integer(enough, population // 2 if self.union else population - 1)

    def epsilon(self, size: int, runs: int, delta: float, accuracy_range: float = 1.0) -> float:
        """Return the least ε that the bound grants after `runs` random runs, rounded up.

        A value of R or more is no information: two means never differ by more than R. With all
        sequences ε is 0.

        >>> from edgecil.sequences.space import count_sequences
        >>> round(HOEFFDING_SERFLING.epsilon(count_sequences([10] * 10), runs=3, delta=0.05), 3)
        0.784
        """
        population = self._population(size)
        drawn = whole_number("runs", runs, least=1, most=population)
        weight = self._weight(population, delta, accuracy_range)
        if drawn == population:
            return 0.0
        numerator, denominator = self._effective(population, drawn)
        return _root_rounded_up(weight.numerator * denominator, weight.denominator * numerator)

    def _effective(self, population: int, runs: int) -> tuple[int, int]:
        """Return numerator and denominator of the left-hand side, for L < T."""
        if self.union:
            return runs * (population - runs), population - 1
        if 2 * runs <= population:
            return runs * population, population - runs + 1
        return runs * runs * population, (population - runs) * (runs + 1)

    def _population(self, size: int) -> int:
        least = self.extreme_runs + 2
        return whole_number("size", size, least=least) - self.extreme_runs

    def _weight(self, population: int, delta: float, accuracy_range: float) -> Fraction:
        """Return ln(2u/δ) · R² / 2."""
        spread = positive_number("accuracy_range", accuracy_range)
        events = _ln(Fraction(2 * population if self.union else 2))
        return (events - _ln(open_probability("delta", delta))) * spread**2 / 2


THEOREM_1 = SampleBound("theorem1", "Theorem 1", extreme_runs=0, states_range=False, union=True)
"""The paper's Theorem 1: L random runs, L(|Ω|−L)/(|Ω|−1) ≥ ln(2|Ω|/δ)/(2ε²).

True, but not by its proof, and wasteful. The finite-population factor (|Ω|−L)/(|Ω|−1) belongs in
the denominator of the exponent (the proof turns it over), so that running *more* than half of Ω
weakens the bound; and the union over |Ω| events is not needed for one mean. What is stated follows
from Hoeffding's inequality, which holds without replacement (Hoeffding 1963, Theorem 4).
"""

THEOREM_2 = SampleBound("theorem2", "Theorem 2", extreme_runs=2, states_range=True, union=True)
"""The paper's Theorem 2: L random runs beside a hardest and an easiest sequence, R apart.

It states L(|Ω|−2−L)/(|Ω|−3) ≥ ln(2(|Ω|−2)/δ)·R²/(2ε²). Its proof needs more than its premise: that
*every* accuracy lies between those of the two extreme sequences (the premise puts them one standard
deviation from the mean), and that the mean over the L + 2 runs is unbiased (it is off by up to
R/(L+2) when the extremes are not symmetric about the mean). Given R in that sense,
`HOEFFDING_SERFLING` grants the same with fewer runs and without the extremes in the mean. At ε ≥ R
any single run will do.
"""

HOEFFDING_SERFLING = SampleBound(
    "hoeffding-serfling", "Hoeffding–Serfling", extreme_runs=0, states_range=True, union=False
)
"""The Hoeffding–Serfling inequality, with no union over Ω: L/ρ ≥ ln(2/δ)·R²/(2ε²).

Bardenet and Maillard (2015), Bernoulli 21(3), 1361–1385, Corollary 2.5.
ρ = 1 − (L−1)/|Ω| for L ≤ |Ω|/2 (Serfling 1974, Annals of Statistics 2(1), 39–48) and
(1 − L/|Ω|)(1 + 1/L) beyond (Bardenet and Maillard's improvement); the smaller of the two either
way. Two-sided: the one-sided statement for the accuracies and for their negatives, δ/2 each.
Assumes accuracies in an interval of length R, and nothing else.
"""

BOUNDS = {bound.name: bound for bound in (THEOREM_1, THEOREM_2, HOEFFDING_SERFLING)}
"""Every bound by name, the paper's first."""


def _ln(value: Fraction) -> Fraction:
    return _ln_whole(value.numerator) - _ln_whole(value.denominator)


def _ln_whole(value: int) -> Fraction:
    shift = max(0, value.bit_length() - _BINARY_DIGITS)
    with localcontext(Context(prec=_DIGITS)):
        return Fraction(Decimal(value >> shift).ln() + shift * Decimal(2).ln())


def _root_rounded_up(numerator: int, denominator: int) -> float:
    shift = 64 + max(0, denominator.bit_length() - numerator.bit_length())
    root = math.isqrt((numerator << (2 * shift)) // denominator) / (1 << shift)
    while Fraction(root).numerator ** 2 * denominator < numerator * Fraction(root).denominator ** 2:
        root = math.nextafter(root, math.inf)
    return root
