"""EDGE: each variant follows the paper; `edge` is the most extreme of them in S."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from edgecil.classes import get_classes
from edgecil.sequences import ClassSequence, SequenceSpace, score
from edgecil.sequences.edge import VARIANTS, _clusters, granularities
from edgecil.sequences.protocols.extremes import EDGE
from edgecil.similarity import SimilarityMatrix, text_similarity
from tests.sequences.oracles import Floats, matrices, matrix, score_by_loops

GOALS = ("hard", "easy")
PAPER_DATASETS = ("cifar100", "cub200", "imagenet-r", "imagenet-a")


def load_transcription() -> Any:
    path = Path(__file__).parents[2] / "benchmarks" / "paper_algorithm.py"
    spec = spec_from_file_location("paper_algorithm", path)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def edge(goal: str, values: Floats | SimilarityMatrix, sizes: Any) -> ClassSequence:
    similarity = values if isinstance(values, SimilarityMatrix) else SimilarityMatrix.of(values)
    return EDGE.construct(similarity, SequenceSpace(sizes), goal, np.random.default_rng(0))


def clustered(
    clusters: int, size: int, seed: int, noise: float = 0.0625
) -> tuple[Floats, list[set[int]]]:
    """Similarity 0.875 and more inside clusters, 0.125 between; classes in a random order."""
    rng = np.random.default_rng(seed)
    group = rng.permutation(np.repeat(np.arange(clusters), size))
    inside = 0.875 + noise * np.round(64 * matrix("positive", len(group), seed)) / 64
    values = np.where(group[:, None] == group[None, :], inside, 0.125)
    return values, [set(np.flatnonzero(group == index).tolist()) for index in range(clusters)]


def require_the_most_extreme_variant(similarity: SimilarityMatrix, space: SequenceSpace) -> None:
    """`edge` is as extreme in S as the most extreme of the variants."""
    for goal, sign in (("hard", 1.0), ("easy", -1.0)):
        reached = sign * score(similarity, edge(goal, similarity, space.sizes))
        values = [
            sign * score(similarity, variant(similarity, space))
            for variant in VARIANTS.values()
            if variant.goal == goal
        ]
        assert reached == pytest.approx(min(values), rel=1e-9, abs=1e-9), (goal, space)


# the paper


def require_the_printed(similarity: SimilarityMatrix, tasks: int) -> None:
    """With the same numbers of classes, the printed variants are the transcription's sequences."""
    paper = load_transcription()
    space = SequenceSpace.equal(len(similarity), tasks)
    values = np.asarray(similarity.values, dtype=float)
    transcribed = {"algorithm-1": paper.hard_sequence, "algorithm-2": paper.easy_sequence}
    for name, transcription in transcribed.items():
        order = VARIANTS[name].build(similarity, space)
        sequence = ClassSequence.from_order(order.tolist(), space.sizes)
        printed = ClassSequence(transcription(values.tolist(), tasks))
        assert score_by_loops(values, sequence.tasks) == pytest.approx(
            score_by_loops(values, printed.tasks)
        )
        # With three tasks S depends on the middle one alone, and candidates tie.
        assert sequence == printed or tasks <= 3, name


@pytest.mark.parametrize("kind", ["positive", "signed"])
@pytest.mark.parametrize(
    ("classes", "tasks"), [(6, 3), (8, 4), (12, 2), (20, 5), (30, 10), (40, 4), (100, 10)]
)
def test_the_printed_variants_are_the_printed_pseudo_code(classes, tasks, kind) -> None:
    for seed in range(2 if classes > 50 else 6):
        require_the_printed(SimilarityMatrix.of(matrix(kind, classes, seed)), tasks)


@pytest.mark.slow
@pytest.mark.parametrize("name", PAPER_DATASETS)
def test_so_they_are_on_the_paper_s_datasets_with_their_own_numbering(name) -> None:
    """Bare names: the similarities in reference/sequences.md, some of them negative."""
    similarity = text_similarity(get_classes(name), template="{name}")
    assert np.asarray(similarity.values).min() < 0
    require_the_printed(similarity, 10)


def test_the_released_variants_are_the_constructors_with_the_right_number_of_classes() -> None:
    """For 200 classes the published code has the right number: its candidates are among ours."""
    from edgecil.paper.edge_released import BLOCK_COUNTS, block_order

    values = np.round(matrix("positive", 200, 3) * 2**20) / 2**20
    similarity, space = SimilarityMatrix.of(values), SequenceSpace.equal(200, 10)
    for goal, sign in (("hard", 1.0), ("easy", -1.0)):
        order = VARIANTS[f"released-{goal}"].build(similarity, space)
        ours = score(similarity, ClassSequence.from_order(order.tolist(), space.sizes))
        for count in BLOCK_COUNTS:
            order = block_order(values.astype(np.float32), count, pack_similar=goal == "hard")
            theirs = score(similarity, ClassSequence.from_order(order, space.sizes))
            assert sign * ours <= sign * theirs + 1e-6


