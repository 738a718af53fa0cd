"""Residual networks (He et al., "Deep residual learning for image recognition", CVPR 2016).

Each network has a `stem`, stages of two-convolution blocks, and global average pooling. Expanding
methods share the shallow part and copy the last stage:
`features = backbone.last_stage(backbone.shallow(images))`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Literal

import torch
from torch import nn
from torch.nn import functional

Shortcut = Literal["pad", "project"]

LARGE_IMAGE = 96  # from this size on, ResNet-18 uses the stem of ImageNet networks
_IMAGENET_WIDTHS = (64, 128, 256, 512)


class Backbone(nn.Module):  # type: ignore[misc]
    """Maps float images (n, c, h, w) to features (n, feature_size).

    Attributes:
        feature_size: length d of a feature vector.
    """

    feature_size: int


class ResNet(Backbone):
    """A residual network in two parts.

    Attributes:
        feature_size: channels of the last stage.
        shallow: `stem` and every stage but the last, images (n, c, h, w) to maps (n, c', h', w').
        last_stage: the last stage and the mean over positions, maps to features (n, d).
    """

    def __init__(
        self, stem: nn.Module, widths: Sequence[int], blocks: int, shortcut: Shortcut
    ) -> None:
        super().__init__()
        stages = [
            _stage(widths[max(0, i - 1)], width, blocks, 1 if i == 0 else 2, shortcut)
            for i, width in enumerate(widths)
        ]
        named = [(f"stage{i}", stage) for i, stage in enumerate(stages[:-1], start=1)]
        self.shallow = nn.Sequential(OrderedDict([("stem", stem), *named]))
        pooled = OrderedDict(stage=stages[-1], pool=nn.AdaptiveAvgPool2d(1), flatten=nn.Flatten())
        self.last_stage = nn.Sequential(pooled)
        self.feature_size = widths[-1]

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Return features (n, feature_size) of images (n, c, h, w)."""
        return self.last_stage(self.shallow(images))

    def maps(self, images: torch.Tensor) -> torch.Tensor:
        """Return the last stage's maps, (n, feature_size, h', w'), whose mean is the feature."""
        return self.last_stage.stage(self.shallow(images))


class Block(nn.Module):  # type: ignore[misc]
    """Two 3×3 convolutions with batch norm, added to their input.

    Where the shape changes, the input is either strided and padded with zero channels (`pad`:
    option A, no weights) or projected by a 1×1 convolution with batch norm (`project`: option B).
    """

    def __init__(self, channels: int, width: int, stride: int, shortcut: Shortcut) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels, width, 3, stride, padding=1, bias=False)
        self.norm1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(width)
        self.shortcut: nn.Module = nn.Identity()
        changes = stride != 1 or channels != width
        if changes and shortcut == "pad":
            self.shortcut = PadShortcut(width - channels, stride)
        elif changes:
            projection = nn.Conv2d(channels, width, 1, stride, bias=False)
            self.shortcut = nn.Sequential(projection, nn.BatchNorm2d(width))

    def forward(self, maps: torch.Tensor) -> torch.Tensor:
        """Maps (n, c, h, w) to maps (n, width, ⌈h / stride⌉, ⌈w / stride⌉)."""
        hidden = functional.relu(self.norm1(self.conv1(maps)), inplace=True)
        residual = self.norm2(self.conv2(hidden))
        return functional.relu(residual + self.shortcut(maps), inplace=True)


class PadShortcut(nn.Module):  # type: ignore[misc]
    """Every stride-th position, with zero channels appended."""

    def __init__(self, extra: int, stride: int) -> None:
        super().__init__()
        self.extra = extra
        self.stride = stride

    def forward(self, maps: torch.Tensor) -> torch.Tensor:
        """Maps (n, c, h, w) to maps (n, c + extra, ⌈h / stride⌉, ⌈w / stride⌉)."""
        kept = maps[:, :, :: self.stride, :: self.stride]
        return functional.pad(kept, (0, 0, 0, 0, 0, self.extra))


class ChannelsLast(nn.Module):  # type: ignore[misc]
    """Convert maps to the channels-last memory format, which is faster on a CPU."""

    def forward(self, maps: torch.Tensor) -> torch.Tensor:
        """Return the same maps (n, c, h, w)."""
        return maps.contiguous(memory_format=torch.channels_last)


def resnet32(shape: tuple[int, ...]) -> ResNet:
    """Return the CIFAR network of 32 layers: 3 stages of 5 blocks, 16/32/64 channels, d = 64."""
    return ResNet(_stem(shape[0], 16), (16, 32, 64), blocks=5, shortcut="pad")


def resnet18(shape: tuple[int, ...]) -> ResNet:
    """Return the ImageNet network of 18 layers: 4 stages of 2 blocks, 64 to 512 channels, d = 512.

    Images under 96 pixels get a 3×3 stem with stride 1 and no pooling, as in the class-incremental
    literature on CIFAR; larger images get the ImageNet stem, which reduces them to a quarter.
    """
    channels, height, width = shape
    if min(height, width) >= LARGE_IMAGE:
        return imagenet_resnet18(channels)
    return ResNet(_stem(channels, 64), _IMAGENET_WIDTHS, blocks=2, shortcut="project")


def imagenet_resnet18(channels: int) -> ResNet:
    """ResNet-18 with the ImageNet stem (7×7, stride 2, pooling) for images of any size."""
    stem = _stem(channels, 64, kernel=7, stride=2, pool=True)
    return ResNet(stem, _IMAGENET_WIDTHS, blocks=2, shortcut="project")


def resnet_tiny(shape: tuple[int, ...]) -> ResNet:
    """Return a small network for small images: 3 stages of 1 block, 16/32/64 channels, d = 64.

    The stem reduces images to a quarter of their size; a 28×28 drawing takes 0.7 million
    multiplications.
    """
    stem = _stem(shape[0], 16, stride=2, pool=True)
    return ResNet(stem, (16, 32, 64), blocks=1, shortcut="pad")


def _stem(
    channels: int, width: int, *, kernel: int = 3, stride: int = 1, pool: bool = False
) -> nn.Sequential:
    layers = [
        nn.Conv2d(channels, width, kernel, stride, padding=kernel // 2, bias=False),
        ChannelsLast(),
        nn.BatchNorm2d(width),
        nn.ReLU(inplace=True),
    ]
    return nn.Sequential(*layers, *[nn.MaxPool2d(3, stride=2, padding=1)] * pool)


def _stage(
    channels: int, width: int, blocks: int, stride: int, shortcut: Shortcut
) -> nn.Sequential:
    first = Block(channels, width, stride, shortcut)
    rest = (Block(width, width, 1, shortcut) for _ in range(blocks - 1))
    return nn.Sequential(first, *rest)
