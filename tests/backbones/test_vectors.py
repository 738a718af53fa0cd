from __future__ import annotations

import torch

from edgecil.backbones import build_backbone


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def test_linear_gives_the_vectors_and_has_nothing_to_train() -> None:
    network = build_backbone("linear", (5,), seeded())
    vectors = torch.randn(3, 5, generator=seeded())
    assert torch.equal(network(vectors), vectors)
    assert (network.feature_size, list(network.parameters())) == (5, [])


def test_mlp_ignores_the_scale_of_vectors_and_trains_every_weight() -> None:
    network = build_backbone("mlp", (5,), seeded())
    vectors = torch.randn(3, 5, generator=seeded())
    features = network(vectors)
    assert features.shape == (3, network.feature_size)
    assert torch.allclose(network(100.0 * vectors), features, atol=1e-3)
    features.square().sum().backward()
    assert all(weight.grad is not None for weight in network.parameters())
    again, other = (build_backbone("mlp", (5,), seeded(seed)) for seed in (0, 1))
    assert torch.equal(again(vectors), features)
    assert not torch.equal(other(vectors), features)
