"""Every bound answers its two questions consistently; the known values; the truth behind them."""

from __future__ import annotations

import itertools
import math
import time
from fractions import Fraction

import pytest
from hypothesis import assume, given, settings, strategies as st

from edgecil.errors import UsageError
from edgecil.paper import BOUNDS, HOEFFDING_SERFLING, THEOREM_1, THEOREM_2, SampleBound
from edgecil.sequences.space import count_sequences

CIFAR = count_sequences([10] * 10)
every_bound = pytest.mark.parametrize("bound", BOUNDS.values(), ids=BOUNDS)
small_sizes = st.integers(4, 3000)
any_size = st.one_of(small_sizes, st.integers(4, 10**100), st.just(CIFAR**4))
epsilons = st.floats(0.005, 2)
deltas = st.floats(1e-9, 0.999)
ranges = st.floats(0.01, 1)


def holds(
    bound: SampleBound, size: int, runs: int, epsilon: float, delta: float, spread: float
) -> bool:
    """Each condition written out once more, straight from its source."""
    slack = spread**2 / (2 * epsilon**2)
    if bound is THEOREM_1:
        left = Fraction(runs * (size - runs), size - 1)
        right = (math.log(2 * size) - math.log(delta)) * slack
    elif bound is THEOREM_2:
        left = Fraction(runs * (size - 2 - runs), size - 3)
        right = (math.log(2 * (size - 2)) - math.log(delta)) * slack
    else:
        serfling = 1 - Fraction(runs - 1, size)
        improved = (1 - Fraction(runs, size)) * (1 + Fraction(1, runs))
        left = runs / min(serfling, improved)
        right = math.log(2 / delta) * slack
    return left >= right


# known values


def test_known_values_for_cifar_100_in_ten_tasks() -> None:
    assert THEOREM_1.runs(CIFAR, epsilon=0.1, delta=0.05) == 10_820
    assert THEOREM_2.runs(CIFAR, epsilon=0.1, delta=0.05, accuracy_range=0.1) == 109
    assert HOEFFDING_SERFLING.runs(CIFAR, epsilon=0.1, delta=0.05) == 185
    assert HOEFFDING_SERFLING.runs(CIFAR, epsilon=0.1, delta=0.05, accuracy_range=0.1) == 2


def test_ninety_sequences_are_too_few_for_the_paper() -> None:
    assert THEOREM_1.runs(90, epsilon=0.1, delta=0.05) is None
    assert THEOREM_2.runs(90, epsilon=0.1, delta=0.05) is None
    assert HOEFFDING_SERFLING.runs(90, epsilon=0.1, delta=0.05) == 61


def test_tiny_tolerances_are_exact_beyond_float_precision() -> None:
    """L for ε/10ᵏ is 10²ᵏ times the need for ε, to every digit: floats would give up at 10¹⁶."""
    need = Fraction(THEOREM_1.runs(CIFAR**9, Fraction(1, 10**22), 0.05) or 0, 10**44)
    assert THEOREM_1.runs(CIFAR**9, Fraction(1, 10**20), 0.05) == math.ceil(need * 10**40)


@pytest.mark.parametrize("sizes", [[1] * 21_841, [104] * 209 + [105]], ids=["21841", "210"])
@every_bound
def test_imagenet_21k_takes_no_time(bound: SampleBound, sizes: list[int]) -> None:
    size = count_sequences(sizes)
    start = time.process_time()
    runs = bound.runs(size, epsilon=0.1, delta=0.05)
    assert runs is not None
    assert bound.epsilon(size, runs, delta=0.05) == pytest.approx(0.1, rel=0.01)
    assert time.process_time() - start < 5
    union = math.log(size) if bound.union else 0
    assert runs == math.ceil((union + math.log(40)) / (2 * 0.1**2))


# the contract of every bound


@every_bound
@settings(deadline=None)
@given(size=small_sizes, epsilon=epsilons, delta=deltas, spread=ranges)
def test_runs_is_the_first_that_a_linear_scan_meets(
    bound: SampleBound, size: int, epsilon: float, delta: float, spread: float
) -> None:
    population = size - bound.extreme_runs
    scan = (
        runs for runs in range(1, population) if holds(bound, size, runs, epsilon, delta, spread)
    )
    assert bound.runs(size, epsilon, delta, spread) == next(scan, None)


@every_bound
@given(size=any_size, epsilon=epsilons, delta=deltas, spread=ranges)
def test_runs_is_enough_and_one_less_is_not(
    bound: SampleBound, size: int, epsilon: float, delta: float, spread: float
) -> None:
    runs = bound.runs(size, epsilon, delta, spread)
    assume(runs is not None)
    assert runs is not None
    assert bound.epsilon(size, runs, delta, spread) <= epsilon
    if runs > 1:
        assert bound.epsilon(size, runs - 1, delta, spread) > epsilon


