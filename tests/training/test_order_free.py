from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from edgecil.errors import DataError
from edgecil.experiments.plan import Prefix
from edgecil.training.order_free import OrderCounts, StageCounter


def count_by_argmax(scores: np.ndarray, labels: np.ndarray, tasks: Prefix) -> OrderCounts:
    """Answer every image after every task by the first largest score in order of arrival."""
    task_of = {class_: number for number, task in enumerate(tasks) for class_ in task}
    correct = np.zeros((len(tasks), scores.shape[1]), dtype=np.int64)
    wrong = np.zeros((len(tasks), len(tasks), 3), dtype=np.int64)
    for stage in range(len(tasks)):
        seen = [class_ for task in tasks[: stage + 1] for class_ in task]
        for own_scores, label in zip(scores, labels, strict=True):
            if label in seen:
                answer = seen[int(own_scores[seen].argmax())]
                if answer == label:
                    correct[stage, label] += 1
                else:
                    side = int(np.sign(task_of[answer] - task_of[label])) + 1
                    wrong[stage, task_of[label], side] += 1
    return OrderCounts(correct, wrong)


@st.composite
def scored_orders(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, list[Prefix]]:
    """Scores with many ties, labels, and orders of some of the classes in tasks of any size."""
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    classes, images = draw(st.integers(1, 8)), draw(st.integers(1, 30))
    scores = rng.integers(0, draw(st.integers(1, 9)), (images, classes)).astype(float)
    labels = rng.integers(0, classes, images)
    used = draw(st.integers(1, classes))
    cuts = sorted(draw(st.sets(st.integers(1, used - 1)))) if used > 1 else []
    orders = []
    for _ in range(draw(st.integers(1, 5))):
        tasks = np.split(rng.permutation(classes)[:used], cuts)
        orders.append(tuple(tuple(sorted(task.tolist())) for task in tasks))
    return scores, labels, orders


@settings(max_examples=60)
@given(scored_orders())
def test_counts_are_those_of_answering_image_by_image(problem) -> None:
    scores, labels, orders = problem
    counted = list(StageCounter(scores, labels).count(orders))
    assert len(counted) == len(orders)
    for tasks, counts in zip(orders, counted, strict=True):
        expected = count_by_argmax(scores, labels, tasks)
        np.testing.assert_array_equal(counts.correct, expected.correct)
        np.testing.assert_array_equal(counts.wrong, expected.wrong)


def test_orders_are_counted_in_parts_that_fit_into_memory(monkeypatch) -> None:
    rng = np.random.default_rng(0)
    scores, labels = rng.normal(size=(50, 6)), rng.integers(0, 6, 50)
    orders = [
        tuple(tuple(sorted(task.tolist())) for task in rng.permutation(6).reshape(3, 2))
        for _ in range(7)
    ]
    together = list(StageCounter(scores, labels).count(orders))
    monkeypatch.setattr("edgecil.training.order_free._AT_ONCE", 300)
    for counts, expected in zip(StageCounter(scores, labels).count(orders), together, strict=True):
        np.testing.assert_array_equal(counts.correct, expected.correct)
        np.testing.assert_array_equal(counts.wrong, expected.wrong)


@pytest.mark.parametrize("scores", [np.full((2, 3), np.nan), np.zeros((3, 3))])
def test_scores_must_be_finite_with_a_row_for_each_image(scores) -> None:
    with pytest.raises(DataError, match="finite, with a row for each of 2 test images"):
        StageCounter(scores, np.array([0, 1]))
