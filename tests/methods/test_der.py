from __future__ import annotations

import torch

from edgecil.backbones import GrowingLinear
from tests.toys import HARD, TASKS, Bench, accuracy

BENCH = Bench("der", HARD)
SCENARIO = BENCH.scenario


def test_balancing_teaches_the_head_all_classes_and_moves_nothing_else() -> None:
    method = BENCH.trained(2, memory={"per_class": 4}, balancing=6)
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
    expanding, forgetting = BENCH.trained(), Bench("finetune", HARD).trained()
    old = TASKS[0] + TASKS[1]
    assert accuracy(expanding, SCENARIO, old) >= accuracy(forgetting, SCENARIO, old) + 0.2
