"""The authors' published code: its orders, and what it cannot do.

The expected orders were computed once by https://github.com/AIGNLAI/EDGE (commit a60c117) from the
same matrices, whose entries single precision holds exactly; long ones are compared by digest.
"""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from edgecil.errors import UsageError
from edgecil.paper.edge_released import released_sequence
from edgecil.sequences import ClassSequence, SequenceSpace, protocol, seeded
from edgecil.similarity import SimilarityMatrix
from tests.sequences.oracles import Floats, matrix


def exact_matrix(classes: int, seed: int, top: int) -> Floats:
    """Multiples of 1/top in (0, 1); a small `top` gives many ties."""
    values = np.triu(np.random.default_rng(seed).integers(1, top, size=(classes, classes)), 1) / top
    return values + values.T


def digest(sequence: ClassSequence) -> str:
    return hashlib.sha256(str(sequence).encode()).hexdigest()[:16]


@pytest.mark.parametrize(
    ("classes", "tasks", "seed", "top", "hard", "easy"),
    [
        (200, 10, 0, 2**20, "e42d42e8236193ea", "258d71475c9edd79"),
        (200, 10, 1, 64, "ff620e047eb741a8", "9a679f6ea10dfdc6"),
        (100, 10, 2, 2**20, "82a375e85e83f625", "116d2e5a060aaf59"),
        (6, 3, 3, 2**20, "0 5|3 4|1 2", "1 5|2 3|0 4"),
        (6, 3, 4, 8, "0 1|2 5|3 4", "0 3|1 4|2 5"),
    ],
)
def test_the_orders_are_those_of_the_published_code(classes, tasks, seed, top, hard, easy) -> None:
    similarity = SimilarityMatrix.of(exact_matrix(classes, seed, top))
    space = SequenceSpace.equal(classes, tasks)
    runs = protocol("edge-released", space, similarity=similarity)
    assert [run.label for run in runs] == ["hard", "easy", "median"]
    for run, expected in zip(runs, (hard, easy), strict=False):
        assert expected in (str(run.sequence), digest(run.sequence))
    assert runs[2].sequence == seeded(space, 0)


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
