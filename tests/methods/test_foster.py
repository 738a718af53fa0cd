from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
import torch

from edgecil.methods.foster import FOSTER, effective_weights
from edgecil.methods.training_loop import Loss
from tests.toys import HARD, QUICK, TASKS, Bench, learn

BENCH = Bench("foster", HARD, epochs=1)
SCENARIO, trained = BENCH.scenario, BENCH.trained


def probabilities(logits: torch.Tensor, temperature: float = 1.0) -> np.ndarray:
    scaled = np.exp(logits.detach().double().numpy() / temperature)
    return scaled / scaled.sum(axis=1, keepdims=True)


def images(count: int) -> torch.Tensor:
    return torch.randn(count, *HARD.shape, generator=torch.Generator().manual_seed(0))


def test_class_weights_by_hand() -> None:
    """With β = 1/2, one image counts as 1 and two as 3/2: weights 1 and 2/3, or 6/5 and 4/5."""
    assert effective_weights(torch.tensor([1, 2]), 0.5).tolist() == pytest.approx([1.2, 0.8])
    assert effective_weights(torch.tensor([3, 500]), 0.0).tolist() == [1.0, 1.0]


def test_class_weights_count_what_is_trained_on_as_if_old_classes_had_twenty_images() -> None:
    method = trained(1, memory={"per_class": 3})
    with SCENARIO.task(TASKS[:2], 0) as task:
        actual = method.class_weights(task, 0.96)
    assert torch.equal(actual, effective_weights(torch.tensor([20, 20, 80, 80]), 0.96))
    assert actual[0] > actual[2]


def test_the_boosting_loss_by_hand() -> None:
    method = trained(1, distillation=0.5, memory={"per_class": 3})
    before = copy.deepcopy(method.network)
    batch, labels = images(5), torch.tensor([0, 1, 2, 3, 3])
    with SCENARIO.task(TASKS[:2], 0) as task:
        method.begin(task)
        method.grow(task)
        actual = method.loss(batch, labels, task)
    features = method.network.backbone(batch)
    logits = method.network.head(features)
    weights = effective_weights(torch.tensor([20, 20, 80, 80]), 0.96)
    rows, chosen = np.arange(5), labels.numpy()
    aligned = -np.log(probabilities(logits / weights)[rows, chosen]).mean()
    own = method.network.auxiliary(features[:, before.head.feature_size :])
    enhancement = -np.log(probabilities(own)[rows, chosen]).mean()
    wanted, given = probabilities(before(batch), 2.0), probabilities(logits[:, :2], 2.0)
    kept = -(wanted * np.log(given)).sum(axis=1).mean()
    assert actual.item() == pytest.approx(aligned + enhancement + 0.5 * kept, rel=1e-5)


def test_the_compression_loss_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """The teacher's probabilities times the class weights, made to sum to 1, are what is learnt."""
    method, actual, expected = trained(1, memory={"per_class": 3}), [], []
    batch, labels = images(5), torch.tensor([0, 1, 2, 3, 3])
    plain = FOSTER.train

    def watch(self: FOSTER, student: torch.nn.Module, loss: Loss, *rest: Any, **more: Any) -> None:
        if more.get("stage") == "compress":
            weights = effective_weights(torch.tensor([20, 20, 80, 80]), 0.97).numpy()
            wanted = probabilities(self.network(batch), 2.0) * weights
            wanted /= wanted.sum(axis=1, keepdims=True)
            given = probabilities(student.eval()(batch), 2.0)
            expected.append(-(wanted * np.log(given)).sum(axis=1).mean())
            actual.append(loss(batch, labels).item())
        plain(self, student, loss, *rest, **more)

    monkeypatch.setattr(FOSTER, "train", watch)
    learn(method, SCENARIO, TASKS[:2])
    assert actual == pytest.approx(expected, rel=1e-5)
    assert len(actual) == 1


def test_compression_lasts_its_share_without_weight_decay(monkeypatch: pytest.MonkeyPatch) -> None:
    schedules = []
    monkeypatch.setattr(
        "edgecil.methods.network.fit", lambda *args, stage, **_: schedules.append((stage, args[3]))
    )
    method = Bench("foster", HARD).trained(2, compression=0.5)
    assert [stage for stage, _ in schedules] == ["learn", "learn", "compress"]
    assert schedules[1][1] == method.schedule == QUICK
    assert (schedules[2][1].epochs, schedules[2][1].weight_decay) == (3, 0.0)
