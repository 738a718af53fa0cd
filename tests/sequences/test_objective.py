"""Every number given to a sequence is what its definition says, computed the long way."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from edgecil.errors import UsageError
from edgecil.sequences import (
    OBJECTIVES,
    ClassSequence,
    Objective,
    SequenceSpace,
    bounds,
    get_objective,
    moments,
    sample_scores,
    score_orders,
)
from edgecil.sequences.objective import (
    adjacent,
    applicable_objectives,
    generalization,
    intra,
    task_similarity,
    to_last,
)
from edgecil.similarity import SimilarityMatrix
from tests.sequences.oracles import (
    PAPER_SPACES,
    SPACES,
    UNEQUAL_SPACES,
    Floats,
    matrix,
    places,
    score_by_loops,
    sequence_at,
    symmetric,
)


def mean_over(values: Floats, tasks, wanted) -> float:
    """Mean similarity of the ordered pairs c ≠ c' whose tasks i, j are wanted."""
    terms = []
    for i, first in enumerate(tasks):
        for j, second in enumerate(tasks):
            for c in first:
                for other in second:
                    if c != other and wanted(i, j):
                        terms.append(values[c, other])
    return sum(terms) / len(terms)


def some_sequences(sizes: tuple[int, ...], count: int = 12) -> list[ClassSequence]:
    rows = places(sizes)
    picked = np.random.default_rng(0).choice(len(rows), min(count, len(rows)), replace=False)
    return [sequence_at(rows[index]) for index in picked]


@pytest.mark.parametrize("sizes", SPACES, ids=str)
@pytest.mark.parametrize("kind", ["signed", "tied"])
def test_s_is_the_papers_four_nested_sums(sizes, kind) -> None:
    values = matrix(kind, sum(sizes))
    objective = adjacent(SequenceSpace(sizes))
    for sequence in some_sequences(sizes):
        expected = score_by_loops(values, sequence.tasks)
        assert objective.value(SimilarityMatrix.of(values), sequence) == pytest.approx(expected)


@pytest.mark.parametrize("sizes", [*PAPER_SPACES, *UNEQUAL_SPACES], ids=str)
def test_means_are_over_the_pairs_that_their_names_say(sizes) -> None:
    values, space, last = matrix("signed", sum(sizes)), SequenceSpace(sizes), len(sizes) - 1
    definitions = {intra: lambda i, j: i == j, to_last: lambda i, j: (i == last) != (j == last)}
    for build, wanted in definitions.items():
        objective = build(space)
        for sequence in some_sequences(sizes):
            expected = mean_over(values, sequence.tasks, wanted)
            value = objective.value(SimilarityMatrix.of(values), sequence)
            assert value == pytest.approx(expected), objective.name


def lemma(vectors: Floats, ratio: float) -> float:
    """Lin et al.'s expected error after K tasks with optima w_1 … w_K, w_0 = 0, no noise."""
    K = len(vectors)
    error = 0.0
    for w in vectors:
        error += ratio**K / K * np.sum(w**2)
    for i, w in enumerate(vectors, start=1):
        for other in vectors:
            error += (1 - ratio) / K * ratio ** (K - i) * np.sum((other - w) ** 2)
    return error


@pytest.mark.parametrize("sizes", [(2, 2, 2), (3, 1, 2), (4, 4), (1, 1, 1, 1), (1, 3, 2, 1)])
@pytest.mark.parametrize("ratio", [0.1, 0.3, 0.9])
def test_generalization_is_the_lemma_up_to_one_constant_for_all_sequences(sizes, ratio) -> None:
    vectors = np.random.default_rng(1).normal(size=(sum(sizes), 5))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    objective = generalization(SequenceSpace(sizes), ratio)
    difference, errors = [], []
    for row in places(sizes):
        sequence = sequence_at(row)
        optima = np.array([vectors[list(task)].sum(axis=0) for task in sequence.tasks])
        errors.append(lemma(optima, ratio))
        difference.append(
            errors[-1] - objective.value(SimilarityMatrix.of_vectors(vectors), sequence)
        )
    assert np.ptp(errors) > 0.01
    np.testing.assert_allclose(difference, difference[0], rtol=1e-10)


@pytest.mark.parametrize(("rows", "columns", "tasks"), [(4, 8, 2), (7, 10, 3)])
def test_overparameterised_linear_learners_make_the_error_of_the_lemma(
    rows, columns, tasks
) -> None:
    """Gaussian data, least change that fits each task: the norm sum runs over all K tasks."""
    rng, learners = np.random.default_rng(0), 20_000
    optima = rng.normal(size=(tasks, columns)) + np.arange(1, tasks + 1)[:, None]
    w = np.zeros((learners, columns))
    for optimum in optima:
        X = rng.normal(size=(learners, rows, columns))
        residual = X @ optimum - np.einsum("lnp,lp->ln", X, w)
        w += np.einsum("lpn,ln->lp", np.linalg.pinv(X), residual)
    errors = ((w[:, None, :] - optima[None]) ** 2).sum(axis=2).mean(axis=1)
    noise = errors.std() / np.sqrt(learners)
    ratio = 1 - rows / columns
    expected = lemma(optima, ratio)
    without_last = expected - ratio**tasks / tasks * np.sum(optima[-1] ** 2)
    assert abs(errors.mean() - expected) < 4 * noise
    assert abs(errors.mean() - without_last) > 10 * noise


