from __future__ import annotations

from dataclasses import replace

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
