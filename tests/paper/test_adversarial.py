"""Adversarial sampling is the walk that the paper describes."""

from __future__ import annotations

import numpy as np
import pytest

from edgecil.paper.adversarial import adversarial_easy, adversarial_hard
from edgecil.sequences import ClassSequence, SequenceSpace
from edgecil.similarity import SimilarityMatrix
from tests.sequences.oracles import Floats, matrix


def walk(values: Floats, start: int, choose) -> list[int]:
    """From a class, always on to the one whose similarities to all chosen sum up to least."""
    order = [start]
    while len(order) < len(values):
        left = [class_ for class_ in range(len(values)) if class_ not in order]
        order.append(choose(left, key=lambda class_: sum(values[class_, c] for c in order)))
    return order


@pytest.mark.parametrize(("build", "choose"), [(adversarial_hard, min), (adversarial_easy, max)])
@pytest.mark.parametrize("kind", ["signed", "positive", "negative"])
@pytest.mark.parametrize("sizes", [(3, 3, 3), (1, 5, 4), (1,) * 7], ids=str)
def test_every_class_is_the_one_that_the_greedy_walk_comes_to(build, choose, kind, sizes) -> None:
    values, space = matrix(kind, sum(sizes)), SequenceSpace(sizes)
    walks = {
        ClassSequence.from_order(walk(values, start, choose), sizes) for start in range(sum(sizes))
    }
    sequence = {
        build(SimilarityMatrix.of(values), space, np.random.default_rng(seed)) for seed in range(60)
    }
    assert sequence == walks, "any class may be the start, and nothing else is left to chance"


def test_the_walk_goes_by_all_chosen_classes_not_by_the_last() -> None:
    """From 0 to 1 (least similar); then 2 sums to 0.9 and 3 to 1.0, though 3 is farther from 1."""
    values = np.zeros((4, 4))
    for pair, value in {(0, 1): 0.1, (0, 2): 0.4, (0, 3): 0.9, (1, 2): 0.5, (1, 3): 0.1}.items():
        values[pair] = values[pair[::-1]] = value
    start_at_0 = next(seed for seed in range(99) if np.random.default_rng(seed).integers(4) == 0)
    sequence = adversarial_hard(
        SimilarityMatrix.of(values), SequenceSpace((1,) * 4), np.random.default_rng(start_at_0)
    )
    assert sequence.order == (0, 1, 2, 3)
