"""Max-cover sampling spreads out over its pool and takes the ends of what it chose."""

from __future__ import annotations

import numpy as np
import pytest

from edgecil.paper.maxcover import COVER, POOL, cover, maxcover_easy, maxcover_hard
from edgecil.sequences import SequenceSpace
from edgecil.similarity import SimilarityMatrix
from tests.sequences.oracles import matrix, score_by_loops

SIZES = [(2, 2, 2), (3, 3), (4, 4, 4), (5, 1, 3), (1,) * 4]


def distance(first, second) -> float:
    """By how many tasks a class moves, on average."""
    moves = [
        abs(i - j)
        for i, task in enumerate(first.tasks)
        for j, other in enumerate(second.tasks)
        for class_ in task
        if class_ in other
    ]
    assert len(moves) == sum(first.sizes)
    return sum(moves) / len(moves)


@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_each_chosen_sequence_is_farthest_from_those_before_it(sizes) -> None:
    space = SequenceSpace(sizes)
    pool = space.sample(min(POOL, space.size), np.random.default_rng(3))
    chosen = cover(space, COVER, np.random.default_rng(3))
    assert len(chosen) == len(set(chosen)) == min(COVER, space.size)
    assert set(chosen) <= set(pool)
    for count in range(1, len(chosen)):
        before = chosen[:count]
        nearest = {
            candidate: min(distance(candidate, earlier) for earlier in before)
            for candidate in pool
            if candidate not in before
        }
        assert nearest[chosen[count]] == pytest.approx(max(nearest.values()))


def test_as_many_are_chosen_as_asked_for() -> None:
    space = SequenceSpace((5,) * 4)
    assert len(cover(space, 1, np.random.default_rng(0))) == 1
    assert len(set(cover(space, POOL + 7, np.random.default_rng(0)))) == POOL + 7


@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_hard_and_easy_are_the_ends_of_the_cover(sizes) -> None:
    space, values = SequenceSpace(sizes), matrix("signed", sum(sizes))
    similarity = SimilarityMatrix.of(values)
    chosen = cover(space, COVER, np.random.default_rng(1))
    scores = [score_by_loops(values, sequence.tasks) for sequence in chosen]
    hard = maxcover_hard(similarity, space, np.random.default_rng(1))
    easy = maxcover_easy(similarity, space, np.random.default_rng(1))
    assert score_by_loops(values, hard.tasks) == pytest.approx(min(scores))
    assert score_by_loops(values, easy.tasks) == pytest.approx(max(scores))
    assert {hard, easy} <= set(chosen)
