"""Configuration files beside a vision transformer's weights.

edgecil's own weights have a description of the same name (.json); transformers, timm and open_clip
have configuration files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from edgecil.backbones.vit import ViTLayout
from edgecil.data.augment import Normalise
from edgecil.errors import DataError, shown
from edgecil.io.files import read_json
from edgecil.io.weights import WeightFiles

CONFIG, OPEN_CLIP_CONFIG = "config.json", "open_clip_config.json"
PREPROCESSOR = "preprocessor_config.json"
SETTINGS = (CONFIG, OPEN_CLIP_CONFIG, PREPROCESSOR)
HEAD_WIDTH = 64  # default width of an attention head
_LARGE = 1e9  # no setting is larger


def described_layout(files: WeightFiles) -> ViTLayout | None:
    """Return the layout in edgecil's own description of the weights, if there is one."""
    path = _description(files)
    described = _inside(path, "layout")
    try:
        return ViTLayout(**_of_right_kinds(path, described)) if described else None
    except TypeError as error:
        raise DataError(f"{path} does not describe a vision transformer: {error}.") from error


def configured_layout(config: Path) -> dict[str, Any]:
    """Read the fields of a ViTLayout from a configuration of transformers, timm or open_clip.

    Args:
        config: the file; the result is empty if it does not exist.
    """
    held = _read_json(config)
    if not held:
        return {}
    if config.name == OPEN_CLIP_CONFIG:
        model = _inside(config, "model_cfg") or held
        vision = _inside(config, "model_cfg", "vision_cfg") or _inside(config, "vision_cfg")
        configured = {
            "width": vision.get("width"),
            "depth": vision.get("layers"),
            "heads": _heads(vision),
            "activation": "quick_gelu" if model.get("quick_gelu") else "gelu",
        }
    else:
        vision = _inside(config, "vision_config") or held
        quick = "quickgelu" in str(
            held.get("architecture")
        )  # part of the architecture's name in timm
        configured = {
            "width": vision.get("hidden_size"),
            "depth": vision.get("num_hidden_layers"),
            "heads": vision.get("num_attention_heads"),
            "norm_eps": vision.get("layer_norm_eps"),
            "activation": "quick_gelu" if quick else vision.get("hidden_act"),
        }
    configured = {name: value for name, value in configured.items() if value is not None}
    return _of_right_kinds(config, configured)


def configured_statistics(files: WeightFiles) -> Normalise | None:
    """Return the normalisation of images, if one of the files defines it."""
    for path, *inside in (
        (_description(files),),
        (files.folder / PREPROCESSOR,),
        (files.folder / CONFIG, "pretrained_cfg"),
        (files.folder / OPEN_CLIP_CONFIG, "preprocess_cfg"),
    ):
        configured = _inside(path, *inside)
        for names in (("mean", "std"), ("image_mean", "image_std")):
            mean, std = (configured.get(name) for name in names)
            if mean is not None and std is not None:
                return _normalise(path, mean, std)
    return None


def _normalise(path: Path, mean: Any, std: Any) -> Normalise:
    lists = isinstance(mean, list) and isinstance(std, list) and len(mean) == len(std) > 0
    if not lists or not all(map(_is_number, mean + std)) or min(std) <= 0:
        raise DataError(
            f"{path} has no valid normalisation: it requires lists of means and of standard "
            f"deviations above 0, one value per channel. Got {shown(mean)} and {shown(std)}."
        )
    return Normalise(tuple(mean), tuple(std))


def _of_right_kinds(path: Path, configured: dict[str, Any]) -> dict[str, Any]:
    """Return the configured fields of a ViTLayout, if all have valid values."""
    for entry in fields(ViTLayout):
        value, kind = configured.get(entry.name, entry.default), type(entry.default)
        fits = _is_number(value) if kind is float else type(value) is kind
        if not fits or (_is_number(value) and value <= 0):
            raise DataError(
                f"{path} does not describe a vision transformer: {entry.name} = {value!r}."
            )
    return configured


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) < _LARGE


def _description(files: WeightFiles) -> Path:
    return files.weights.with_suffix(".json")


def _heads(vision: Mapping[str, Any]) -> Any:
    """Return the number of attention heads of an open_clip image tower, if its width is given."""
    width, head_width = vision.get("width"), vision.get("head_width", HEAD_WIDTH)
    if type(width) is not int or type(head_width) is not int or head_width < 1:
        return None
    return width / head_width if width % head_width else width // head_width


def _inside(path: Path, *names: str) -> dict[str, Any]:
    """Return the object at a path of names in a JSON file; empty if there is none."""
    held = _read_json(path)
    for name in names:
        held = {} if held.get(name) is None else held[name]
        if not isinstance(held, dict):
            raise DataError(f"{path} is not a configuration: its {name} is no JSON object.")
    return held


def _read_json(path: Path) -> dict[str, Any]:
    """Return the JSON object in a file; empty if the file does not exist."""
    if not path.is_file():
        return {}
    held = read_json(path)
    if not isinstance(held, dict):
        raise DataError(f"{path} is not a configuration: it contains no JSON object.")
    return held
