"""What every constructor of hard and easy sequences promises."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from edgecil.errors import UsageError
from edgecil.sequences import PROTOCOLS, ClassSequence, SequenceSpace, find_optimum, profile
from edgecil.sequences.protocols.extremes import GOALS, Extremes, Optimal
from edgecil.similarity import SimilarityMatrix
from tests.sequences.oracles import SPACES, Floats, Ints, matrices, matrix, near_equal, permuted

Build = Callable[[SimilarityMatrix, SequenceSpace, np.random.Generator], ClassSequence]


def constructor(protocol: Extremes, goal: str) -> Build:
    if isinstance(protocol, Optimal):
        return lambda own, space, rng: find_optimum(own, space, goal, rng=rng).sequence
    return lambda own, space, rng: protocol.construct(own, space, goal, rng)


ALL = [
    pytest.param(constructor(protocol, goal), id=f"{protocol.name}-{goal}")
    for protocol in PROTOCOLS.values()
    if isinstance(protocol, Extremes) and not protocol.asks_model
    for goal in GOALS
]
LABEL_FREE = [param for param in ALL if not param.id.startswith("edge-released")]

LARGER = [(30, 4), (23, 5), (12, 12), (26, 3)]


def relabelled(sequence: ClassSequence, order: Ints) -> ClassSequence:
    """A sequence over the rows of a permuted matrix, in the classes that they were."""
    return ClassSequence([order[class_] for class_ in task] for task in sequence.tasks)


def has_symmetry(values: Floats) -> bool:
    everyone = tuple(range(len(values)))
    return any(
        np.array_equal(permuted(values, np.array(order)), values)
        for order in permutations(everyone)
        if order != everyone
    )


@pytest.mark.parametrize("generator", ALL)
@pytest.mark.parametrize("kind", ["signed", "negative", "tied", "equal"])
def test_the_result_lies_in_the_space(generator, kind, request) -> None:
    spaces = [*map(SequenceSpace, SPACES), *(near_equal(*pair) for pair in LARGER)]
    spaces += [SequenceSpace((50, 10, 10, 10, 10, 10)), SequenceSpace((1, 29))]
    for space in spaces:
        if "released" in request.node.name and space.classes % space.sizes[0]:
            continue  # the authors' published code refuses it
        similarity = SimilarityMatrix.of(matrix(kind, space.classes))
        sequence = generator(similarity, space, np.random.default_rng(0))
        assert sequence in space, space


@pytest.mark.parametrize("generator", LABEL_FREE)
@settings(max_examples=60)
@given(data=st.data())
def test_relabelling_the_classes_relabels_the_sequence(generator, data) -> None:
    sizes = data.draw(st.sampled_from([(2, 2, 2), (3, 3), (1, 2, 3), (2, 1, 1, 1), (1,) * 5]))
    values = data.draw(matrices(sum(sizes)))
    order = np.array(data.draw(st.permutations(range(len(values)))))
    space, seed = SequenceSpace(sizes), data.draw(st.integers(0, 9))
    plain, other = SimilarityMatrix.of(values), SimilarityMatrix.of(permuted(values, order))
    first = generator(plain, space, np.random.default_rng(seed))
    second = generator(other, space, np.random.default_rng(seed))
    if has_symmetry(values):
        seen, again = profile(plain, first), profile(other, second)
        for name, values in seen.objectives.items():
            assert again.objectives[name] == pytest.approx(values, abs=1e-9), name
    else:
        assert relabelled(second, order) == first


@pytest.mark.parametrize("generator", LABEL_FREE)
@pytest.mark.parametrize("sizes", [(4,) * 6, (10, 7, 5, 3)], ids=str)
def test_relabelling_two_dozen_classes_relabels_the_sequence(generator, sizes) -> None:
    for seed in range(3):
        rng = np.random.default_rng(seed)
        order = rng.permutation(sum(sizes))
        values, space = matrix("signed", sum(sizes), seed), SequenceSpace(sizes)
        plain, other = (SimilarityMatrix.of(some) for some in (values, permuted(values, order)))
        first = generator(plain, space, np.random.default_rng(seed))
        second = generator(other, space, np.random.default_rng(seed))
        assert relabelled(second, order) == first


@pytest.mark.parametrize("generator", ALL)
def test_one_task_is_the_only_sequence_or_no_question(generator) -> None:
    similarity, space = SimilarityMatrix.of(matrix("signed", 4)), SequenceSpace((4,))
    try:
        sequence = generator(similarity, space, np.random.default_rng(0))
    except UsageError as error:
        assert "K >= 2" in str(error)  # noqa: PT017
    else:
        assert sequence == ClassSequence([range(4)])
