"""A space in numbers: each is the one that the theory's own function gives."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from edgecil.errors import UsageError
from edgecil.paper import (
    BOUNDS,
    THEOREM_1,
    THEOREM_2,
    SpaceSummary,
    check_theorem_3,
    greedy_bound,
    space,
)
from edgecil.paper.answer_tables import space_tables
from edgecil.sequences import SequenceSpace
from edgecil.similarity import SimilarityMatrix, save_similarity


def six_classes(least: float) -> SimilarityMatrix:
    drawn = np.random.default_rng(0).uniform(least, 1.0, size=(6, 6))
    return SimilarityMatrix.of((drawn + drawn.T) / 2)


def test_the_paper_s_hundred_classes() -> None:
    summary = space(100, tasks=10, accuracy_range=0.1)
    size = SequenceSpace.equal(100, 10).size
    assert int(summary.size) == size
    by_name = {(bound.name, bound.accuracy_range): bound for bound in summary.bounds}
    assert by_name["theorem1", 1.0].runs == THEOREM_1.runs(size, 0.1, 0.05) == 10_820
    assert by_name["theorem2", 0.1].runs == THEOREM_2.runs(size, 0.1, 0.05, 0.1) == 109
    assert by_name["hoeffding-serfling", 1.0].epsilon == pytest.approx(0.784, abs=1e-3)
    assert ("hoeffding-serfling", 0.1) in by_name
    assert [tail.deviations for tail in summary.tails] == [1, 2, 3]
    assert summary.seen.share_inside == pytest.approx(0.5)
    assert summary.seen.worse_probability == pytest.approx(0.25)
    assert (summary.seen.runs_one_sided, summary.seen.runs_two_sided) == (59, 93)
    assert summary.greedy is None


def test_the_range_is_stated_once_where_it_is_the_whole() -> None:
    names = [bound.name for bound in space(6, tasks=3).bounds]
    assert names == list(BOUNDS)


def test_theorem_4_comes_with_u_and_its_caveat() -> None:
    greedy = space(100, tasks=10, mean_similarity=0.3, max_similarity=0.8).greedy
    assert greedy == greedy_bound(100, 10, 0.3, 0.8)
    assert greedy is not None
    assert (greedy.mean_similarity, greedy.max_similarity) == (0.3, 0.8)
    assert "does not bound S" in greedy.caveat


def test_a_similarity_gives_theorems_3_and_4(tmp_path) -> None:
    similarity = six_classes(0.0)
    save_similarity(similarity, tmp_path / "six.npz")
    summary = space(tasks=3, similarity=tmp_path / "six.npz")
    assert summary.classes == 6
    assert summary.theorem_3 == check_theorem_3(similarity, SequenceSpace.equal(6, 3))
    pairs = similarity.pairs()
    assert summary.greedy is not None
    assert summary.greedy.mean_similarity == pytest.approx(pairs.mean())
    assert summary.greedy.max_similarity == pairs.max()
    assert msgspec.json.decode(msgspec.json.encode(summary), type=SpaceSummary) == summary


def test_theorem_4_says_nothing_of_negative_similarities() -> None:
    summary = space(tasks=3, similarity=six_classes(-5.0))
    assert summary.greedy is None
    assert summary.theorem_3 is not None


@pytest.mark.parametrize("given", [{"classes": 2, "tasks": 2}, {"classes": 4, "tasks": 1}])
def test_a_budget_beyond_the_space_has_no_epsilon(given) -> None:
    summary = space(**given, budget=50)
    assert all(bound.epsilon is None for bound in summary.bounds)
    assert summary.seen.share_inside == 1.0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"classes": 0, "tasks": 1}, r"'classes' .*\[1, 100000\]"),
        ({"classes": 6, "tasks": 3, "accuracy_range": 0.0}, "'accuracy_range'"),
        ({"classes": 6, "tasks": 3, "budget": 0}, "'budget'"),
        ({"classes": 6, "sizes": (4, 2), "mean_similarity": 0.3}, "tasks of one size"),
        ({"classes": 6}, "'tasks'"),
        ({"tasks": 3}, "'classes', 'similarity' or 'given_tasks'"),
        ({"classes": 8, "tasks": 4, "similarity": six_classes(0.0)}, "8"),
        ({"sizes": (4, 2), "similarity": six_classes(0.0)}, "tasks of one size"),
        ({"tasks": 3, "mean_similarity": 0.3, "similarity": six_classes(0.0)}, "not both"),
    ],
)
def test_arguments_out_of_range_are_refused(options, words) -> None:
    with pytest.raises(UsageError, match=words):
        space(**options)


@pytest.mark.parametrize(("budget", "worse"), [(1, 1 / 2), (3, 1 / 4), (5, 1 / 6), (6, 0.0)])
def test_a_new_order_of_a_small_space_is_the_worst_as_often_as_in_a_large_one(
    budget: int, worse: float
) -> None:
    """Of the orders that are run and a new one, each is the worst equally often."""
    summary = space(3, tasks=3, budget=budget)
    assert summary.seen.worse_probability == pytest.approx(worse)


def test_orders_of_given_tasks_are_counted_and_bounded() -> None:
    """Theorem 1 depends on the number of orders alone."""
    names = ["agnews", "amazon", "yelp", "dbpedia", "yahoo"]
    orders_of_tasks = space(given_tasks=names, epsilon=0.5)
    assert orders_of_tasks.given_tasks == tuple(names)
    assert orders_of_tasks.size == "120"
    assert orders_of_tasks.bounds == space(5, tasks=5, epsilon=0.5).bounds
    assert orders_of_tasks.bounds[0].runs == THEOREM_1.runs(120, 0.5, 0.05)
    assert next(iter(space_tables(orders_of_tasks))).title == "|Ω| = 120 task orders (5!)"
    with pytest.raises(UsageError, match="leave out 'classes'"):
        space(given_tasks=names, classes=5)
