from __future__ import annotations

from dataclasses import replace
from math import prod

import numpy as np
import pytest
import torch

from edgecil.data import Dataset, Examples
from edgecil.errors import UsageError
from edgecil.methods.memo import MEMO
from edgecil.methods.task import Scenario, Task
from tests.toys import QUICK, TASKS, build, learn, learn_all, same, toy_dataset

DATASET = toy_dataset(contrast=60)
SCENARIO = Scenario(DATASET)
BRIEF = replace(QUICK, epochs=1)


def memo(**settings: object) -> MEMO:
    return build("memo", DATASET, schedule=BRIEF, settings=settings)


def count(module: torch.nn.Module) -> int:
    return sum(value.numel() for value in module.parameters())


def test_one_shared_stem_and_a_last_stage_per_task() -> None:
    method = memo()
    whole = count(method.network.backbone)
    stem = count(method.network.backbone.shared)
    for tasks in range(1, len(TASKS) + 1):
        learn(method, SCENARIO, TASKS[:tasks])
        assert count(method.network.backbone) == stem + tasks * (whole - stem)


def test_specialised_stages_are_frozen_and_the_generalised_part_goes_on_learning() -> None:
    method = learn_all(memo(), SCENARIO, TASKS[:1])
    before = method.state()["network"]
    learn(method, SCENARIO, TASKS[:2])
    after = method.state()["network"]
    for name in before:
        if name.startswith("backbone.extractors.0"):
            assert same(before[name], after[name]), name
        elif name.startswith("backbone.shared") and name.endswith("conv1.weight"):
            assert not same(before[name], after[name]), name
    old, new = method.network.backbone.extractors
    assert not any(value.requires_grad for value in old.parameters())
    learning = [*new.parameters(), *method.network.backbone.shared.parameters()]
    assert all(value.requires_grad for value in learning)


def test_shared_stages_stand_still_after_the_first_task_if_they_are_not_to_learn() -> None:
    method = memo(train_shared=False)
    states = []
    for tasks in range(1, 3):
        learn(method, SCENARIO, TASKS[:tasks])
        states.append(method.state()["network"])
    shared = [name for name in states[0] if name.startswith("backbone.shared")]
    assert all(same(states[0][name], states[1][name]) for name in shared)
    again = memo(train_shared=False)
    again.restore(method.state())
    for learner in (method, again):
        assert not any(
            value.requires_grad for value in learner.network.backbone.shared.parameters()
        )
        assert all(value.requires_grad for value in learner.network.backbone.newest.parameters())


def test_the_loss_is_cross_entropy_and_that_of_the_auxiliary_head() -> None:
    method = learn_all(memo(auxiliary=0.5), SCENARIO, TASKS[:1])
    images = torch.randn(5, *DATASET.shape, generator=torch.Generator().manual_seed(0))
    labels = torch.tensor([0, 1, 2, 3, 3])
    with SCENARIO.task(TASKS[:2], 0) as task:
        method.grow(task)
        actual = method.loss(images, labels, task)
    maps = method.network.backbone.shared(images)
    old, new = (stage(maps) for stage in method.network.backbone.extractors)
    chosen = method.network.head(torch.cat([old, new], dim=1)).log_softmax(dim=1)
    own = method.network.auxiliary(new).log_softmax(dim=1)
    rows, new_or_old = torch.arange(5), torch.tensor([0, 0, 1, 2, 2])
    expected = -(chosen[rows, labels].mean() + 0.5 * own[rows, new_or_old].mean())
    assert actual.item() == pytest.approx(expected.item())


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
        "memo", dataset, schedule=BRIEF, settings={"count_growth": True, "memory": memory}
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
    method = learn_all(memo(count_growth=True), SCENARIO, TASKS[:1])
    before = method.state()
    said = r"2 last stages use the memory of 1544 of the 80 exemplars of 4 classes"
    with pytest.raises(UsageError, match=said):
        learn(method, SCENARIO, TASKS[:2])
    assert same(method.state(), before)
