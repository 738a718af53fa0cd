from __future__ import annotations

from typing import Any

import pytest
import torch

from edgecil.methods import network, slca
from edgecil.methods.class_statistics import ClassGaussians
from edgecil.methods.slca import NormalisedLogits
from tests.toys import SMALL, TASKS, Bench, learn

BENCH = Bench("slca", SMALL, epochs=2)
SCENARIO, trained = BENCH.scenario, BENCH.trained


def test_the_backbone_learns_slowly_from_the_second_task_on(monkeypatch) -> None:
    rates = []

    def note(*args: Any, **named: Any) -> None:
        schedule = args[3]
        rates.append((schedule.learning_rate, schedule.learning_rate * schedule.head_factor))

    monkeypatch.setattr(network, "fit", note)
    trained(2)
    first, second = rates
    rate = BENCH.schedule.learning_rate
    assert first == (rate, rate)
    assert second == pytest.approx((0.01 * rate, rate))


def test_the_next_task_continues_from_the_head_before_the_alignment() -> None:
    method = trained(2)
    head = method.network.head
    before = head.weight.detach().clone(), head.bias.detach().clone()
    assert not torch.allclose(method.aligned.weight, before[0])
    learn(method, SCENARIO, TASKS)
    assert torch.equal(method.network.head.weight[:4], before[0])
    assert torch.equal(method.network.head.bias[:4], before[1])
    assert not torch.allclose(method.aligned.weight[:4], before[0])


def test_means_of_older_classes_are_shrunk_more(monkeypatch) -> None:
    drawn: list[torch.Tensor] = []

    def note(_: Any, statistics: ClassGaussians, *args: Any, **named: Any) -> None:
        drawn.append(statistics.means)

    method = trained(2)
    monkeypatch.setattr(slca, "align_classifier", note)
    learn(method, SCENARIO, TASKS)
    factors = torch.tensor([0.9 + 0.1 / 3] * 2 + [0.9 + 0.2 / 3] * 2 + [1.0] * 2)
    torch.testing.assert_close(drawn[0], method.gaussians.means * factors[:, None])


def test_logits_are_divided_by_the_mean_norm_of_the_tasks() -> None:
    """Norms 5 and 13 of two tasks: their mean is 9."""
    scaled = NormalisedLogits(torch.nn.Identity(), [2, 2], 0.1)
    logits = torch.tensor([[3.0, 4.0, 5.0, 12.0]])
    torch.testing.assert_close(scaled(logits), logits / 9.0 / 0.1)


def test_aligning_prefers_no_task() -> None:
    """Fine-tuning alone predicts the last task for most images."""
    method = trained(3, temperature=None, alignment={"epochs": 20, "learning_rate": 0.1})
    pixels = SCENARIO.test.only(method.seen).inputs
    features = method.features(pixels)
    with torch.no_grad():
        plain = method.network.head(features).argmax(dim=1)
    aligned = method.classify(pixels)["head"]
    counts = [torch.bincount(labels // 2, minlength=3).max() for labels in (plain, aligned)]
    assert counts[1] < counts[0]
