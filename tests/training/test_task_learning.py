"""What a learner has learned of a task is counted on its training inputs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from edgecil.data import Dataset, Examples
from edgecil.experiments.plan import Node
from edgecil.methods import Environment, get_method
from edgecil.methods.memory import MemoryBudget
from edgecil.methods.task import Scenario
from edgecil.training.node_training import WorkerContext, learn_node
from edgecil.training.task_learning import MOST, LearnedInputs

TASKS = ((0, 2), (1, 3))


def blobs(per_class: int = 20, classes: int = 4) -> Dataset:
    """Classes around the corners of a simplex, far enough apart for class means."""
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(classes), per_class)
    parts = []
    for _ in range(2):
        inputs = 4.0 * np.eye(classes)[labels] + rng.normal(size=(len(labels), classes))
        parts.append(Examples(inputs.astype(np.float32), labels))
    return Dataset("blobs", tuple("abcd"[:classes]), *parts)


def train(method: str, *, steps: int = 100, per_class: int = 20) -> list[Any]:
    """Return the results after each task."""
    entry = get_method(method)
    schedule, _ = entry.schedule("fast", "linear")
    config = entry.configure(replace(schedule, steps=steps), MemoryBudget(), entry.fast_settings)
    environment = Environment((4,), (), (), "linear")
    scenario = Scenario(blobs(per_class))
    context = WorkerContext(scenario, environment, {method: config})
    results, state = [], None
    for end in (1, 2):
        outcome, state = learn_node(context, Node(method, 0, TASKS[:end]), state, keep=True)
        assert outcome.result is not None, outcome.trace
        results.append(outcome.result)
    return results


@pytest.mark.parametrize("method", ["naive", "joint", "er"])
def test_a_trained_learner_has_its_training_inputs_and_class_means_beside_it(method: str) -> None:
    first, second = train(method)
    assert first.training[1] == second.training[1] == 40
    assert first.training[0] >= 39
    assert 38 <= first.class_means <= 40
    assert second.class_means is None


def test_one_step_is_seen_on_the_training_inputs_and_closed_forms_are_not_measured() -> None:
    schedule_of_one_step = train("naive", steps=1)
    assert schedule_of_one_step[1].training[0] < 40
    assert [result.training for result in train("acil")] == [None, None]


def test_many_training_inputs_are_sampled_evenly_and_only_those_of_the_task() -> None:
    scenario = Scenario(blobs(150))
    with scenario.task(TASKS, 0, everything=True) as task:
        learned = LearnedInputs.of(task)
    assert len(learned.inputs) == len(learned.labels) == MOST
    assert torch.bincount(learned.labels).tolist() == [0, 0, MOST // 2, MOST // 2]
    assert not learned.is_first
