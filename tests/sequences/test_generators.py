"""What every generator promises; a new one is tested the moment it is registered."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from edgecil.errors import UsageError
from edgecil.paper import protocols  # noqa: F401  (registers generators)
from edgecil.sequences import ClassSequence, SequenceSpace, generators, get_generator, profile
from edgecil.similarity import SimilarityMatrix
from tests.sequences.oracles import SPACES, Floats, Ints, matrices, matrix, near_equal, symmetric

GENERATORS = [
    pytest.param(generator, id=f"{generator.name}-{generator.goal}")
    for generator in generators()
    if not generator.asks_model
]
BY_SIMILARITY = [param for param in GENERATORS if param.values[0].goal != "random"]
LABEL_FREE = [param for param in BY_SIMILARITY if not param.values[0].numbered]

LARGER = [(30, 4), (23, 5), (12, 12), (26, 3)]


def permuted(values: Floats, order: Ints) -> Floats:
    return values[np.ix_(order, order)]


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


def test_the_papers_generators_are_registered() -> None:
    names = {(generator.name, generator.goal) for generator in generators()}
    for name in ("edge", "edge-released", "optimal", "adversarial", "maxcover"):
        assert {(name, "hard"), (name, "easy")} <= names
    assert {("random", "random"), ("random-legacy", "random")} <= names
    assert all(generator.summary for generator in generators())


@pytest.mark.parametrize("generator", GENERATORS)
@pytest.mark.parametrize("kind", ["signed", "negative", "tied", "equal"])
def test_the_result_lies_in_the_space(generator, kind) -> None:
    spaces = [*map(SequenceSpace, SPACES), *(near_equal(*pair) for pair in LARGER)]
    spaces += [SequenceSpace((50, 10, 10, 10, 10, 10)), SequenceSpace((1, 29))]
    for space in spaces:
        if generator.numbered and space.classes % space.sizes[0]:
            continue  # the authors' published code refuses it
        similarity = SimilarityMatrix.of(matrix(kind, space.classes))
        sequence = generator(similarity, space, np.random.default_rng(0))
        assert sequence in space, space


@pytest.mark.parametrize("generator", GENERATORS)
def test_the_same_seed_gives_the_same_sequence(generator) -> None:
    similarity, space = SimilarityMatrix.of(matrix("tied", 24)), SequenceSpace((4,) * 6)
    first, second = (generator(similarity, space, np.random.default_rng(5)) for _ in range(2))
    assert first == second


@pytest.mark.parametrize("generator", GENERATORS)
def test_the_input_is_left_alone(generator) -> None:
    values = matrix("signed", 24)
    similarity = SimilarityMatrix.of(values.copy())
    generator(similarity, SequenceSpace((4,) * 6), np.random.default_rng(0))
    np.testing.assert_array_equal(similarity.values, values)


@pytest.mark.parametrize("generator", GENERATORS)
@pytest.mark.parametrize("classes", [5, 7])
def test_a_similarity_over_other_classes_is_refused(generator, classes) -> None:
    with pytest.raises(UsageError, match=f"{classes} classes.* 6"):
        generator(
            SimilarityMatrix.of(matrix("signed", classes)),
            SequenceSpace((2, 2, 2)),
            np.random.default_rng(0),
        )


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
        seen, again = vars(profile(plain, first)), vars(profile(other, second))
        for name in ("score", "z", "intra", "lag1", "lag2", "inter"):
            assert again[name] == pytest.approx(seen[name], abs=1e-9), name
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


def test_relabelling_relabels_searched_optima_too() -> None:
    """Weights on five tasks that are no chain: the annealing search, not the exact solution."""
    values, space = np.round(5 * matrix("signed", 10)), SequenceSpace((2,) * 5)
    order = np.random.default_rng(0).permutation(10)
    assert len({tuple(sorted(row)) for row in values.tolist()}) == 10, "tied, but no symmetry"
    for goal in ("hard", "easy"):
        build = get_generator("optimal", goal)
        first, second = (
            build(form, space, np.random.default_rng(1), objective=symmetric(5))
            for form in (SimilarityMatrix.of(values), SimilarityMatrix.of(permuted(values, order)))
        )
        assert relabelled(second, order) == first


@pytest.mark.parametrize("generator", GENERATORS)
def test_one_task_is_the_only_sequence_or_no_question(generator) -> None:
    similarity, space = SimilarityMatrix.of(matrix("signed", 4)), SequenceSpace((4,))
    try:
        sequence = generator(similarity, space, np.random.default_rng(0))
    except UsageError as error:
        assert "K >= 2" in str(error)  # noqa: PT017
    else:
        assert sequence == ClassSequence([range(4)])


@pytest.mark.parametrize(
    ("name", "goal", "sentence"),
    [
        ("edgy", "hard", "'edgy'.*'edge'"),
        ("edge", "median", "'edge'.*'median'"),
        ("random", "hard", "'random'.*'hard'"),
    ],
)
def test_an_unknown_generator_is_named_with_what_there_is(name, goal, sentence) -> None:
    with pytest.raises(UsageError, match=sentence):
        get_generator(name, goal)
