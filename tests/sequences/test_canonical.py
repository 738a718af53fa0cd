"""The canonical order sees similarities, never labels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from edgecil.sequences.canonical import canonical_order
from edgecil.similarity import SimilarityMatrix
from tests.sequences.oracles import Floats, matrices, permuted


def from_pairs(count: int, pairs: dict[tuple[int, int], float]) -> Floats:
    values = np.zeros((count, count))
    for (left, right), value in pairs.items():
        values[left, right] = values[right, left] = value
    return values


def cycles(*lengths: int) -> Floats:
    """Rings of neighbours: every class has two, so counting neighbours tells nothing apart."""
    pairs, start = {}, 0
    for length in lengths:
        pairs |= {(start + i, start + (i + 1) % length): 1.0 for i in range(length)}
        start += length
    return from_pairs(start, pairs)


def five_rounds_of_six() -> Floats:
    """A tournament schedule: every row holds 1 … 5 once, and no symmetry relates the rows."""
    pairs = {}
    for day in range(5):
        pairs[5, day] = day + 1.0
        for step in (1, 2):
            pairs[(day + step) % 5, (day - step) % 5] = day + 1.0
    return from_pairs(6, pairs)


def blocks(groups: int, size: int) -> Floats:
    group = np.repeat(np.arange(groups), size)
    return (group[:, None] == group[None, :]).astype(float)


def seen_in_canonical_order(values: Floats) -> Floats:
    similarity = SimilarityMatrix.of(values)
    return similarity.submatrix(canonical_order(similarity))


@settings(max_examples=200)
@given(st.integers(2, 7).flatmap(matrices), st.data())
def test_the_matrix_in_canonical_order_is_the_same_however_classes_are_numbered(
    values, data
) -> None:
    order = np.array(data.draw(st.permutations(range(len(values)))))
    first = seen_in_canonical_order(values)
    second = seen_in_canonical_order(permuted(values, order))
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize(
    "values",
    [
        cycles(6),
        cycles(3, 4),
        cycles(3, 3, 4),
        from_pairs(4, {(0, 2): 1.0, (1, 3): 1.0}),
        from_pairs(8, {(i, i + 4): 1.0 for i in range(4)} | {(0, 1): 2.0, (2, 3): 2.0}),
        five_rounds_of_six(),
        blocks(4, 3),
        blocks(10, 5),
        blocks(100, 1),
        np.ones((100, 100)),
        -np.minimum(d := np.abs(np.subtract.outer(range(12), range(12))), 12 - d).astype(float),
    ],
    ids=[
        "ring", "unequal-rings", "three-rings", "pairs", "paired-pairs", "tournament", "blocks",
        "superclasses", "zero", "equal", "circle",
    ],
)  # fmt: skip
def test_symmetric_matrices_look_the_same_however_classes_are_numbered(values) -> None:
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(len(values))
        np.testing.assert_array_equal(
            seen_in_canonical_order(values), seen_in_canonical_order(permuted(values, order))
        )


def test_names_decide_between_interchangeable_classes() -> None:
    for form in (SimilarityMatrix.of, SimilarityMatrix.of_vectors):
        similarity = form(np.ones((3, 3)), ["c", "a", "b"])
        assert canonical_order(similarity).tolist() == [1, 2, 0]


def test_ties_in_a_large_matrix_do_not_take_for_ever() -> None:
    """Where looking at every class that looks alike is given up, names settle the rest."""
    similarity = SimilarityMatrix.of(blocks(100, 4))
    assert sorted(canonical_order(similarity)) == list(range(400))
