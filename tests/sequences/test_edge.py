"""EDGE puts similar classes where the paper says, and its ends lie on either side of random."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pytest

from edgecil.classes import get_classes
from edgecil.classes.registry import BUNDLED
from edgecil.sequences import ClassSequence, SequenceSpace, get_generator, score
from edgecil.sequences.generators.edge import _Packer, clusterings, dealing, granularities
from edgecil.similarity import SimilarityMatrix, text_similarity
from tests.sequences.oracles import (
    PAPER_SPACES,
    Floats,
    matrix,
    near_equal,
    score_by_loops,
)


def edge(goal: str, values: Floats | SimilarityMatrix, sizes) -> ClassSequence:
    similarity = values if isinstance(values, SimilarityMatrix) else SimilarityMatrix.of(values)
    return get_generator("edge", goal)(similarity, SequenceSpace(sizes), np.random.default_rng(0))


def clustered(
    clusters: int, size: int, seed: int, noise: float = 0.0625
) -> tuple[Floats, list[set[int]]]:
    """Similarity 0.875 and more inside clusters, 0.125 between; classes in a random order."""
    rng = np.random.default_rng(seed)
    group = rng.permutation(np.repeat(np.arange(clusters), size))
    inside = 0.875 + noise * np.round(64 * matrix("positive", len(group), seed)) / 64
    values = np.where(group[:, None] == group[None, :], inside, 0.125)
    return values, [set(np.flatnonzero(group == index).tolist()) for index in range(clusters)]


def mean_score(similarity: SimilarityMatrix, space: SequenceSpace) -> float:
    """S of the average sequence: every pair of classes is as likely to be neighbours."""
    N, K = space.classes, space.tasks
    pairs = sum(a * b for a, b in zip(space.sizes, space.sizes[1:], strict=False))
    off = ~np.eye(N, dtype=bool)
    return K / ((K - 1) * N) * pairs * float(similarity.values[off].mean())


@pytest.mark.parametrize("template", ["a photo of a {name}.", "{name}"])
@pytest.mark.parametrize("name", BUNDLED)
def test_on_real_names_hard_and_easy_lie_on_either_side_of_random(name, template) -> None:
    similarity = text_similarity(get_classes(name), template=template)
    spaces = [near_equal(len(similarity), K) for K in (5, 10, 20) if len(similarity) >= K]
    if len(similarity) == 100:
        spaces.append(SequenceSpace.base_increment(100, 50, 10))
    for space in spaces:
        hard, easy = (edge(goal, similarity, space.sizes) for goal in ("hard", "easy"))
        assert hard in space
        assert easy in space
        middle = mean_score(similarity, space)
        assert score(similarity, hard) < middle < score(similarity, easy), space


@pytest.mark.parametrize("sizes", PAPER_SPACES, ids=str)
@pytest.mark.parametrize("kind", ["positive", "signed", "tied"])
def test_in_small_spaces_hard_lies_below_easy(sizes, kind) -> None:
    for seed in range(10):
        values = matrix(kind, sum(sizes), seed)
        hard, easy = (
            score_by_loops(values, edge(goal, values, sizes).tasks) for goal in ("hard", "easy")
        )
        assert hard <= easy if kind == "tied" else hard < easy


@pytest.mark.parametrize(("clusters", "size"), [(2, 3), (3, 3), (5, 4), (4, 8), (10, 10)])
def test_hard_gives_each_cluster_a_task_of_its_own(clusters, size) -> None:
    for seed in range(3):
        values, groups = clustered(clusters, size, seed)
        found = edge("hard", values, (size,) * clusters)
        assert sorted(map(sorted, found.tasks)) == sorted(map(sorted, groups))


@pytest.mark.parametrize(("clusters", "size"), [(2, 4), (3, 3), (4, 8), (5, 10)])
def test_easy_spreads_each_cluster_over_all_tasks(clusters, size) -> None:
    for seed in range(3):
        values, groups = clustered(clusters, size, seed, noise=0.0)
        found = edge("easy", values, (size,) * clusters)
        for task, group in product(found.tasks, groups):
            assert len(group & set(task)) == size // clusters


def test_a_cluster_larger_than_a_task_loses_the_class_that_fits_least() -> None:
    """Classes 0-3 belong together, 3 the least; 4 and 5 have room for it; so have 6 to 8."""
    values = np.full((9, 9), 0.1)
    values[:4, :4] = 0.9
    values[3, :3] = values[:3, 3] = 0.6
    values[4:6, 4:6] = values[6:, 6:] = 0.9
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(9)
        found = edge("hard", values[np.ix_(order, order)], (3, 3, 3))
        tasks = {frozenset(int(order[class_]) for class_ in task) for task in found.tasks}
        assert tasks == {frozenset({0, 1, 2}), frozenset({3, 4, 5}), frozenset({6, 7, 8})}


@pytest.mark.parametrize("kind", ["positive", "signed", "negative"])
def test_what_is_cut_off_a_cluster_is_what_is_least_similar_to_the_rest_of_it(kind) -> None:
    for seed in range(5):
        values = matrix(kind, 7, seed)
        cluster = (6, 2, 0, 5, 3)
        fit = {c: sum(values[c, other] for other in cluster if other != c) for c in cluster}
        partition = _Packer(SimilarityMatrix.of(values), (4, 3)).partition([cluster, (1, 4)])
        assert sorted(cluster, key=fit.__getitem__)[0] == next(c for c in cluster if partition[c])
        assert [partition[c] for c in cluster].count(0) == 4
        assert partition[1] == partition[4] == 1


def test_a_large_first_task_takes_the_large_cluster() -> None:
    values = np.full((100, 100), 0.125)
    values[:50, :50] = 0.5
    for start in range(50, 100, 10):
        values[start : start + 10, start : start + 10] = 0.875
    order = np.random.default_rng(0).permutation(100)
    found = edge("hard", values[np.ix_(order, order)], (50, 10, 10, 10, 10, 10))
    tasks = [sorted(order[list(task)].tolist()) for task in found.tasks]
    assert tasks[0] == list(range(50))
    assert sorted(tasks[1:]) == [list(range(start, start + 10)) for start in range(50, 100, 10)]


def test_hard_starts_at_the_most_remote_task_and_goes_on_to_the_least_similar() -> None:
    """Four tight pairs on a line."""
    position = np.repeat([0, 1, 2, 3], 2)
    found = edge("hard", np.exp(-np.abs(np.subtract.outer(position, position))), (2, 2, 2, 2))
    walked = [tuple(position[list(task)].tolist()) for task in found.tasks]
    assert walked in ([(0, 0), (3, 3), (1, 1), (2, 2)], [(3, 3), (0, 0), (2, 2), (1, 1)])


def test_easy_starts_in_the_middle_and_goes_on_to_the_most_similar() -> None:
    """Five classes on a line, one per task."""
    position = np.arange(5)
    found = edge("easy", -np.abs(np.subtract.outer(position, position)).astype(float), (1,) * 5)
    assert found.order in ((2, 1, 0, 3, 4), (2, 3, 4, 1, 0))


@pytest.mark.parametrize("goal", ["hard", "easy"])
@pytest.mark.parametrize("kind", ["negative", "equal", "zero", "tied"])
def test_any_similarity_will_do(goal, kind) -> None:
    for sizes in ((5, 5, 5), (7, 1, 4), (1, 1, 1)):
        values = matrix(kind, sum(sizes))
        kept = values.copy()
        assert edge(goal, values, sizes) in SequenceSpace(sizes)
        np.testing.assert_array_equal(values, kept)


def test_adding_a_constant_changes_nothing() -> None:
    """Only differences of similarities matter, so the sign of D cannot."""
    values = np.round(matrix("signed", 12) * 64) / 64
    for goal in ("hard", "easy"):
        assert edge(goal, values, (3,) * 4) == edge(goal, values - 16.0, (3,) * 4)


@pytest.mark.parametrize("classes", [2, 3, 100, 256])
def test_all_granularities_are_tried_while_that_is_fast(classes) -> None:
    assert granularities(classes, 2) == list(range(2, classes + 1))


@pytest.mark.parametrize("classes", [257, 345, 1000, 21_841])
@pytest.mark.parametrize("tasks", [1, 2, 13, 97, 250])
def test_beyond_a_grid_with_the_number_of_tasks_is_tried(classes, tasks) -> None:
    counts = granularities(classes, tasks)
    assert counts == sorted(set(counts))
    assert (counts[0], counts[-1]) == (2, classes)
    assert len(counts) <= 65
    assert tasks in counts or tasks == 1
    ratios = np.array(counts[1:]) / np.array(counts[:-1])
    assert ratios[10:].max() < 1.5


@pytest.mark.parametrize("kind", ["signed", "negative"])
def test_clusterings_join_the_two_clusters_whose_worst_pair_is_most_similar(kind) -> None:
    values = matrix(kind, 9)
    clusters = [frozenset({class_}) for class_ in range(9)]
    expected = {9: set(clusters)}
    while len(clusters) > 1:
        first, second = max(
            ((a, b) for a in clusters for b in clusters if a is not b),
            key=lambda pair: min(values[c, e] for c in pair[0] for e in pair[1]),
        )
        clusters = [c for c in clusters if c not in (first, second)] + [first | second]
        expected[len(clusters)] = set(clusters)
    counts = [2, 3, 5, 9]
    for count, found in zip(counts, clusterings(SimilarityMatrix.of(values), counts), strict=True):
        assert {frozenset(cluster) for cluster in found} == expected[count]


@pytest.mark.parametrize("sizes", [(2, 2, 2), (4, 1, 2), (1,) * 5, (1, 6)], ids=str)
def test_cards_are_dealt_in_rounds_until_every_hand_is_full(sizes) -> None:
    hands: Counter[int] = Counter()
    expected = []
    while len(expected) < sum(sizes):
        for task, size in enumerate(sizes):
            if hands[task] < size:
                hands[task] += 1
                expected.append(task)
    assert dealing(sizes).tolist() == expected
