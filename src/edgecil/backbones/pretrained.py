"""Pre-trained networks by name, path or hub id: vision transformers, and ResNet-18.

`PRETRAINED` is a table of weights; whether a file holds a transformer
(:class:`~edgecil.backbones.vit.ViT`) or a residual network is read from its tensors. In place of a
name, the path of a weight file or of a folder with one, or a hub id (owner/name), is accepted too.
"""

from __future__ import annotations

import hashlib
import logging
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import msgspec
import torch

from edgecil.backbones import vit_weights
from edgecil.backbones.initialise import build_from
from edgecil.backbones.model_slot import build_model, is_slot_model, model_config, model_fingerprint
from edgecil.backbones.resnet import Backbone, ResNet, imagenet_resnet18
from edgecil.backbones.vit import ViT
from edgecil.data.augment import Normalise
from edgecil.errors import UsageError, unknown_name_error
from edgecil.io.cache import writable_cache
from edgecil.io.files import read_toml, replace_file
from edgecil.io.hub import cached_snapshot, is_hub_id
from edgecil.io.weights import WEIGHTS, WeightFiles, locate_weights, read_tensors, tensor_names
from edgecil.registry import Registry

Shape = tuple[int, ...]

_log = logging.getLogger(__name__)

_DATA = Path(__file__).parent / "data"
_BUNDLED, _CLIP, _RESNET = "vit-quickdraw", "vit-b16-clip", "resnet18-in1k"
_CLASSIFIER = ("fc.", "head.", "classifier.")


@dataclass(frozen=True)
class PretrainedModel:
    """Weights for a vision transformer or ResNet-18."""

    source: str  # a weight file, a folder with one, or a hub id
    summary: str  # architecture and training data in a few words
    # normalisation and side in pixels of its images; None to read them from its files
    statistics: Normalise | None = None
    image_size: int | None = None


_models = msgspec.convert(read_toml(_DATA / "pretrained.toml"), dict[str, PretrainedModel])
_models[_BUNDLED] = replace(_models[_BUNDLED], source=str(_DATA / _models[_BUNDLED].source))
PRETRAINED: Registry[PretrainedModel] = Registry("pre-trained model", _models)

_supplied: dict[str, Path] = {}  # folders with weights that another process sent, by model


def weight_contents(name: str) -> dict[str, bytes]:
    """Return the files of pre-trained weights that other machines require; none if bundled."""
    model = find_pretrained(name)
    if is_slot_model(name) or Path(model.source).is_relative_to(_DATA):
        return {}
    files = _locate(name)
    paths = [files.weights, *(files.folder / setting for setting in files.settings)]
    return {path.name: path.read_bytes() for path in paths if path.is_file()}


def supply_weights(name: str, contents: Mapping[str, bytes]) -> None:
    """Use these files for a model in this process, whatever is stored under its name here."""
    if name in _supplied:
        return
    digest = hashlib.sha256()
    for file_name, content in sorted(contents.items()):
        digest.update(file_name.encode() + b"\0" + hashlib.sha256(content).digest())
    folder = writable_cache() / "weights" / digest.hexdigest()[:32]
    for file_name, content in contents.items():
        path = folder / Path(file_name).name
        if not path.is_file() or path.read_bytes() != content:
            with replace_file(path) as file:
                file.write(content)
    _supplied[name] = next(folder / file for file in contents if Path(file).suffix != ".json")


def is_pretrained(name: str) -> bool:
    """Return whether a name is in the table or the slot, a file or a folder, or a hub id by form.

    A folder must be written with a slash (./vit), to distinguish it from a backbone's name.
    """
    if name in _supplied or is_slot_model(name):
        return True
    path = Path(name).expanduser()
    is_path = path.is_file() or ("/" in name and path.is_dir())
    return name in PRETRAINED or is_path or is_hub_id(name)


