from __future__ import annotations

import pytest
import torch
from torch.nn.functional import cross_entropy

from edgecil.methods.task import Scenario
from tests.toys import TASKS, accuracy, build, learn_all, toy_dataset

DATASET = toy_dataset()
SCENARIO = Scenario(DATASET)


def test_the_loss_is_over_all_classes_seen() -> None:
    method = learn_all(build("naive", DATASET), SCENARIO, TASKS[:2])
    with SCENARIO.task(TASKS[:2], 0) as task:
        images = method.environment.pipeline().plain(task.inputs)
        expected = cross_entropy(method.network(images), task.labels)
        assert torch.equal(method.loss(images, task.labels, task), expected)


def test_only_the_last_task_is_left() -> None:
    method = learn_all(build("naive", DATASET), SCENARIO, TASKS)
    assert accuracy(method, SCENARIO, TASKS[-1]) > 0.85
    assert accuracy(method, SCENARIO, method.seen) == pytest.approx(1 / len(TASKS), abs=0.1)
