from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from edgecil.backbones.vit import Sockets
from edgecil.methods import get_method
from edgecil.methods.adapters import Adapter, adapt, dropout, fresh_adapters, mean_features
from edgecil.methods.frozen_features import PretrainedMethod
from edgecil.methods.task import Scenario
from tests.toys import QUICK, SMALL, build

SCENARIO = Scenario(SMALL)
SCHEDULE = replace(QUICK, epochs=2, optimizer="adam", learning_rate=0.01)


def owner() -> PretrainedMethod:
    return build("ranpac", SMALL)


def generator() -> torch.Generator:
    return torch.Generator().manual_seed(0)


def adapted(tasks: tuple[tuple[int, ...], ...]) -> nn.ModuleList:
    method = owner()
    with SCENARIO.task(tasks, 0) as task:
        return adapt(method.vit, 8, task, SCHEDULE, method.environment)


def test_an_adapter_by_hand() -> None:
    adapter = Adapter(4, 3)
    for parameter in adapter.parameters():
        nn.init.normal_(parameter, generator=generator())
    tokens = torch.randn(2, 5, 4, generator=generator())
    weights = {name: value.numpy() for name, value in adapter.state_dict().items()}
    hidden = np.maximum(tokens.numpy() @ weights["down_weight"].T + weights["down_bias"], 0.0)
    expected = 0.1 * (hidden @ weights["up_weight"].T + weights["up_bias"])
    np.testing.assert_allclose(adapter(tokens).detach().numpy(), expected, rtol=1e-4, atol=1e-6)


def test_fresh_adapters_add_nothing_but_can_learn() -> None:
    vit = owner().vit
    adapters = fresh_adapters(vit, 8, generator())
    images = torch.rand(3, *SMALL.shape, generator=generator())
    assert len(adapters) == vit.layout.depth
    assert torch.equal(vit(images, Sockets(adapters=adapters)), vit(images))
    vit(images, Sockets(adapters=adapters)).sum().backward()
    assert all(bool(adapter.up_weight.grad.any()) for adapter in adapters)


def test_dropout_leaves_out_a_tenth_and_keeps_the_mean_while_it_lasts() -> None:
    adapter = Adapter(200, 200)
    nn.init.ones_(adapter.down_bias)
    nn.init.eye_(adapter.up_weight)
    adapters, tokens = nn.ModuleList([adapter]), torch.zeros(100, 200)
    with dropout(adapters, generator()):
        noisy = adapter(tokens)
        again = adapter(tokens)
    assert noisy.unique().tolist() == pytest.approx([0.0, 0.1 / 0.9])
    assert float((noisy == 0.0).float().mean()) == pytest.approx(0.1, abs=0.01)
    assert not torch.equal(noisy, again)
    assert adapter(tokens).unique().tolist() == pytest.approx([0.1])


def test_adapting_trains_the_adapters() -> None:
    adapters = adapted(((0, 3),))
    assert all(bool(adapter.up_weight.any()) for adapter in adapters)
    assert not any(parameter.requires_grad for parameter in adapters.parameters())


def test_a_single_class_leaves_the_features_as_they_are() -> None:
    method = owner()
    pixels = SCENARIO.test.inputs
    features = method.adapted_features(pixels, adapted(((2,),)))
    assert torch.equal(features, method.frozen_features(pixels))


def test_class_means_by_hand() -> None:
    features = torch.tensor([[1.0, 0.0], [0.0, 4.0], [3.0, 2.0]])
    means = mean_features(features, torch.tensor([0, 1, 0]))
    assert means.tolist() == [[2.0, 1.0], [0.0, 4.0]]


def test_ranpac_does_without_adapters() -> None:
    ranpac = get_method("ranpac")
    needs = [ranpac.needs(ranpac.config(bottleneck=width)) for width in (0, 1)]
    assert needs == ["features", "sockets"]