def find_pretrained(name: str) -> PretrainedModel:
    """Return the registered model of a name, or a new entry for a path or a hub id."""
    if not is_pretrained(name):
        raise UsageError(
            f"{unknown_name_error('pre-trained model', name, PRETRAINED)} The path of a weight "
            "file or folder, or a hub id (owner/name), is accepted too."
        )
    if name in PRETRAINED:
        return PRETRAINED[name]
    what = "network" if is_slot_model(name) else "weights"
    return PretrainedModel(name, f"your own {what}")


def pretrained_status(name: str) -> tuple[bool, str]:
    """Return whether weights are on this machine, and a sentence on where they are."""
    model = find_pretrained(name)
    about = f"Pre-trained: {model.summary}"
    if is_slot_model(name):
        return True, f"{about}."
    if Path(model.source).expanduser().exists():
        where = "included in edgecil" if name in PRETRAINED else f"in {model.source}"
        return True, f"{about}; {where}."
    if folder := cached_snapshot(model.source, WEIGHTS):
        return True, f"{about}; weights in {folder}."
    return False, (
        f"{about}; its weights are not on this machine: the first use downloads them; without a "
        f"network, {_remedy(model)}."
    )


def load_pretrained(name: str, shape: Shape, seed: int = 0) -> Backbone:
    """Return a new network with pre-trained weights, trainable, in float32, on the CPU.

    The function of a model of the slot is called under the seed.
    """
    if is_slot_model(name):
        return build_model(name, shape, seed)
    return load_resnet(name, shape) if is_resnet(name) else load_vit(name, shape)


@cache
def is_resnet(name: str) -> bool:
    """Return whether pre-trained weights belong to a residual network."""
    if name in PRETRAINED or is_slot_model(name):
        return name in PRETRAINED and PRETRAINED.resolve(name) == _RESNET
    names = tensor_names(_locate(name).weights)
    return any(re.search(r"(^|\.)layer1\.0\.conv1\.weight$", tensor) for tensor in names)


def load_vit(name: str, shape: Shape) -> ViT:
    """Return a new vision transformer with pre-trained weights, trainable, in float32, on the CPU.

    Position embeddings are interpolated if the weights are for images of another size.
    """
    files = _locate(name)
    layout, tensors = vit_weights.read_vit(files)
    positions = vit_weights.resize_positions(tensors["pos_embed"], layout.grid(shape))
    return build_from(
        lambda: ViT(layout, shape),
        {**tensors, "pos_embed": positions},
        files.weights,
        "plain vision transformer in timm's names",
    )


def load_resnet(name: str, shape: Shape) -> ResNet:
    """Return a new ResNet-18 with weights of torchvision or timm, which name its tensors alike.

    Its stem is the one of ImageNet networks, for images of any size; the classifier is left out.
    """
    path = _locate(name).weights
    tensors = read_tensors(path)
    prefixes = ("", "model.", "backbone.", "encoder.")
    with_stem = (prefix for prefix in prefixes if f"{prefix}conv1.weight" in tensors)
    prefix = next(with_stem, "")
    renamed = {}
    for stored_name, tensor in tensors.items():
        inner_name = stored_name.removeprefix(prefix)
        if not inner_name.startswith(_CLASSIFIER):
            renamed[_our_name(inner_name)] = tensor
    kind = "ResNet-18 of torchvision or timm"
    return build_from(lambda: imagenet_resnet18(shape[0]), renamed, path, kind)


def _our_name(name: str) -> str:
    """Our name of a tensor of torchvision's.

    >>> _our_name("layer2.0.downsample.1.bias"), _our_name("bn1.weight")
    ('shallow.stage2.0.shortcut.1.bias', 'shallow.stem.2.weight')
    >>> _our_name("layer4.1.bn2.running_mean")
    'last_stage.stage.1.norm2.running_mean'
    """
    block = re.fullmatch(r"layer([1-4])(\.\d+\.(?:conv[12]|bn[12]|downsample\.[01])\.\w+)", name)
    if block is None:
        return name.replace("conv1.", "shallow.stem.0.").replace("bn1.", "shallow.stem.2.")
    place = "last_stage.stage" if block[1] == "4" else f"shallow.stage{block[1]}"
    return place + block[2].replace("bn", "norm").replace("downsample", "shortcut")


