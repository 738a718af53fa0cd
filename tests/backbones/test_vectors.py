from __future__ import annotations

import pytest
import torch

from edgecil.backbones import build_backbone
from edgecil.backbones.vectors import fit_input_scale
from tests.toys import seeded


@pytest.mark.parametrize("name", ["linear", "mlp"])
@pytest.mark.parametrize("factor", [0.01, 100.0])
def test_the_scale_of_vectors_does_not_matter_once_it_is_fitted(name: str, factor: float) -> None:
    vectors = 3.0 + torch.randn(20, 6, generator=seeded())
    features = []
    for scale in (1.0, factor):
        network = build_backbone(name, (6,), seeded(1))
        fit_input_scale(network, scale * vectors[:8])
        features.append(network(scale * vectors).detach())
    torch.testing.assert_close(features[0], features[1], rtol=1e-4, atol=1e-5)


def test_the_scale_is_the_root_mean_square_and_part_of_the_state() -> None:
    network = build_backbone("linear", (2,))
    vectors = torch.tensor([[3.0, 4.0], [0.0, 5.0]])
    assert torch.equal(network(vectors), vectors)
    fit_input_scale(network, vectors)
    expected = (50.0 / 4) ** 0.5
    assert network(vectors)[1, 1].item() == pytest.approx(5.0 / expected)
    other = build_backbone("linear", (2,))
    other.load_state_dict(network.state_dict())
    assert torch.equal(other(vectors), network(vectors))


def test_vectors_that_are_all_zero_stay_as_they_are() -> None:
    network = build_backbone("linear", (2,))
    fit_input_scale(network, torch.zeros(3, 2))
    assert network(torch.ones(1, 2)).tolist() == [[1.0, 1.0]]
