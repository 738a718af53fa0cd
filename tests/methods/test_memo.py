from __future__ import annotations

from math import prod

import numpy as np
import pytest
import torch

from edgecil.data import Dataset, Examples
from edgecil.errors import UsageError
from edgecil.methods.memo import MEMO
from edgecil.methods.task import Scenario, Task
from tests.toys import HARD, TASKS, Bench, build, learn, same

BENCH = Bench("memo", HARD, epochs=1)
SCENARIO, trained = BENCH.scenario, BENCH.trained


def count(module: torch.nn.Module) -> int:
    return sum(value.numel() for value in module.parameters())


def test_shared_stages_stand_still_after_the_first_task_if_they_are_not_to_learn() -> None:
    method = BENCH.build(train_shared=False)
    states = []
    for tasks in range(1, 3):
        learn(method, SCENARIO, TASKS[:tasks])
        states.append(method.state()["network"])
    shared = [name for name in states[0] if name.startswith("backbone.shared")]
    assert all(same(states[0][name], states[1][name]) for name in shared)
    again = BENCH.build(train_shared=False)
    again.restore(method.state())
    for learner in (method, again):
        assert not any(
            value.requires_grad for value in learner.network.backbone.shared.parameters()
        )
        assert all(value.requires_grad for value in learner.network.backbone.newest.parameters())


def large_images() -> Dataset:
    """Six classes of 12 images of 3 · 64 · 64 bytes: 18.1 of them are as large as a last stage."""
    rng = np.random.default_rng(0)
    pixels = rng.integers(0, 256, (72, 3, 64, 64), dtype=np.uint8)
    images = Examples(pixels, np.repeat(np.arange(6), 12).astype(np.int64))
    return Dataset("large", tuple("abcdef"), images, images)


@pytest.mark.parametrize("total", [2000, None])
def test_counted_fairly_model_and_exemplars_never_use_more_than_a_fixed_model(
    total: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With 10 a class, 4 classes have 40 − 19 = 4 · 5 + 1 left, and 6 have 60 − 37 = 6 · 3 + 5."""
    dataset = large_images()
    memory = {"total": total, "per_class": 10}
    method = build(
        "memo", dataset, schedule=BENCH.schedule, settings={"count_growth": True, "memory": memory}
    )
    fixed, held, loss = 4 * count(method.network.backbone), [], MEMO.loss

    def within(seen: int) -> None:
        exemplars = len(method.memory) * prod(dataset.shape)
        allowed = fixed + 10 * seen * prod(dataset.shape)
        assert 4 * count(method.network.backbone) + exemplars <= allowed
        held.append(len(method.memory))

    def watch(self: MEMO, images: torch.Tensor, labels: torch.Tensor, task: Task) -> torch.Tensor:
        within(len(task.seen))
        return loss(self, images, labels, task)

    monkeypatch.setattr(MEMO, "loss", watch)
    for tasks in range(1, 4):
        learn(method, Scenario(dataset), TASKS[:tasks])
        within(2 * tasks)
    assert list(dict.fromkeys(held)) == [0, 20, 10, 12, 18]


def test_a_model_that_has_eaten_up_its_exemplars_is_refused_before_training() -> None:
    method = trained(1, count_growth=True)
    before = method.state()
    said = r"2 last stages use the memory of 1544 of the 80 exemplars of 4 classes"
    with pytest.raises(UsageError, match=said):
        learn(method, SCENARIO, TASKS[:2])
    assert same(method.state(), before)