# S chooses among the readings


@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_it_is_the_most_extreme_of_its_variants(data) -> None:
    sizes = data.draw(
        st.one_of(
            st.lists(st.integers(1, 5), min_size=2, max_size=6),
            st.sampled_from([(4,) * 6, (3,) * 9, (5,) * 5, (13, 4, 4, 4), (1,) * 22, (11, 12)]),
        )
    )
    values = data.draw(matrices(sum(sizes)))
    require_the_most_extreme_variant(SimilarityMatrix.of(values), SequenceSpace(sizes))


def test_its_z_on_the_paper_s_datasets() -> None:
    """z of S on bare names in ten tasks; the row of `edge` in docs/reference/sequences.md."""
    from edgecil.sequences import profile

    reached = {}
    for name in PAPER_DATASETS:
        similarity = text_similarity(get_classes(name), template="{name}")
        sizes = SequenceSpace.equal(len(similarity), 10).sizes
        reached[name] = [round(profile(similarity, edge(g, similarity, sizes)).z, 1) for g in GOALS]
    assert reached == {
        "cifar100": [-11.9, 8.7],
        "cub200": [-13.8, 21.8],
        "imagenet-r": [-14.4, 18.1],
        "imagenet-a": [-10.7, 14.0],
    }


# what the sequences look like


@pytest.mark.parametrize(("clusters", "size"), [(2, 3), (5, 5), (4, 8), (10, 10)])
def test_the_text_s_hard_sequence_gives_each_cluster_a_task_of_its_own(clusters, size) -> None:
    for seed in range(3):
        values, groups = clustered(clusters, size, seed)
        space = SequenceSpace((size,) * clusters)
        for name in ("algorithm-1", "text-hard"):
            sequence = VARIANTS[name](SimilarityMatrix.of(values), space)
            assert sorted(map(sorted, sequence.tasks)) == sorted(map(sorted, groups))


def test_a_cluster_larger_than_a_task_loses_the_class_that_fits_least() -> None:
    """Classes 0-3 belong together, 3 the least; 4 and 5 have room for it; so have 6 to 8."""
    values = np.full((9, 9), 0.1)
    values[:4, :4] = 0.9
    values[3, :3] = values[:3, 3] = 0.6
    values[4:6, 4:6] = values[6:, 6:] = 0.9
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(9)
        similarity = SimilarityMatrix.of(values[np.ix_(order, order)])
        sequence = VARIANTS["text-hard"](similarity, SequenceSpace((3, 3, 3)))
        tasks = {frozenset(int(order[class_]) for class_ in task) for task in sequence.tasks}
        assert tasks == {frozenset({0, 1, 2}), frozenset({3, 4, 5}), frozenset({6, 7, 8})}


def test_a_large_first_task_takes_the_large_cluster() -> None:
    values = np.full((100, 100), 0.125)
    values[:50, :50] = 0.5
    for start in range(50, 100, 10):
        values[start : start + 10, start : start + 10] = 0.875
    order = np.random.default_rng(0).permutation(100)
    sequence = edge("hard", values[np.ix_(order, order)], (50, 10, 10, 10, 10, 10))
    tasks = [sorted(order[list(task)].tolist()) for task in sequence.tasks]
    assert tasks[0] == list(range(50))
    assert sorted(tasks[1:]) == [list(range(start, start + 10)) for start in range(50, 100, 10)]


def test_adding_a_constant_changes_nothing() -> None:
    """Only differences of similarities matter, so the sign of D cannot."""
    values = np.round(matrix("signed", 24) * 64) / 64
    for goal in GOALS:
        first, second = (edge(goal, values - shift, (4,) * 6) for shift in (0.0, 16.0))
        assert score_by_loops(values, first.tasks) == pytest.approx(
            score_by_loops(values, second.tasks)
        )


# granularities and clusters


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
@pytest.mark.parametrize(("cluster", "sign"), [("similar", 1.0), ("dissimilar", -1.0)])
def test_the_tree_joins_the_two_clusters_whose_worst_pair_is_best(kind, cluster, sign) -> None:
    values = matrix(kind, 9)
    first, inside = _clusters(values, cluster, np.arange(9, 0, -1))
    for finer, coarser in pairwise(first):
        members = [frozenset(np.flatnonzero(finer == label).tolist()) for label in set(finer)]
        pair = max(
            combinations(members, 2),
            key=lambda pair: min(sign * values[c, e] for c in pair[0] for e in pair[1]),
        )
        expected = finer.copy()
        expected[[*pair[0], *pair[1]]] = min(pair[0] | pair[1])
        assert coarser.tolist() == expected.tolist()
    np.testing.assert_allclose(inside[-1], values.sum(axis=1))
