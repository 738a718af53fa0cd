from __future__ import annotations

from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from edgecil.backbones import build_backbone
from edgecil.backbones.pretrained import image_size_of, is_resnet, load_pretrained, statistics_of
from edgecil.errors import DataError
from edgecil.methods.setups import get_schedule

IMAGES = (3, 64, 64)


class ReferenceBlock(nn.Module):
    """A block with the names of torchvision and timm."""

    def __init__(self, channels: int, width: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels, width, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        if stride != 1:
            down = nn.Conv2d(channels, width, 1, stride, bias=False)
            self.downsample = nn.Sequential(down, nn.BatchNorm2d(width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden = self.bn2(self.conv2(torch.relu(self.bn1(self.conv1(x)))))
        return torch.relu(hidden + (self.downsample(x) if hasattr(self, "downsample") else x))


class Reference(nn.Module):
    """ResNet-18, written down a second time."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        for stage, width in enumerate((64, 128, 256, 512)):
            first = ReferenceBlock(64 if stage == 0 else width // 2, width, 1 + (stage > 0))
            blocks = nn.Sequential(first, ReferenceBlock(width, width, 1))
            setattr(self, f"layer{stage + 1}", blocks)
        self.fc = nn.Linear(512, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.max_pool2d(torch.relu(self.bn1(self.conv1(x))), 3, 2, 1)
        for stage in range(1, 5):
            x = getattr(self, f"layer{stage}")(x)
        return x.mean((2, 3))


@pytest.fixture(scope="module")
def reference() -> Reference:
    torch.manual_seed(0)
    network = Reference()
    with torch.no_grad():
        for name, tensor in network.state_dict().items():
            if "running_mean" in name:
                tensor.normal_(0.0, 0.1)
            elif "running_var" in name:
                tensor.uniform_(0.5, 1.5)
    return network.eval()


@pytest.fixture(params=["torchvision", "timm", "checkpoint"])
def weights(request: pytest.FixtureRequest, reference: Reference, tmp_path: Path) -> Path:
    """The weights as torchvision's .pth, timm's .safetensors, or inside a training checkpoint."""
    state = reference.state_dict()
    if request.param == "timm":
        path = tmp_path / "model.safetensors"
        save_file(state, path)
        return path
    path = tmp_path / "resnet18.pth"
    if request.param == "checkpoint":  # with the names of DataParallel
        state = {f"module.{name}": tensor for name, tensor in state.items()}
        torch.save({"epoch": 1, "state_dict": state}, path)
    else:
        old = {name: tensor for name, tensor in state.items() if "num_batches" not in name}
        torch.save(old, path)
    return path


def test_features_are_those_of_the_network_that_was_saved(weights, reference) -> None:
    network = build_backbone(str(weights), IMAGES, torch.Generator()).eval()
    images = torch.rand(2, *IMAGES, generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        torch.testing.assert_close(network(images), reference(images), rtol=1e-4, atol=1e-5)
    assert all(parameter.requires_grad for parameter in network.parameters())
    assert network.feature_size == 512


def test_a_file_is_recognised_and_gets_the_images_of_imagenet(weights) -> None:
    assert is_resnet(str(weights))
    assert statistics_of(str(weights)).mean == (0.485, 0.456, 0.406)
    assert image_size_of(str(weights)) == 224
    assert is_resnet("ResNet18-in1k")
    assert not is_resnet("vit-quickdraw")


def test_the_paper_lowers_the_rate_earlier_with_imagenet_weights(weights) -> None:
    assert get_schedule("paper", str(weights))[0].milestones == (80, 120, 150)
    assert get_schedule("paper", "resnet18-in1k")[0].milestones == (80, 120, 150)
    assert get_schedule("paper", "resnet18")[0].milestones == (60, 120, 170)
    assert get_schedule("paper", "vit-quickdraw")[0].milestones == (60, 120, 170)


def test_what_does_not_fit_is_refused(reference, tmp_path) -> None:
    whole = reference.state_dict()
    torch.save({name: t for name, t in whole.items() if "layer3.1" not in name}, tmp_path / "a.pth")
    with pytest.raises(DataError, match=r"lacks .*stage3\.1"):
        load_pretrained(str(tmp_path / "a.pth"), IMAGES)
    torch.save({**whole, "layer1.2.conv1.weight": torch.zeros(1)}, tmp_path / "b.pth")
    with pytest.raises(DataError, match=r"also has .*stage1\.2"):
        load_pretrained(str(tmp_path / "b.pth"), IMAGES)
    torch.save(whole, tmp_path / "c.pth")
    with pytest.raises(DataError, match=r"\(64, 3, 7, 7\), not \(64, 1, 7, 7\)"):
        load_pretrained(str(tmp_path / "c.pth"), (1, 28, 28))
