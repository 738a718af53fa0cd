"""Mean, spread and z over the whole space are what enumerating it gives; so is a profile.

Scores of many sequences are the scores of each.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from edgecil.errors import UsageError
from edgecil.sequences import (
    ClassSequence,
    Moments,
    SequenceSpace,
    get_objective,
    moments,
    profile,
    sample_scores,
    score,
    score_orders,
)
from edgecil.similarity import SimilarityMatrix
from tests.sequences.oracles import (
    MATRICES,
    PAPER_SPACES,
    SPACES,
    UNEQUAL_SPACES,
    Floats,
    all_values,
    matrices,
    matrix,
    named_objectives,
    places,
    score_by_loops,
    sequence_at,
    symmetric,
)


def check(values: Floats, sizes: tuple[int, ...], weights: Floats) -> None:
    space = SequenceSpace(sizes)
    computed = moments(SimilarityMatrix.of(values), space, get_objective(weights, space))
    every = all_values(values, sizes, weights)
    scale = np.abs(weights).max() * max(np.abs(values).max(), 1e-300) * len(values) ** 2
    assert computed.mean == pytest.approx(every.mean(), abs=1e-12 * scale)
    # The variance is a difference of squares: half the digits are left where nothing varies.
    assert computed.std == pytest.approx(every.std(), rel=1e-7, abs=1e-7 * scale)
    if every.std() > 1e-5 * scale:
        for value in (every[0], every.min(), every.max()):
            assert computed.z(value) == pytest.approx(
                (value - every.mean()) / every.std(), abs=1e-6
            )


@pytest.mark.parametrize("sizes", SPACES, ids=str)
@pytest.mark.parametrize("kind", MATRICES)
def test_every_named_objective_on_every_small_space(sizes, kind) -> None:
    for objective in named_objectives(sizes).values():
        check(matrix(kind, sum(sizes)), sizes, objective.weights)


@settings(max_examples=150)
@given(st.data())
def test_any_matrix_any_sizes_any_weights(data) -> None:
    sizes = data.draw(st.sampled_from([sizes for sizes in SPACES if sum(sizes) <= 8]))
    values = data.draw(matrices(sum(sizes)))
    named = [objective.weights for objective in named_objectives(sizes).values()]
    own = symmetric(len(sizes), data.draw(st.integers(0, 99)))
    check(values, sizes, data.draw(st.sampled_from([*named, own])))


@pytest.mark.parametrize("offset", [0.1, 0.7, 1 / 3, -0.3, 1.0, 1e3])
@pytest.mark.parametrize("sizes", [(1, 1), (3, 3), (5, 3, 2), (10,) * 10], ids=str)
def test_where_all_classes_are_alike_no_sequence_stands_out(sizes, offset) -> None:
    N, space = sum(sizes), SequenceSpace(sizes)
    alike = SimilarityMatrix.of(np.full((N, N), offset))
    for objective in named_objectives(sizes).values():
        computed = moments(alike, space, objective)
        value = objective.value(alike, next(space.enumerate()))
        assert computed.std == 0
        assert computed.z(value) == 0


def test_z_is_zero_where_nothing_varies() -> None:
    assert Moments(mean=2.0, std=0.0).z(5.0) == 0
    assert Moments(mean=2.0, std=0.5).z(3.0) == 2


@pytest.mark.parametrize(("offset", "scale"), [(1.0, 1e-7), (1e6, 1.0), (-3.0, 1e-9)])
def test_a_small_spread_beside_a_large_mean_is_seen(offset: float, scale: float) -> None:
    noise = np.random.default_rng(0).uniform(size=(6, 6))
    plain = SimilarityMatrix.of(noise + noise.T)
    shifted = SimilarityMatrix.of(offset + scale * (noise + noise.T))
    space = SequenceSpace([2, 2, 2])
    for name in ("adjacent", "intra", "to-last", "generalization"):
        objective = get_objective(name, space)
        expected = scale * moments(plain, space, objective).std
        assert moments(shifted, space, objective).std == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("sizes", [*PAPER_SPACES, *UNEQUAL_SPACES, (1, 1, 1, 1)], ids=str)
def test_every_part_of_a_profile_is_its_definition(sizes) -> None:
    values = matrix("signed", sum(sizes))
    rows = places(sizes)
    index = len(rows) // 3
    sequence = sequence_at(rows[index])
    seen = profile(SimilarityMatrix.of(values), sequence)
    assert seen.score == pytest.approx(score_by_loops(values, sequence.tasks))
    assert seen.score == score(SimilarityMatrix.of(values), sequence)
    named = named_objectives(sizes)
    assert set(seen.objectives) == set(named)
    for name, objective in named.items():
        every = all_values(values, sizes, objective.weights)
        assert seen.objectives[name]["value"] == pytest.approx(every[index])
        if every.std() > 1e-9:
            z = (every[index] - every.mean()) / every.std()
            assert seen.objectives[name]["z"] == pytest.approx(z, abs=1e-9)
    assert seen.z == seen.objectives["adjacent"]["z"]


@pytest.mark.parametrize("function", [profile, score])
def test_one_task_has_no_profile(function) -> None:
    with pytest.raises(UsageError, match="K >= 2"):
        function(SimilarityMatrix.of(np.zeros((3, 3))), ClassSequence([[0, 1, 2]]))


@pytest.mark.parametrize("sizes", SPACES, ids=str)
def test_each_order_scores_as_it_does_alone(sizes) -> None:
    space, values = SequenceSpace(sizes), matrix("signed", sum(sizes))
    orders = space.sample_orders(20, np.random.default_rng(0))
    chosen = [*named_objectives(sizes).values(), get_objective(symmetric(len(sizes)), space)]
    for similarity in (SimilarityMatrix.of(values), SimilarityMatrix.of_vectors(values + 1)):
        for objective in chosen:
            expected = [
                objective.value(similarity, ClassSequence.from_order(order, sizes))
                for order in orders
            ]
            scores = score_orders(similarity, space, orders, objective)
            np.testing.assert_allclose(scores, expected, atol=1e-12)


def test_no_orders_have_no_scores() -> None:
    space, similarity = SequenceSpace((2, 2)), SimilarityMatrix.of(matrix("signed", 4))
    assert score_orders(similarity, space, np.empty((0, 4), dtype=np.int64)).shape == (0,)
    assert sample_scores(similarity, space, 0, np.random.default_rng(0)).shape == (0,)


@pytest.mark.parametrize("count", [1, 1999, 2000, 2001, 6500])
def test_a_sample_is_scored_in_the_order_in_which_it_is_drawn(count) -> None:
    """Drawn in blocks of 2,000 from one stream."""
    space, similarity = SequenceSpace((2, 3, 2)), SimilarityMatrix.of(matrix("signed", 7))
    scores = sample_scores(similarity, space, count, np.random.default_rng(4))
    rng = np.random.default_rng(4)
    orders = [space.sample_orders(min(2000, count - done), rng) for done in range(0, count, 2000)]
    np.testing.assert_array_equal(scores, score_orders(similarity, space, np.concatenate(orders)))


def test_the_sample_has_the_exact_moments() -> None:
    space, similarity = SequenceSpace.equal(30, 5), SimilarityMatrix.of(matrix("positive", 30))
    for objective in named_objectives(space.sizes).values():
        exact = moments(similarity, space, objective)
        scores = sample_scores(similarity, space, 10_000, np.random.default_rng(0), objective)
        assert scores.mean() == pytest.approx(exact.mean, abs=4 * exact.std / 100)
        assert scores.std() == pytest.approx(exact.std, rel=0.04)


@pytest.mark.parametrize(
    "orders", [np.arange(4), np.zeros((2, 3), dtype=int), [[0, 1, 2, 2]], [[1, 2, 3, 4]]]
)
def test_what_are_no_orders_of_the_space_is_refused(orders) -> None:
    similarity = SimilarityMatrix.of(matrix("signed", 4))
    with pytest.raises(UsageError, match=r"\(n, 4\) array.* 0 to 3 once"):
        score_orders(similarity, SequenceSpace((2, 2)), np.array(orders))
