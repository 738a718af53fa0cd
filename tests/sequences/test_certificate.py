"""No sequence lies outside its bounds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from edgecil.classes import get_classes
from edgecil.sequences import Bounds, SequenceSpace, bounds, certificate, get_objective
from edgecil.sequences.optimal import find_optimum
from edgecil.similarity import SimilarityMatrix, text_similarity
from tests.sequences.oracles import (
    MATRICES,
    SPACES,
    Floats,
    all_values,
    matrices,
    matrix,
    named_objectives,
    symmetric,
)


def check(similarity, values: Floats, sizes: tuple[int, ...], weights: Floats) -> Bounds:
    """Every bound holds, however few steps tighten it, and is no wider than that of none."""
    space, plain = SequenceSpace(sizes), Bounds(-np.inf, np.inf)
    for steps in (0, 40):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(certificate, "_STEPS", steps)
            limits = bounds(similarity, space, get_objective(weights, space))
        assert plain.lower <= limits.lower
        assert limits.upper <= plain.upper
        plain = limits
    every = all_values(values, sizes, weights)
    rounding = 1e-13 * np.abs(weights).max() * np.abs(values).max() * len(values) ** 2
    assert limits.lower <= every.min() + rounding
    assert limits.upper >= every.max() - rounding
    return limits


@pytest.mark.parametrize("sizes", SPACES, ids=str)
@pytest.mark.parametrize("kind", MATRICES)
def test_bounds_hold_on_every_small_space_for_every_objective(sizes, kind) -> None:
    values = matrix(kind, sum(sizes))
    named = [objective.weights for objective in named_objectives(sizes).values()]
    for weights in (*named, *(symmetric(len(sizes), seed) for seed in range(3))):
        check(SimilarityMatrix.of(values), values, sizes, weights)


@settings(max_examples=150)
@given(st.data())
def test_bounds_hold_for_any_matrix_sizes_and_weights(data) -> None:
    sizes = data.draw(st.sampled_from([sizes for sizes in SPACES if sum(sizes) <= 8]))
    values = data.draw(matrices(sum(sizes)))
    weights = data.draw(matrices(len(sizes))) + np.diag(
        data.draw(st.lists(st.integers(-2, 2), min_size=len(sizes), max_size=len(sizes)))
    )
    check(SimilarityMatrix.of(values), values, sizes, weights)


def test_bounds_are_reached_where_two_sequences_are_all_there_is() -> None:
    """Weights that tell the two classes' places apart leave the value what it was."""
    values = matrix("signed", 2)
    limits = check(SimilarityMatrix.of(values), values, (1, 1), np.array([[0, 1], [1, 0.0]]))
    assert limits.lower == pytest.approx(limits.upper) == pytest.approx(2 * values[0, 1])


@pytest.mark.parametrize("scale", [1e-12, 1e12])
def test_bounds_scale_with_the_similarity(scale) -> None:
    sizes, values = (2, 2, 2), matrix("signed", 6)
    for objective in named_objectives(sizes).values():
        plain = check(SimilarityMatrix.of(values), values, sizes, objective.weights)
        large = check(SimilarityMatrix.of(values * scale), values * scale, sizes, objective.weights)
        assert large.lower == pytest.approx(plain.lower * scale)
        assert large.upper == pytest.approx(plain.upper * scale)


@pytest.mark.parametrize("classes", [6, 12, 30])
def test_where_all_classes_are_alike_the_bounds_meet_and_leave_no_gap(classes) -> None:
    space = SequenceSpace.equal(classes, 3)
    for value in (0.7, -0.3, 1.0, 0.0):
        alike = SimilarityMatrix.of(np.full((classes, classes), value))
        first = next(space.enumerate())
        sums_to_nothing = np.array([[0, 1, -2], [1, 0, 1], [-2, 1, 0.0]])
        for objective in (*named_objectives(space.sizes).values(), sums_to_nothing):
            chosen = get_objective(objective, space)
            limits = bounds(alike, space, chosen)
            reached = chosen.value(alike, first)
            assert limits.lower == pytest.approx(reached, abs=1e-7)
            assert limits.upper == pytest.approx(reached, abs=1e-7)
            assert 0 <= limits.gap(reached, "min") <= 1
            assert 0 <= limits.gap(reached, "max") <= 1


def test_a_gap_is_the_share_of_the_range_that_is_left() -> None:
    limits = Bounds(lower=-1.0, upper=3.0)
    assert (limits.of("min"), limits.of("max")) == (-1, 3)
    assert limits.gap(0.0, "min") == 0.25
    assert limits.gap(0.0, "max") == 0.75
    assert limits.gap(-1.0, "min") == limits.gap(3.0, "max") == 0
    assert Bounds(2.0, 2.0).gap(2.0, "min") == 0


@pytest.mark.parametrize("objective", ["adjacent", "generalization"])
def test_at_100_classes_in_10_tasks_the_gap_is_at_most_a_tenth(objective, monkeypatch) -> None:
    similarity, space = text_similarity(get_classes("cifar100")), SequenceSpace.equal(100, 10)
    chosen = get_objective(objective, space)
    tight = bounds(similarity, space, chosen)
    monkeypatch.setattr(certificate, "_STEPS", 0)
    plain = bounds(similarity, space, chosen)
    for goal in ("hard", "easy"):
        end = chosen.direction(goal)
        value = find_optimum(similarity, space, goal, objective=chosen).value
        assert 0 < tight.gap(value, end) <= 0.1
        assert tight.gap(value, end) < plain.gap(value, end)
