from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from edgecil.backbones import GrowingLinear
from edgecil.methods import Schedule
from edgecil.methods.der import DER
from edgecil.methods.task import Scenario
from tests.toys import QUICK, TASKS, accuracy, build, learn_all, toy_dataset

DATASET = toy_dataset(contrast=60)
SCENARIO = Scenario(DATASET)
BRIEF = replace(QUICK, epochs=1)  # for what does not depend on learning well


def der(schedule: Schedule = QUICK, **settings: object) -> DER:
    return build("der", DATASET, schedule=schedule, settings=settings)


def test_the_loss_is_cross_entropy_and_that_of_the_auxiliary_head() -> None:
    method = learn_all(der(BRIEF, auxiliary=0.5), SCENARIO, TASKS[:1])
    images = torch.randn(5, *DATASET.shape, generator=torch.Generator().manual_seed(0))
    labels = torch.tensor([0, 1, 2, 3, 3])
    with SCENARIO.task(TASKS[:2], 0) as task:
        method.grow(task)
        actual = method.loss(images, labels, task)
    features = method.network.backbone(images)
    own = method.network.auxiliary(method.network.backbone.newest(images)).log_softmax(dim=1)
    chosen = method.network.head(features).log_softmax(dim=1)[torch.arange(5), labels]
    new_or_old = own[torch.arange(5), torch.tensor([0, 0, 1, 2, 2])]
    assert actual.item() == pytest.approx(-(chosen.mean() + 0.5 * new_or_old.mean()).item())


def test_a_first_task_is_plain_training() -> None:
    method = der()
    images = torch.randn(4, *DATASET.shape, generator=torch.Generator().manual_seed(0))
    labels = torch.tensor([0, 1, 1, 0])
    with SCENARIO.task(TASKS[:1], 0) as task:
        method.grow(task)
        actual = method.loss(images, labels, task)
    expected = torch.nn.functional.cross_entropy(method.network(images), labels)
    assert actual.item() == pytest.approx(expected.item())


def test_balancing_teaches_the_head_all_classes_and_moves_nothing_else() -> None:
    method = learn_all(der(memory={"per_class": 4}, balancing=6), SCENARIO, TASKS[:2])
    backbone = method.network.backbone.state_dict()
    before = {name: value.clone() for name, value in backbone.items()}
    fresh = GrowingLinear.of(method.network.head.feature_size, 4, torch.Generator().manual_seed(0))
    method.network.head = fresh
    chance = [accuracy(method, SCENARIO, task) for task in TASKS[:2]]
    with SCENARIO.task(TASKS[:2], 0) as task:
        method.balance(method.memory, task)
    reached = [accuracy(method, SCENARIO, task) for task in TASKS[:2]]
    assert min(reached) >= 0.5 > min(chance)
    assert all(torch.equal(value, before[name]) for name, value in backbone.items())


def test_replay_and_expansion_keep_old_classes_alive() -> None:
    expanding, forgetting = der(), build("finetune", DATASET)
    for method in (expanding, forgetting):
        learn_all(method, SCENARIO, TASKS)
    old = TASKS[0] + TASKS[1]
    assert accuracy(expanding, SCENARIO, old) >= accuracy(forgetting, SCENARIO, old) + 0.2
