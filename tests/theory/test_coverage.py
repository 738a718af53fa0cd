"""Statements that assume no distribution, against counting every sample of small populations."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from edgecil.errors import UsageError
from edgecil.theory import expected_share_inside, tolerance_runs, tolerance_share, worse_probability
from edgecil.theory.coverage import _confidence


def tolerance_confidence(
    share: float | Fraction, runs: int, *, sides: int = 1, size: int | None = None
) -> float:
    return _confidence(Fraction(share), runs, sides, size)


SHARES = (0.3, 0.5, 0.75, 0.9, Fraction(9, 10), Fraction(1, 2))


def outside(sample: tuple[int, ...], population: int, sides: int) -> int:
    """Orders that are worse than the worst of a sample (and better than its best)."""
    above = population - 1 - max(sample) if sides == 2 else 0
    return min(sample) + above


@pytest.mark.parametrize("population", [4, 7, 10])
def test_in_a_finite_space_they_are_what_counting_gives(population) -> None:
    for runs in range(1, population + 1):
        samples = list(combinations(range(population), runs))
        inside = [1 - Fraction(outside(s, population, 2), population) for s in samples]
        assert expected_share_inside(runs, population) == pytest.approx(
            float(sum(inside) / len(samples))
        )
        for sides in (1, 2):
            lost = [outside(sample, population, sides) for sample in samples]
            for share in SHARES:
                granted = sum(1 - Fraction(m, population) >= Fraction(share) for m in lost)
                assert tolerance_confidence(
                    share, runs, sides=sides, size=population
                ) == pytest.approx(granted / len(samples)), (runs, sides, share)


def test_in_an_endless_space_they_are_what_uniform_numbers_give() -> None:
    draws = np.sort(np.random.default_rng(0).random((200_000, 5)), axis=1)
    inside = draws[:, -1] - draws[:, 0]
    assert inside.mean() == pytest.approx(expected_share_inside(5), abs=2e-3)
    assert draws[:, 0].mean() == pytest.approx(worse_probability(5), abs=2e-3)
    for share in (0.3, 0.6, 0.8):
        assert np.mean(1 - draws[:, 0] >= share) == pytest.approx(
            tolerance_confidence(share, 5), abs=5e-3
        )
        assert np.mean(inside >= share) == pytest.approx(
            tolerance_confidence(share, 5, sides=2), abs=5e-3
        )


def test_the_numbers_that_people_quote() -> None:
    assert expected_share_inside(3) == 0.5
    assert worse_probability(3) == 0.25
    assert tolerance_runs(0.95, 0.95) == 59
    assert tolerance_runs(0.95, 0.95, sides=2) == 93
    assert tolerance_runs(0.9, 0.9) == 22
    assert tolerance_runs(0.99, 0.95) == 299


@pytest.mark.parametrize("size", [None, 20, 90, 2520, 10**18, 10**92])
@pytest.mark.parametrize("sides", [1, 2])
def test_runs_and_shares_are_the_best_that_their_confidence_allows(size, sides) -> None:
    for share, confidence in ((0.5, 0.9), (0.95, 0.95)):
        least = tolerance_runs(share, confidence, sides=sides, size=size)
        assert tolerance_confidence(share, least, sides=sides, size=size) >= confidence
        if least > 1:
            assert tolerance_confidence(share, least - 1, sides=sides, size=size) < confidence
        if sides == 1:
            granted = tolerance_share(least, confidence, size=size)
            assert granted >= share - 1e-12
            assert tolerance_confidence(granted, least, size=size) >= confidence - 1e-12


def test_a_large_space_is_as_good_as_endless() -> None:
    for sides in (1, 2):
        assert tolerance_confidence(0.9, 30, sides=sides, size=10**9) == pytest.approx(
            tolerance_confidence(0.9, 30, sides=sides), rel=1e-6
        )
    assert expected_share_inside(3, 10**40) == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: expected_share_inside(0), "'runs'"),
        (lambda: expected_share_inside(91, 90), r"'runs' .*\[1, 90\]"),
        (lambda: tolerance_runs(1.0, 0.95), "'share'"),
        (lambda: tolerance_runs(0.95, 1.0), "'confidence'"),
        (lambda: tolerance_runs(0.9, 0.9, sides=3), "'sides'"),
    ],
)
def test_arguments_out_of_range_are_refused(call, words) -> None:
    with pytest.raises(UsageError, match=words):
        call()
