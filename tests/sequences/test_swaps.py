"""The descent ends where no swap of classes and no other order of two tasks is better."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from edgecil.sequences import ClassSequence, SequenceSpace, score
from edgecil.sequences.objective import adjacent, task_similarity
from edgecil.sequences.swaps import Swaps, rearrange
from edgecil.similarity import SimilarityMatrix
from tests.sequences.oracles import Floats, matrix

SIZES = [(3, 3, 3, 3), (5, 2, 4, 1), (1,) * 7]


def sequence_of(partition: np.ndarray, tasks: int) -> ClassSequence:
    return ClassSequence(np.flatnonzero(partition == task).tolist() for task in range(tasks))


def descend(similarity: SimilarityMatrix, weights: Floats, sizes: list[int], task: np.ndarray):
    """Swaps and exchanges of whole tasks, until neither helps."""
    while True:
        Swaps(similarity.values, weights, task[None]).descend()
        between = task_similarity(similarity, sequence_of(task, len(sizes)))
        places = rearrange(between, weights, np.array(sizes))
        if np.array_equal(places, np.arange(len(sizes))):
            return
        task[:] = places[task]


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
        descend(similarity, sign * adjacent(space).weights, space.sizes, partition)
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
    descend(similarity, adjacent(space).weights, space.sizes, partition)
    assert np.bincount(partition).tolist() == [4] * 6


def test_a_rearrangement_puts_the_theme_that_is_unlike_both_others_between_them() -> None:
    between = np.array([[1.0, 0.9, 0.1], [0.9, 1.0, 0.2], [0.1, 0.2, 1.0]])
    weights = adjacent(SequenceSpace((2, 2, 2))).weights
    assert rearrange(between, weights, np.array([2, 2, 2]))[2] == 1
    assert rearrange(between, weights, np.array([2, 2, 1]))[2] == 2


def test_the_pull_is_half_the_derivative_of_the_objective() -> None:
    space, values = SequenceSpace((2, 3, 2)), matrix("signed", 7)
    similarity, weights = SimilarityMatrix.of(values), adjacent(space).weights
    rng = np.random.default_rng(0)
    tasks = np.array([rng.permutation(np.repeat(np.arange(3), space.sizes)) for _ in range(4)])
    search = Swaps(values, weights, tasks)
    search.anneal(20, 1.0, 0.1, rng)
    for task, field in zip(tasks, search.pull, strict=True):
        assert sequence_of(task, 3) in space
        between = task_similarity(similarity, sequence_of(task, 3))
        total = sum(field[task[class_], class_] for class_ in range(7))
        assert total == pytest.approx(float(np.sum(weights * between)))