@every_bound
@given(size=any_size, drawn=st.integers(1, 10**6), delta=deltas, spread=ranges)
def test_epsilon_and_runs_are_inverse(
    bound: SampleBound, size: int, drawn: int, delta: float, spread: float
) -> None:
    assume(2 * drawn <= size - bound.extreme_runs)
    epsilon = bound.epsilon(size, drawn, delta, spread)
    runs = bound.runs(size, epsilon, delta, spread)
    assert runs is not None
    assert runs <= drawn
    assert holds(bound, size, drawn, epsilon * (1 + 1e-12), delta, spread)
    if runs < drawn:  # only where ever more runs add nothing that a float can see
        assert bound.epsilon(size, runs, delta, spread) == epsilon


@every_bound
@given(
    size=any_size,
    delta=deltas,
    spread=ranges,
    pair=st.lists(st.floats(0.005, 2), min_size=2, max_size=2),
)
def test_asking_for_less_never_costs_more(
    bound: SampleBound, size: int, delta: float, spread: float, pair: list[float]
) -> None:
    strict, loose = sorted(pair)
    costly, cheap = (bound.runs(size, epsilon, delta, spread) for epsilon in (strict, loose))
    assert costly is None or (cheap is not None and cheap <= costly)
    narrow = bound.runs(size, strict, delta, spread / 2)
    assert costly is None or (narrow is not None and narrow <= costly)
    patient = bound.runs(size, strict, (1 + delta) / 2, spread)
    assert costly is None or (patient is not None and patient <= costly)


@every_bound
def test_every_sequence_run_leaves_nothing_open(bound: SampleBound) -> None:
    assert bound.epsilon(90, 90 - bound.extreme_runs, delta=0.05) == 0


@every_bound
@pytest.mark.parametrize("ones", [1, 30, 100])
def test_the_promise_is_kept_in_a_space_small_enough_to_check(
    bound: SampleBound, ones: int
) -> None:
    """Accuracies 0 and 1 only: the hardest case of range 1, counted out draw by draw."""
    size, delta = 200, 0.1
    population = size - bound.extreme_runs
    inside = ones - bound.extreme_runs // 2
    extremes = bound.extreme_runs // 2
    mean = Fraction(ones, size)
    assert bound.epsilon(size, population // 2, delta) < 0.3
    for runs in range(1, population + 1):
        epsilon = bound.epsilon(size, runs, delta)
        missed = sum(
            math.comb(inside, hits) * math.comb(population - inside, runs - hits)
            for hits in range(min(inside, runs) + 1)
            if abs(Fraction(extremes + hits, runs + bound.extreme_runs) - mean) > epsilon
        )
        assert missed / math.comb(population, runs) <= delta


def test_no_union_is_never_worse_than_the_paper() -> None:
    for size, epsilon, delta in itertools.product((90, 2520, CIFAR), (0.05, 0.2), (0.01, 0.1)):
        paper = THEOREM_1.runs(size, epsilon, delta)
        tighter = HOEFFDING_SERFLING.runs(size, epsilon, delta)
        assert paper is None or (tighter is not None and tighter < paper)


# arguments


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"epsilon": 0}, "'epsilon'.*0.*0"),
        ({"epsilon": -0.1}, r"'epsilon'.*0.*-0\.1"),
        ({"epsilon": math.nan}, "'epsilon'"),
        ({"epsilon": math.inf}, "'epsilon'.*0"),
        ({"epsilon": "0.1"}, r"'epsilon'.*'0\.1'"),
        ({"delta": 0.0}, r"'delta'.*\(0, 1\).*0\.0"),
        ({"delta": 1}, r"'delta'.*\(0, 1\).*1"),
        ({"accuracy_range": 0}, "'accuracy_range'.*0"),
        ({"size": 1}, r"'size'.* 1 "),
        ({"size": 90.0}, r"'size'.* 90\.0 "),
    ],
)
def test_says_what_is_wrong(arguments: dict[str, float], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        THEOREM_1.runs(**{"size": 90, "epsilon": 0.1, "delta": 0.05, **arguments})


@pytest.mark.parametrize("runs", [0, 91, 2.0, True])
def test_runs_must_fit_into_the_space(runs: int) -> None:
    with pytest.raises(UsageError, match=r"'runs' must be an int in \[1, 90\]\."):
        THEOREM_1.epsilon(90, runs, delta=0.05)


def test_errors_about_astronomical_numbers_can_be_read() -> None:
    size = 10**6000
    with pytest.raises(UsageError, match=r"in \[1, about 10\^6000\.0\]\. Got about 10\^6000\.3"):
        THEOREM_1.epsilon(size, 2 * size, delta=0.05)
    with pytest.raises(UsageError, match=r"Got about -10\^6000\.0 instead"):
        THEOREM_1.epsilon(-size, 3, delta=0.05)
