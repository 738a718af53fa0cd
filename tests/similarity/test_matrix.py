from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray

from edgecil.errors import UsageError
from edgecil.similarity import SimilarityMatrix
from edgecil.similarity.matrix import group_similarity

Floats = NDArray[np.float64]


@st.composite
def matrices(draw: st.DrawFn) -> SimilarityMatrix:
    count, dimension = draw(st.integers(2, 12)), draw(st.integers(1, 8))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    return SimilarityMatrix.of_vectors(rng.normal(size=(count, dimension)))


def random_symmetric(count: int, seed: int = 0) -> Floats:
    values = np.random.default_rng(seed).normal(size=(count, count))
    return values + values.T


def spectrum_by_projection(values: Floats) -> Floats:
    """Eigenvalues on an explicit orthonormal basis of the vectors that sum to zero."""
    count = len(values)
    basis = np.linalg.svd(np.eye(count) - 1 / count)[0][:, : count - 1]
    return np.linalg.eigvalsh(basis.T @ values @ basis)


@given(matrices(), st.integers(1, 5), st.integers(0, 2**32))
def test_similarity_to_groups_is_a_sum_over_the_other_members(matrix, groups, seed) -> None:
    group = np.random.default_rng(seed).integers(groups, size=len(matrix))
    expected = np.zeros((len(matrix), groups))
    for row in range(len(matrix)):
        for other in range(len(matrix)):
            if other != row:
                expected[row, group[other]] += matrix.values[row, other]
    np.testing.assert_allclose(matrix.to_groups(group, groups), expected, atol=1e-9)
    between = group_similarity(matrix, group, groups)
    for index in range(groups):
        np.testing.assert_allclose(between[index], expected[group == index].sum(axis=0), atol=1e-9)


@given(st.integers(2, 12), st.integers(0, 2**32))
def test_the_centred_spectrum_is_that_of_the_projection(count: int, seed: int) -> None:
    matrix = SimilarityMatrix.of(random_symmetric(count, seed))
    np.testing.assert_allclose(
        matrix.centred_spectrum(), spectrum_by_projection(matrix.values), atol=1e-9
    )


@given(matrices(), st.integers(0, 2**32))
def test_sort_keys_follow_the_classes_when_these_are_renumbered(matrix, seed) -> None:
    order = np.random.default_rng(seed).permutation(len(matrix))
    colours = np.random.default_rng(seed + 1).integers(3, size=len(matrix))
    renumbered = matrix.take(order).sort_keys(colours[order])
    np.testing.assert_allclose(renumbered, matrix.sort_keys(colours)[order], atol=1e-12)


def test_the_diagonal_is_ignored_and_the_input_left_alone() -> None:
    values = random_symmetric(4)
    given_values = values.copy()
    matrix = SimilarityMatrix.of(values)
    np.testing.assert_array_equal(values, given_values)
    np.testing.assert_array_equal(np.diag(matrix.values), 0)
    assert not matrix.values.flags.writeable
    np.fill_diagonal(values, np.nan)
    np.testing.assert_array_equal(SimilarityMatrix.of(values).values, matrix.values)


def test_rounding_asymmetry_is_averaged_away() -> None:
    values = random_symmetric(4)
    values[0, 1] += 1e-9
    matrix = SimilarityMatrix.of(values)
    np.testing.assert_array_equal(matrix.values, matrix.values.T)


def test_pairs_go_row_by_row() -> None:
    matrix = SimilarityMatrix.of([[0, 1, 2], [1, 0, 3], [2, 3, 0]])
    np.testing.assert_array_equal(matrix.pairs(), [1, 2, 3])


def test_cosines_do_not_depend_on_lengths() -> None:
    rows = np.random.default_rng(0).normal(size=(5, 3))
    scaled = rows * np.array([[1.0], [10.0], [0.1], [3.0], [7.0]])
    np.testing.assert_allclose(
        SimilarityMatrix.of_vectors(rows).values, SimilarityMatrix.of_vectors(scaled).values
    )


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1, 2], r"square.*Got.*\(2,\)"),
        (np.ones((2, 3)), r"must be square.*\(2, 3\)"),
        ([[1.0]], "at least 2 classes. Got 1"),
        ([["x", "y"], ["y", "x"]], "must contain numbers"),
        ([[0, np.nan], [np.nan, 0]], r"entry \(0, 1\) is nan"),
        ([[0, np.inf], [np.inf, 0]], r"entry \(0, 1\) is inf"),
        ([[0, 1], [2, 0]], r"entry.*\(0, 1\).*1"),
    ],
)
def test_what_is_no_similarity_matrix_is_told(values: object, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        SimilarityMatrix.of(values)


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        (np.ones(3), r"\(N, d\) array with N >= 2. Got shape \(3,\)"),
        (np.ones((1, 3)), "N >= 2"),
        (np.ones((3, 0)), "N >= 2"),
        ([[1, 2], [np.nan, 1]], "class 1 has NaN"),
        ([[1, 2], [0, 0]], "that of class 1 is"),
    ],
)
def test_what_are_no_class_vectors_is_told(vectors: object, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        SimilarityMatrix.of_vectors(vectors)


def test_names_are_one_per_class() -> None:
    with pytest.raises(UsageError, match="2 x 2 but 3 class names"):
        SimilarityMatrix.of(np.ones((2, 2)), ["a", "b", "c"])
    with pytest.raises(UsageError, match="2 x 2 but 1 class names"):
        SimilarityMatrix.of_vectors(np.eye(2), ["a"])
    assert SimilarityMatrix.of(np.ones((2, 2))).names == ("class 0", "class 1")


def test_a_notebook_shows_a_short_text_a_table_and_a_figure() -> None:
    values = np.array([[0.0, 0.9, 0.1], [0.9, 0.0, 0.4], [0.1, 0.4, 0.0]])
    matrix = SimilarityMatrix(("a<b", "c", "d"), values, {"encoder": "toy"})
    assert repr(matrix) == "<SimilarityMatrix of 3 classes: encoder toy>"
    shown = matrix._repr_html_()
    assert "<td>a&lt;b – c</td><td>0.900</td>" in shown
    assert "<img" in shown
    assert matrix.to_pandas().loc["c", "d"] == 0.4
    axes = matrix.plot()
    assert [label.get_text() for label in axes.get_yticklabels()] == ["a<b", "c", "d"]
    assert axes.images[0].get_array()[0, 1] == 0.9
    summary = matrix.summary(pairs=1)
    assert [pair.classes for pair in summary.most_similar] == [("a<b", "c")]
    assert [pair.similarity for pair in summary.least_similar] == [0.1]
    ends = matrix.summary(pairs=5)
    assert [pair.similarity for pair in ends.most_similar + ends.least_similar] == [0.9, 0.4, 0.1]
