from __future__ import annotations

import torch

from edgecil.methods.network import new_classes_only
from edgecil.methods.task import Scenario
from tests.toys import TASKS, accuracy, build, learn_all, toy_dataset

DATASET = toy_dataset()
SCENARIO = Scenario(DATASET)


def test_old_outputs_get_no_gradient() -> None:
    logits = torch.tensor([[5.0, 1.0, 0.0, 2.0]], requires_grad=True)
    new_classes_only(logits, torch.tensor([3]), old_count=2).backward()
    assert logits.grad[0, :2].tolist() == [0.0, 0.0]
    share = torch.softmax(torch.tensor([0.0, 2.0]), dim=0)
    torch.testing.assert_close(logits.grad[0, 2:], share - torch.tensor([0.0, 1.0]))


def test_it_forgets() -> None:
    """Otherwise it would not be a lower bound."""
    method = learn_all(build("finetune", DATASET), SCENARIO, TASKS[:1])
    before = accuracy(method, SCENARIO, TASKS[0])
    learn_all(method, SCENARIO, TASKS[:2])
    method = learn_all(build("finetune", DATASET), SCENARIO, TASKS)
    assert before >= 0.9
    assert accuracy(method, SCENARIO, TASKS[0]) <= before - 0.3
