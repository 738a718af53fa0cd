"""Scores of many sequences are the scores of each."""

from __future__ import annotations

import numpy as np
import pytest

from edgecil.errors import UsageError
from edgecil.sequences import (
    ClassSequence,
    SequenceSpace,
    get_objective,
    moments,
    sample_scores,
    score_orders,
)
from edgecil.similarity import SimilarityMatrix
from tests.sequences.oracles import SPACES, matrix, named_objectives, symmetric


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
