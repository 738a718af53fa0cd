"""A profile holds the definitions, computed the long way, and z among all sequences."""

from __future__ import annotations

import numpy as np
import pytest

from edgecil.errors import UsageError
from edgecil.sequences import ClassSequence, profile, score
from edgecil.similarity import SimilarityMatrix
from tests.sequences.oracles import (
    PAPER_SPACES,
    UNEQUAL_SPACES,
    all_values,
    matrix,
    named_objectives,
    places,
    score_by_loops,
    sequence_at,
)


def similarities_at(values, tasks, distance) -> list[float]:
    """Similarities of all pairs of different classes whose tasks are `distance` apart."""
    return [
        values[c, other]
        for i, first in enumerate(tasks)
        for j, second in enumerate(tasks)
        for c in first
        for other in second
        if abs(i - j) == distance and c != other
    ]


@pytest.mark.parametrize("sizes", [*PAPER_SPACES, *UNEQUAL_SPACES, (1, 1, 1, 1)], ids=str)
def test_every_part_of_a_profile_is_its_definition(sizes) -> None:
    values = matrix("signed", sum(sizes))
    rows = places(sizes)
    index = len(rows) // 3
    sequence = sequence_at(rows[index])
    seen = profile(SimilarityMatrix.of(values), sequence)
    by_distance = [similarities_at(values, sequence.tasks, lag) for lag in range(len(sizes))]
    assert seen.score == pytest.approx(score_by_loops(values, sequence.tasks))
    assert seen.score == score(SimilarityMatrix.of(values), sequence)
    assert seen.lag1 == pytest.approx(np.mean(by_distance[1]))
    assert seen.inter == pytest.approx(np.mean(np.concatenate(by_distance[1:])))
    if by_distance[0]:
        assert seen.intra == pytest.approx(np.mean(by_distance[0]))
    else:
        assert seen.intra is None
    if len(sizes) > 2:
        assert seen.lag2 == pytest.approx(np.mean(by_distance[2]))
    else:
        assert seen.lag2 is None
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
