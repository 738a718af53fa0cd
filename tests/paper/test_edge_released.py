"""The authors' published code: its orders, and what it cannot do.

The expected orders were computed once by https://github.com/AIGNLAI/EDGE (commit a60c117) from the
same matrices, whose entries single precision holds exactly, with sums in double precision; long
ones are compared by digest.
"""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from edgecil.errors import UsageError
from edgecil.paper.edge_released import released_sequence
from edgecil.sequences import ClassSequence, SequenceSpace, protocol
from edgecil.similarity import SimilarityMatrix
from tests.sequences.oracles import Floats, matrix


def exact_matrix(classes: int, seed: int, top: int) -> Floats:
    """Multiples of 1/top in (0, 1); a small `top` gives many ties."""
    values = np.triu(np.random.default_rng(seed).integers(1, top, size=(classes, classes)), 1) / top
    return values + values.T


def digest(sequence: ClassSequence) -> str:
    order = " ".join(map(str, sequence.order))
    return order if len(order) < 20 else hashlib.sha256(order.encode()).hexdigest()[:16]


@pytest.mark.parametrize(
    ("classes", "tasks", "seed", "top", "hard", "easy"),
    [
        (200, 10, 0, 2**20, "0eaa9fb81a55d775", "5d461b134feba9f5"),
        (200, 10, 1, 64, "af22ca78694d759d", "52c85b6261e3dc3d"),
        (100, 10, 2, 2**20, "41182e46e8fc01e0", "ef448cec364b4fba"),
        (6, 3, 3, 2**20, "5 0 4 3 2 1", "5 1 3 2 0 4"),
        (6, 3, 4, 8, "0 1 2 5 4 3", "0 3 4 1 2 5"),
    ],
)
def test_the_orders_are_those_of_the_published_code(classes, tasks, seed, top, hard, easy) -> None:
    similarity = SimilarityMatrix.of(exact_matrix(classes, seed, top))
    space = SequenceSpace.equal(classes, tasks)
    runs = protocol("edge-released", space, similarity=similarity)
    assert [run.label for run in runs] == ["hard", "easy", "median"]
    assert [digest(run.sequence) for run in runs[:2]] == [hard, easy]
    assert runs[2].sequence.order == tuple(np.random.default_rng(0).permutation(classes).tolist())


@pytest.mark.parametrize(
    ("classes", "tasks", "expected"),
    [
        (6, 3, "647253f46ed4ab28"),
        (8, 4, "d38544ea5af9ecd1"),
        (12, 4, "816b2fa334b6c776"),
        (20, 5, "f2490e823370535a"),
        (100, 10, "f5128327fece47b9"),
        pytest.param(200, 10, "03e5895db949b540", marks=pytest.mark.slow),
    ],
)
def test_240_lists_are_those_of_the_published_code(classes: int, tasks: int, expected: str) -> None:
    """The hard and the easy list of 20 matrices of each size, many with ties."""
    lists = []
    for seed in range(20):
        similarity = SimilarityMatrix.of(exact_matrix(classes, seed, (2**20, 64, 8)[seed % 3]))
        space = SequenceSpace.equal(classes, tasks)
        for goal in ("hard", "easy"):
            lists.append(released_sequence(similarity, space, goal).order)
    text = "\n".join(" ".join(map(str, order)) for order in lists)
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == expected


def test_the_increment_has_no_influence_on_its_choice() -> None:
    """B50-Inc10 is scored as two tasks of 50."""
    similarity = SimilarityMatrix.of(exact_matrix(100, 5, 2**20))
    halves, increments = (
        released_sequence(similarity, space, "hard")
        for space in (SequenceSpace.equal(100, 2), SequenceSpace.base_increment(100, 50, 10))
    )
    assert increments.tasks[0] == halves.tasks[0]
    assert increments in SequenceSpace.base_increment(100, 50, 10)


@pytest.mark.parametrize(
    ("sizes", "options", "words"),
    [
        ((21,) * 10, {}, "at most 200 classes.*210 classes"),
        ((4, 2), {}, "first task of 4 of 6"),
        ((2, 2, 2), {"budget": 5}, "'budget'.*5"),
    ],
)
def test_what_it_cannot_do_is_refused(sizes, options, words) -> None:
    similarity = SimilarityMatrix.of(matrix("positive", sum(sizes)))
    with pytest.raises(UsageError, match=words):
        protocol("edge-released", SequenceSpace(sizes), similarity=similarity, **options)