@cache
def frozen_backbone(name: str, shape: Shape, device: str | torch.device) -> Backbone:
    """Return a frozen network in evaluation mode; one per process, shared by all methods.

    A function of the slot is called under seed 0, because all runs share the frozen network.
    """
    network = load_pretrained(name, shape)
    network.to(device).requires_grad_(False).eval()
    return network


def frozen_vit(name: str, shape: Shape, device: str | torch.device) -> ViT:
    """Return a frozen vision transformer; see :func:`frozen_backbone`."""
    network = frozen_backbone(name, shape, device)
    assert isinstance(network, ViT)
    return network


@cache
def statistics_of(name: str) -> Normalise | None:
    """Return the normalisation of a pre-trained network's images, per channel.

    None if a model of the slot does not state it: then the dataset's is used.

    For weights outside the registry it is read from the files beside them
    (preprocessor_config.json, or timm's or open_clip's configuration). Without such a file, a CLIP
    tower gets CLIP's values and a ResNet ImageNet's, and other networks get 0.5 for mean and std,
    with a warning.
    """
    if is_slot_model(name):
        return model_config(name)[0]
    stated = find_pretrained(name).statistics or vit_weights.configured_statistics(_locate(name))
    if stated is not None:
        return stated
    if is_resnet(name):
        return PRETRAINED[_RESNET].statistics
    layout, _ = vit_weights.read_vit(_locate(name))
    if layout.first_norm and layout.channels == 3:
        return PRETRAINED[_CLIP].statistics
    _log.warning(
        "No file beside %s defines the normalisation of images; mean and standard deviation "
        "default to 0.5. Add a preprocessor_config.json with image_mean and image_std to set them.",
        _locate(name).weights,
    )
    half = (0.5,) * layout.channels
    return Normalise(half, half)


@cache
def image_size_of(name: str) -> int | None:
    """Side in pixels of the images that a pre-trained network was trained on; None if unknown."""
    if is_slot_model(name):
        return model_config(name)[1]
    if stated := find_pretrained(name).image_size:
        return stated
    if is_resnet(name):
        return PRETRAINED[_RESNET].image_size
    layout, tensors = vit_weights.read_vit(_locate(name))
    return math.isqrt(tensors["pos_embed"].shape[1] - 1) * layout.patch


def fitting_size(name: str, shape: Shape) -> int | None:
    """Return the size to resize images to for a pre-trained network; None if they fit as they are.

    Position embeddings can be interpolated, but images far from the training size give poor
    features: at 32 pixels, ViT-B/16 sees a grid of 2×2 patches. Images fit if both sides differ
    from the training size by at most an eighth of it.
    """
    size = image_size_of(name)
    fits = size is None or all(8 * abs(side - size) <= size for side in shape[1:])
    return None if fits else size


@cache
def fingerprint(name: str) -> str:
    """Return a digest of the content of pre-trained weight files, or of a model of the slot."""
    if is_slot_model(name):
        return model_fingerprint(name)
    return _locate(name).version


def _locate(name: str) -> WeightFiles:
    model = find_pretrained(name)
    place, needed_by = _supplied.get(name, model.source), f"Backbone {name!r}"
    remedy = f"{_remedy(model)}, or choose another backbone"
    return locate_weights(place, vit_weights.SETTINGS, needed_by=needed_by, remedy=remedy)


def _remedy(model: PretrainedModel) -> str:
    return (
        f"run 'hf download {model.source}' on a machine with a network and use the folder that it "
        "prints in place of the name"
    )
