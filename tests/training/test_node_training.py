from __future__ import annotations

import pickle

import pytest
import torch

from edgecil.experiments.plan import Node
from edgecil.training.node_training import learn_node, pack, packed, train_node, unpack
from tests.training.contexts import DATASET, make_context

FIRST = Node("instant", 0, ((0, 2),))
SECOND = Node("instant", 0, ((0, 2), (1, 3)))


def test_unpacking_runs_no_code() -> None:
    class Trap:
        def __reduce__(self) -> tuple[object, ...]:
            return print, ("code was run",)

    with pytest.raises(pickle.UnpicklingError):
        unpack(pack({"x": Trap()}))


def test_a_node_is_tested_on_all_its_tasks() -> None:
    context = make_context({"instant": {}})
    first, state = train_node(context, FIRST, None, keep=True)
    assert first.result.totals == (40,)
    assert list(first.result.correct) == ["nearest", "farthest"], "the main classifier first"
    second, nothing = train_node(context, SECOND, state, keep=False)
    assert nothing is None
    damaged, _ = train_node(context, SECOND, b"half a fi", keep=False)
    assert (damaged.result, damaged.damaged) == (None, True)
    assert second.result.totals == (40, 40)
    assert second.result.seconds > 0.0
    assert second.result.peak_memory > 10_000_000


def test_right_answers_by_hand() -> None:
    context = make_context({"instant": {}})
    outcome, state = train_node(context, FIRST, None, keep=True)
    method = context.build(FIRST)
    method.restore(unpack(state))
    images = DATASET.test
    for classifier, (right,) in outcome.result.correct.items():
        predicted = method.predict(torch.from_numpy(images.inputs), classifier).numpy()
        relevant = (images.labels == 0) | (images.labels == 2)
        assert right == int(((predicted == images.labels) & relevant).sum())
        (by_class,) = outcome.result.class_correct[classifier]
        assert by_class == tuple(
            int(((predicted == images.labels) & (images.labels == label)).sum()) for label in (0, 2)
        )


def test_wrong_answers_by_the_task_that_they_name() -> None:
    context = make_context({"instant": {}})
    _, state = train_node(context, FIRST, None, keep=True)
    outcome, after = train_node(context, SECOND, state, keep=True)
    method = context.build(SECOND)
    method.restore(unpack(after))
    expected = {name: [[0, 0, 0], [0, 0, 0]] for name in method.classifiers}
    task_of = {0: 0, 2: 0, 1: 1, 3: 1}
    for name in method.classifiers:
        answers = method.predict(torch.from_numpy(DATASET.test.inputs), name).tolist()
        for label, named in zip(DATASET.test.labels.tolist(), answers, strict=True):
            if named != label:
                side = task_of[named] - task_of[label]
                expected[name][task_of[label]][side + 1] += 1
    counts = {name: tuple(map(tuple, rows)) for name, rows in expected.items()}
    assert outcome.result.confusion == counts
    for name, own in outcome.result.confusion.items():
        right = outcome.result.correct[name]
        assert [a + sum(b) for a, b in zip(right, own, strict=True)] == [40, 40]
    assert any(sum(row) for rows in counts.values() for row in rows)


def test_a_state_in_memory_gives_what_the_stored_one_gives() -> None:
    context = make_context({"icarl": {}})
    first, second = Node("icarl", 0, ((0, 2),)), Node("icarl", 0, ((0, 2), (1, 3)))
    _, state = learn_node(context, first, None, keep=True)
    _, from_memory = train_node(context, second, state, keep=True)
    _, from_file = train_node(context, second, packed(state), keep=True)
    assert from_memory is not None
    assert from_memory == from_file


def test_what_only_predictions_read_is_not_stored() -> None:
    context = make_context({"foster": {}})
    first, second = Node("foster", 0, ((0, 2),)), Node("foster", 0, ((0, 2), (1, 3)))
    third = Node("foster", 0, ((0, 2), (1, 3), (4, 5)))
    _, start = train_node(context, first, None, keep=True)
    _, stored = train_node(context, second, start, keep=True)
    assert "boosted" not in unpack(stored)
    method = context.build(second)
    method.restore(unpack(start))
    with context.scenario.task(second.prefix, 0) as task:
        method.learn(task)
    assert "boosted" in method.state()
    ends = [train_node(context, third, it, keep=True)[1] for it in (method.state(), stored)]
    assert ends[0] == ends[1]
