"""What class orders do to learners: shares, correlations, structured orders among random ones."""

from __future__ import annotations

import numpy as np
import pytest

from edgecil import lab
from edgecil.lab.order_effects import (
    _latin_ratio,
    _wasserstein,
    format_order_effects,
    order_effects,
    order_shares,
)
from edgecil.lab.truth_tables import TruthCounts, TruthKind, TruthTable
from edgecil.sequences import ClassSequence, SequenceSpace
from edgecil.similarity import text_similarity

NAMES = lab.truths()[0].classes
SPACE = SequenceSpace.equal(6, 3)


def made(kind: TruthKind, sequences: tuple[ClassSequence, ...], accuracy: np.ndarray) -> TruthTable:
    """A table in which every class has the given accuracy (R, n, N), in thousands of images."""
    correct = np.zeros((len(accuracy), 1, 3, 6, len(sequences)), dtype=np.int64)
    correct[:, 0, -1] = np.round(10 * accuracy).swapaxes(1, 2)
    counts = TruthCounts((0, 1), ("head",), correct, np.full(6, 1000))
    labels = tuple(f"own {place}" for place in range(len(sequences)))
    return TruthTable("made", "quickdraw", NAMES, kind, sequences, {"m": counts}, {}, labels)


def test_the_share_of_the_order_is_that_of_the_variances() -> None:
    rng = np.random.default_rng(0)
    sequences = tuple(SPACE.enumerate())
    order, noise = rng.normal(0, 3, (1, 90, 1)), rng.normal(0, 4, (2, 90, 1))
    table = made("enumerated", sequences, 50 + order + np.repeat(noise, 6, axis=2))
    (share,) = order_shares([table])
    values = (order + noise)[..., 0]
    within = values.var(axis=0, ddof=1).mean()
    between = values.mean(axis=0).var(ddof=1) - within / 2
    assert share["scale"] == "quickdraw 6/3"
    assert share["order std"] == pytest.approx(between**0.5, abs=0.02)
    assert share["training std"] == pytest.approx(within**0.5, abs=0.02)
    assert share["share"] == pytest.approx(between / (between + within), abs=0.01)
    low, high = share["interval"]
    assert low < 0.36 < high


def test_an_objective_that_decides_has_correlation_one_and_the_placebo_has_not() -> None:
    from edgecil.classes.lists import ClassList

    assert NAMES is not None
    values = text_similarity(ClassList("quickdraw", NAMES)).submatrix(np.arange(6))
    sequences = tuple(SPACE.enumerate())
    inside = np.array([sum(values[a, b] for a, b in own.tasks) for own in sequences])
    accuracy = np.tile((50 + 20 * (inside - inside.mean()))[None, :, None], (2, 1, 6))
    table = made("enumerated", sequences, accuracy)
    relations = order_effects([table], placebos=30).relations
    intra = next(one for one in relations if one["objective"] == "intra")
    assert intra["r"] == pytest.approx(1.0, abs=1e-3)
    assert max(map(abs, intra["placebo"])) < 0.9


def test_structured_orders_are_placed_among_random_ones() -> None:
    rng = np.random.default_rng(1)
    sequences = tuple(SPACE.enumerate())[:40]
    random = made("sample", sequences, 50 + np.tile(rng.normal(0, 2, (2, 40, 1)), (1, 1, 6)))
    far = made("structured", tuple(SPACE.enumerate())[50:52], np.full((2, 2, 6), 60.0))
    measured = order_effects([TruthTable(**{**vars(random), "structured": far})], placebos=2)
    first, own, _ = measured.structured
    mean, std, *_ = first["m"]
    assert own["order"] == "own 0"
    assert own["m"] == pytest.approx((60 - mean, (60 - mean) / std, 1.0))
    assert any(line.startswith("| own 1 |") for line in format_order_effects(measured))


def test_a_latin_design_removes_what_positions_of_classes_explain() -> None:
    rng = np.random.default_rng(2)
    sequences = tuple(SPACE.enumerate())
    place = np.stack([own.task_of() for own in sequences])
    effect = rng.normal(0, 10, (6, 3))
    additive = effect[np.arange(6), place]
    exact = made("enumerated", sequences, 50 + np.tile(additive, (2, 1, 1)))
    assert _latin_ratio(exact, "m") == pytest.approx(0.0, abs=0.05)
    luck = 50 + np.repeat(rng.normal(0, 10, (2, 90, 1)), 6, axis=2)
    assert _latin_ratio(made("enumerated", sequences, luck), "m") == pytest.approx(1.0, abs=0.15)


def test_the_distance_of_a_gaussian_from_its_own_quantiles_is_small() -> None:
    truth = np.sort(np.random.default_rng(3).normal(60, 2, 4000))
    near, shifted = _wasserstein(truth, np.array([[58.0, 62.0], [60.0, 64.0]]), ddof=0)
    assert near < 0.05
    assert shifted == pytest.approx(1.0, abs=0.05)
