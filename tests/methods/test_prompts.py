from __future__ import annotations

import pytest
import torch

from edgecil.backbones import features
from edgecil.methods.prompts import PromptHead
from edgecil.methods.task import Scenario
from tests.toys import SMALL, TASKS, Bench, learn, same

SCENARIO = Scenario(SMALL)


def test_new_weights_are_small_and_old_ones_stay() -> None:
    head = PromptHead(1000)
    head.grow(5, torch.Generator().manual_seed(0))
    old = head.weight.detach().clone()
    head.grow(5, torch.Generator().manual_seed(1))
    assert torch.equal(head.weight[:5], old)
    assert head.weight.std().item() == pytest.approx(0.02, rel=0.05)
    assert not head.bias.any()


@pytest.mark.parametrize("name", ["l2p", "coda-prompt", "hide-prompt"])
def test_a_restored_state_is_left_alone_by_further_training(name) -> None:
    bench = Bench(name, SMALL, epochs=1, augment=())
    first, second = bench.trained(1), bench.build()
    state, expected = first.state(), first.state()
    second.restore(state)
    learn(second, SCENARIO, TASKS[:2])
    assert same(state, expected)


@pytest.mark.parametrize("name", ["l2p", "coda-prompt", "hide-prompt"])
def test_queries_of_images_seen_before_are_not_computed_again(name, monkeypatch) -> None:
    method = Bench(name, SMALL, epochs=1, augment=()).trained(1)
    before = method.classify(SCENARIO.test.inputs)
    monkeypatch.setattr(features.FeatureBank, "_hold", lambda *_: pytest.fail("computed again"))
    assert same(method.classify(SCENARIO.test.inputs), before)
