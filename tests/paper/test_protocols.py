"""Adversarial sampling is the paper's walk; max-cover takes the ends of what covers a pool."""

from __future__ import annotations

import numpy as np
import pytest

from edgecil.paper import protocols
from edgecil.paper.protocols import COVER, POOL, covering_sequences
from edgecil.sequences import ClassSequence, SequenceSpace
from edgecil.similarity import SimilarityMatrix
from tests.sequences.oracles import Floats, matrix, score_by_loops

SIZES = [(2, 2, 2), (3, 3), (4, 4, 4), (5, 1, 3), (1,) * 4]


def walk(values: Floats, start: int, choose) -> list[int]:
    """From a class, always on to the one whose similarities to all chosen sum up to least."""
    order = [start]
    while len(order) < len(values):
        left = [class_ for class_ in range(len(values)) if class_ not in order]
        order.append(choose(left, key=lambda class_: sum(values[class_, c] for c in order)))
    return order


@pytest.mark.parametrize(("goal", "choose"), [("hard", min), ("easy", max)])
@pytest.mark.parametrize("kind", ["signed", "positive", "negative"])
@pytest.mark.parametrize("sizes", [(3, 3, 3), (1, 5, 4), (1,) * 7], ids=str)
def test_every_class_is_the_one_that_the_greedy_walk_comes_to(goal, choose, kind, sizes) -> None:
    values, space = matrix(kind, sum(sizes)), SequenceSpace(sizes)
    walks = {
        ClassSequence.from_order(walk(values, start, choose), sizes) for start in range(sum(sizes))
    }
    sequence = {
        protocols.greedy_walk(SimilarityMatrix.of(values), space, goal, np.random.default_rng(seed))
        for seed in range(60)
    }
    assert sequence == walks, "any class may be the start, and nothing else is left to chance"


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
    chosen = covering_sequences(space, COVER, np.random.default_rng(3))
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


@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_hard_and_easy_are_the_ends_of_the_cover(sizes) -> None:
    space, values = SequenceSpace(sizes), matrix("signed", sum(sizes))
    similarity = SimilarityMatrix.of(values)
    chosen = covering_sequences(space, COVER, np.random.default_rng(1))
    scores = [score_by_loops(values, sequence.tasks) for sequence in chosen]
    hard, easy = (
        protocols.covering_extreme(similarity, space, goal, np.random.default_rng(1))
        for goal in ("hard", "easy")
    )
    assert score_by_loops(values, hard.tasks) == pytest.approx(min(scores))
    assert score_by_loops(values, easy.tasks) == pytest.approx(max(scores))
    assert {hard, easy} <= set(chosen)