@pytest.mark.parametrize("ratio", [0.0, 1.0, -0.1, 2.0])
def test_a_ratio_outside_its_range_is_refused(ratio) -> None:
    with pytest.raises(UsageError, match=rf"in \(0, 1\). Got {ratio}"):
        generalization(SequenceSpace((2, 2)), ratio)


def test_generalization_sees_the_direction_of_time_and_s_does_not() -> None:
    values = SimilarityMatrix.of(matrix("positive", 6))
    space = SequenceSpace((2, 2, 2))
    forward = ClassSequence([[0, 1], [2, 3], [4, 5]])
    backward = ClassSequence(forward.tasks[::-1])
    for objective, sees in ((adjacent(space), False), (generalization(space), True)):
        values_ = [objective.value(values, sequence) for sequence in (forward, backward)]
        assert (values_[0] != pytest.approx(values_[1], rel=1e-6)) is sees


@given(st.sampled_from([(2, 2, 2), (3, 1, 2), (1, 1, 1, 1), (5,), (1, 3, 2)]), st.integers(0, 99))
def test_own_weights_are_applied_to_every_ordered_pair_of_classes(sizes, seed) -> None:
    values, weights = matrix("signed", sum(sizes), seed), symmetric(len(sizes), seed)
    rows = places(sizes)
    row = rows[seed % len(rows)]
    expected = sum(
        weights[row[c], row[other]] * values[c, other]
        for c in range(len(row))
        for other in range(len(row))
        if c != other
    )
    objective = get_objective(weights, SequenceSpace(sizes))
    assert objective.name == "custom"
    assert objective.value(SimilarityMatrix.of(values), sequence_at(row)) == pytest.approx(expected)


def test_hard_and_easy_are_opposite_ends() -> None:
    space = SequenceSpace((2, 2))
    ends = {name: build(space).direction("hard") for name, build in OBJECTIVES.items()}
    assert ends == {"adjacent": "min", "intra": "max", "to-last": "min", "generalization": "max"}
    for name, build in OBJECTIVES.items():
        assert {ends[name], build(space).direction("easy")} == {"min", "max"}


def test_a_name_an_objective_and_weights_are_all_understood() -> None:
    space = SequenceSpace((2, 2))
    named = get_objective("adjacent", space)
    assert named.name == "adjacent"
    assert get_objective(named, space) is named
    np.testing.assert_array_equal(get_objective([[0, 1], [1, 0]], space).weights, [[0, 1], [1, 0]])


@pytest.mark.parametrize(
    ("objective", "sentence"),
    [
        ("adjacence", "'adjacence'.*'adjacent'"),
        (np.eye(3), "2.*2.*tasks"),
        (np.ones((2, 3)), r"K x K matrix. Got shape \(2, 3\)"),
        (np.ones(2), "K x K matrix"),
        ([[0, 1], [2, 0]], "finite and symmetric"),
        ([[0, np.nan], [np.nan, 0]], "finite and symmetric"),
    ],
)
def test_what_is_no_objective_of_the_space_is_refused(objective, sentence) -> None:
    with pytest.raises(UsageError, match=sentence):
        get_objective(objective, SequenceSpace((2, 2)))


def test_weights_are_copied_and_fixed() -> None:
    weights = np.eye(2)
    objective = Objective("own", weights)
    weights[0, 0] = 5
    assert objective.weights[0, 0] == 1
    with pytest.raises(ValueError, match="read-only"):
        objective.weights[0, 0] = 5


def test_weights_that_are_symmetric_up_to_rounding_are_made_so() -> None:
    weights = Objective("own", np.array([[0.0, 1.0], [1.0 + 4e-6, 0.0]])).weights
    np.testing.assert_array_equal(weights, weights.T)


def test_one_task_has_no_neighbours() -> None:
    space = SequenceSpace((4,))
    with pytest.raises(UsageError, match="K >= 2"):
        adjacent(space)
    assert set(applicable_objectives(space)) == {"intra", "generalization"}


def test_tasks_of_one_class_have_no_inside() -> None:
    space = SequenceSpace((1, 1, 1))
    with pytest.raises(UsageError, match=r"no class pairs.*\[1, 1, 1\]"):
        intra(space)
    assert set(applicable_objectives(space)) == set(OBJECTIVES) - {"intra"}


@pytest.mark.parametrize("classes", [3, 5])
@pytest.mark.parametrize(
    "use",
    [
        lambda it, space: bounds(it, space, intra(space)),
        lambda it, space: moments(it, space, intra(space)),
        lambda it, space: score_orders(it, space, np.arange(4)[None]),
        lambda it, space: sample_scores(it, space, 3, np.random.default_rng(0)),
        lambda it, space: task_similarity(it, next(space.enumerate())),
    ],
)
def test_a_similarity_over_other_classes_is_refused(use, classes) -> None:
    with pytest.raises(UsageError, match=rf"\b{classes}\b.*classes|{classes} classes"):
        use(SimilarityMatrix.of(matrix("signed", classes)), SequenceSpace((2, 2)))
