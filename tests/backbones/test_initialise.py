from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn

from edgecil.backbones import build_backbone, initialise
from edgecil.backbones.initialise import build
from edgecil.backbones.named import BACKBONES, ON_VECTORS
from edgecil.backbones.vit import ViT, ViTLayout
from tests.backbones.test_vit import LAYOUTS, SHAPE
from tests.toys import seeded

RESIDUAL = [name for name in BACKBONES if name not in ON_VECTORS]
Make = Callable[[torch.Generator], nn.Module]
every_network = pytest.mark.parametrize(
    "make",
    [
        *(lambda source, name=name: build_backbone(name, SHAPE, source) for name in RESIDUAL),
        *(lambda source, it=it: build(lambda: ViT(it, SHAPE), source) for it in LAYOUTS.values()),
    ],
    ids=[*RESIDUAL, *LAYOUTS],
)


@every_network
def test_weights_come_from_the_generator_alone(make: Make) -> None:
    before = torch.get_rng_state()
    first = make(seeded(5)).state_dict()
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(1234)
    again, other = (make(seeded(seed)).state_dict() for seed in (5, 6))
    assert first.keys() == again.keys()
    assert all(torch.equal(first[name], again[name]) for name in first)
    drawn = [name for name, value in first.items() if value.ndim > 1]
    assert drawn
    assert not any(torch.equal(first[name], other[name]) for name in drawn)


@every_network
def test_every_weight_receives_a_gradient(make: Make) -> None:
    network = make(seeded())
    features = network(torch.randn(8, *SHAPE, generator=seeded(2)))
    (features * torch.randn(features.shape, generator=seeded(3))).sum().backward()
    for name, parameter in network.named_parameters():
        assert parameter.grad.abs().sum() > 0, name


@pytest.mark.parametrize("name", RESIDUAL)
def test_convolutions_have_the_variance_of_kaiming_and_norms_are_the_identity(name) -> None:
    for module in build_backbone(name, (3, 32, 32), seeded()).modules():
        if isinstance(module, nn.Conv2d):
            fan_out = module.out_channels * module.kernel_size[0] * module.kernel_size[1]
            spread = (module.weight**2).mean().item() * fan_out / 2
            assert spread == pytest.approx(1, abs=6 / module.weight.numel() ** 0.5)
        elif isinstance(module, nn.BatchNorm2d):
            assert (module.weight == 1).all()
            assert (module.running_var == 1).all()
            assert (module.bias == 0).all()
            assert (module.running_mean == 0).all()
            assert module.num_batches_tracked == 0


def test_tokens_and_linear_maps_start_with_std_002() -> None:
    wide = ViTLayout(channels=1, patch=4, width=128, depth=1, heads=2, hidden=256)
    vit = build(lambda: ViT(wide, (1, 32, 32)), seeded())
    for weight in (vit.cls_token, vit.pos_embed, vit.blocks[0].mlp.fc1.weight):
        assert weight.std().item() == pytest.approx(0.02, rel=4 / weight.numel() ** 0.5)
    assert not vit.blocks[0].attn.qkv.bias.any()


def test_a_module_without_a_rule_is_refused() -> None:
    with pytest.raises(TypeError, match="Embedding"):
        initialise(nn.Embedding(2, 2), seeded())
