from __future__ import annotations

import copy

import pytest
import torch
from torch import nn

from edgecil.backbones import build_backbone, initialise
from edgecil.backbones.named import BACKBONES, ON_VECTORS
from edgecil.backbones.resnet import PadShortcut
from edgecil.errors import UsageError
from tests.toys import seeded

SHAPES = [(1, 28, 28), (3, 32, 32), (2, 17, 23), (1, 2, 3)]
from_scratch = pytest.mark.parametrize(
    "name", [name for name in BACKBONES if name not in ON_VECTORS]
)


def parameters(network: nn.Module) -> int:
    return sum(parameter.numel() for parameter in network.parameters())


@from_scratch
@pytest.mark.parametrize("shape", SHAPES)
def test_features_have_the_announced_size(name, shape) -> None:
    backbone = build_backbone(name, shape, seeded())
    features = backbone(torch.rand(3, *shape))
    assert features.shape == (3, backbone.feature_size)
    assert features.isfinite().all()


@pytest.mark.parametrize(
    ("name", "shape", "expected"),
    [
        # He et al. 2016: 0.46 M and 11.69 M with their classifiers of 10 and 1000 classes.
        ("resnet32", (3, 32, 32), 464_154 - 10 * 65),
        ("resnet18", (3, 224, 224), 11_689_512 - 1000 * 513),
        # The small stem replaces 7×7 by 3×3 weights: 11.17 M.
        ("resnet18", (3, 32, 32), 11_689_512 - 1000 * 513 - 40 * 3 * 64),
    ],
)
def test_parameter_counts_are_the_published_ones(name, shape, expected) -> None:
    assert parameters(build_backbone(name, shape, seeded())) == expected


def test_resnet18_shrinks_only_large_images_at_the_start() -> None:
    for size, expected in [(32, 32), (64, 64), (96, 24), (128, 32)]:
        stem = build_backbone("resnet18", (3, size, size), seeded()).shallow.stem
        assert stem(torch.rand(2, 3, size, size)).shape == (2, 64, expected, expected)


@from_scratch
def test_two_backbones_can_share_the_shallow_part_and_differ_in_the_last_stage(name) -> None:
    backbone = build_backbone(name, (1, 28, 28), seeded()).eval()
    images = torch.rand(2, 1, 28, 28, generator=seeded())
    maps = backbone.shallow(images)
    assert torch.equal(backbone.last_stage(maps), backbone(images))
    assert torch.allclose(backbone.maps(images).mean(dim=(2, 3)), backbone(images))
    special = copy.deepcopy(backbone.last_stage)
    assert torch.equal(special(maps), backbone(images))
    initialise(special, seeded(1))
    assert not torch.equal(special(maps), backbone(images))
    shared, last = parameters(backbone.shallow), parameters(backbone.last_stage)
    assert shared + last == parameters(backbone)


def test_the_padding_shortcut_strides_and_adds_empty_channels() -> None:
    maps = torch.rand(2, 3, 5, 4)
    padded = PadShortcut(extra=3, stride=2)(maps)
    assert torch.equal(padded[:, :3], maps[:, :, ::2, ::2])
    assert torch.equal(padded[:, 3:], torch.zeros(2, 3, 3, 2))


def test_unknown_names_and_shapes_are_errors() -> None:
    with pytest.raises(UsageError, match="Did you mean 'resnet32'"):
        build_backbone("resnet-23", (3, 32, 32), seeded())
    with pytest.raises(UsageError, match="vectors"):
        build_backbone("resnet32", (3,), seeded())


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
