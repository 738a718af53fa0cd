"""The descent ends where no swap of classes and no other order of two tasks is better."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from edgecil.sequences import ClassSequence, SequenceSpace, score
from edgecil.sequences.descent import descend, pull, rearrange
from edgecil.sequences.objective import adjacent, task_similarity
from edgecil.similarity import SimilarityMatrix
from tests.sequences.oracles import Floats, matrix

SIZES = [(3, 3, 3, 3), (5, 2, 4, 1), (1,) * 7]


def sequence_of(partition: np.ndarray, tasks: int) -> ClassSequence:
    return ClassSequence(np.flatnonzero(partition == task).tolist() for task in range(tasks))


def swapped(sequence: ClassSequence, first: int, second: int) -> ClassSequence:
    other = {first: second, second: first}
    return ClassSequence([other.get(class_, class_) for class_ in task] for task in sequence.tasks)


def circulant(classes: int) -> Floats:
    """Every row sums to zero, but for rounding; the diagonal is zero."""
    steps = np.arange(classes)
    values = 0.1 * np.cos(2 * np.pi * (steps[:, None] - steps[None, :]) / classes)
    np.fill_diagonal(values, 0.0)
    return values + 0.1 / (classes - 1) * (1.0 - np.eye(classes))


@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_no_swap_and_no_exchange_of_tasks_improves_the_result(sizes, sign) -> None:
    space = SequenceSpace(sizes)
    for seed in range(5):
        similarity = SimilarityMatrix.of(matrix("signed", space.classes, seed))
        places = np.repeat(np.arange(space.tasks), sizes)
        partition = np.random.default_rng(seed).permutation(places)
        before = sign * score(similarity, sequence_of(partition, space.tasks))
        descend(similarity, space, sign * adjacent(space).weights, partition)
        sequence = sequence_of(partition, space.tasks)
        reached = sign * score(similarity, sequence)
        assert sequence in space
        assert reached <= before
        for pair in combinations(range(space.classes), 2):
            assert reached <= sign * score(similarity, swapped(sequence, *pair)) + 1e-9
        for first, second in combinations(range(space.tasks), 2):
            tasks = list(sequence.tasks)
            tasks[first], tasks[second] = tasks[second], tasks[first]
            if ClassSequence(tasks) in space:
                assert reached <= sign * score(similarity, ClassSequence(tasks)) + 1e-9


def test_it_ends_where_all_row_sums_are_zero() -> None:
    """The smallest improvement that counts does not depend on the row sums."""
    space, similarity = SequenceSpace((4,) * 6), SimilarityMatrix.of(circulant(24))
    assert np.abs(similarity.row_sums()).max() < 1e-12
    partition = np.random.default_rng(0).permutation(np.repeat(np.arange(6), 4))
    descend(similarity, space, adjacent(space).weights, partition)
    assert np.bincount(partition).tolist() == [4] * 6


def test_a_rearrangement_keeps_the_tasks_and_says_whether_it_helped() -> None:
    """Three themes in a row: the middle one must be unlike both others."""
    group = np.repeat([0, 1, 2], 2)
    like = np.array([[1.0, 0.9, 0.1], [0.9, 1.0, 0.2], [0.1, 0.2, 1.0]])
    similarity, space = SimilarityMatrix.of(like[np.ix_(group, group)]), SequenceSpace((2, 2, 2))
    weights = adjacent(space).weights
    partition = group.copy()
    assert rearrange(similarity, space, weights, partition)
    assert set(np.flatnonzero(partition == 1).tolist()) == {4, 5}
    assert not rearrange(similarity, space, weights, partition)


def test_the_pull_is_half_the_derivative_of_the_objective() -> None:
    space, values = SequenceSpace((2, 3, 2)), matrix("signed", 7)
    similarity, weights = SimilarityMatrix.of(values), adjacent(space).weights
    partition = np.repeat(np.arange(3), space.sizes)
    field = pull(similarity, space, weights, partition)
    between = task_similarity(similarity, sequence_of(partition, 3))
    total = sum(field[partition[class_], class_] for class_ in range(7))
    assert total == pytest.approx(float(np.sum(weights * between)))
    block = np.array([1, 5])
    np.testing.assert_allclose(pull(similarity, space, weights, partition, block), field[:, block])
