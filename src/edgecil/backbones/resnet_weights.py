"""Reading ResNet-18 from a weight file of torchvision or timm.

Both name its tensors alike: `conv1`, `bn1`, `layer1.0.conv1` … `layer4.1.bn2`, `downsample.0` and
`downsample.1` where the shape changes, and the classifier `fc`, which is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import torch

from edgecil.backbones.initialise import build_from
from edgecil.backbones.resnet import ResNet, imagenet_resnet18
from edgecil.io.weights import WeightFiles, read_tensors

_PREFIXES = ("", "model.", "backbone.", "encoder.")
_CLASSIFIER = ("fc.", "head.", "classifier.")
_BLOCK = re.compile(r"layer([1-4])\.(\d+)\.(conv[12]|bn[12]|downsample\.[01])\.(\w+)")


def holds_resnet(names: Iterable[str]) -> bool:
    """Return whether tensors of these names are those of a residual network."""
    return any(re.search(r"(^|\.)layer1\.0\.conv1\.weight$", name) for name in names)


def load_resnet(files: WeightFiles, shape: tuple[int, ...]) -> ResNet:
    """Return a new ResNet-18 with the weights in a file, trainable, in float32, on the CPU.

    Its stem is that of ImageNet networks for images of any size.
    """
    tensors = _without_prefix(read_tensors(files.weights))
    ours = {_our_name(name): tensor for name, tensor in tensors.items()}
    return build_from(
        lambda: imagenet_resnet18(shape[0]), ours, files.weights, "ResNet-18 of torchvision or timm"
    )


def _without_prefix(tensors: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Return the tensors by torchvision's names, without the classifier."""
    prefix = next((one for one in _PREFIXES if f"{one}conv1.weight" in tensors), "")
    own = {name.removeprefix(prefix): tensor for name, tensor in tensors.items()}
    return {name: tensor for name, tensor in own.items() if not name.startswith(_CLASSIFIER)}


def _our_name(name: str) -> str:
    """Our name of a tensor of torchvision's.

    >>> _our_name("layer2.0.downsample.1.bias"), _our_name("bn1.weight")
    ('shallow.stage2.0.shortcut.1.bias', 'shallow.stem.2.weight')
    >>> _our_name("layer4.1.bn2.running_mean")
    'last_stage.stage.1.norm2.running_mean'
    """
    block = _BLOCK.fullmatch(name)
    if block is None:
        return name.replace("conv1.", "shallow.stem.0.").replace("bn1.", "shallow.stem.2.")
    stage, index, part, rest = block.groups()
    place = "last_stage.stage" if stage == "4" else f"shallow.stage{stage}"
    ours = part.replace("bn", "norm").replace("downsample", "shortcut")
    return f"{place}.{index}.{ours}.{rest}"
