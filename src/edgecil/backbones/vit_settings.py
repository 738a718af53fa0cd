"""What the files beside a vision transformer's weights say about it.

Weights of our own making have a description of the same name (.json) beside them; transformers,
timm and open_clip have configuration files.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from edgecil.backbones.vit import ViTLayout
from edgecil.errors import DataError
from edgecil.scenario.augment import Normalise
from edgecil.weight_files import WeightFiles

CONFIG, OPEN_CLIP_CONFIG = "config.json", "open_clip_config.json"
PREPROCESSOR = "preprocessor_config.json"
SETTINGS = (CONFIG, OPEN_CLIP_CONFIG, PREPROCESSOR)
HEAD_WIDTH = 64  # unless told otherwise


def described_layout(files: WeightFiles) -> ViTLayout | None:
    """The sizes, if the weights are of our own making."""
    path = _description(files)
    described = _read_json(path).get("layout")
    try:
        return None if described is None else ViTLayout(**described)
    except TypeError as error:
        raise DataError(f"{path} does not describe a vision transformer: {error}.") from error


def told_layout(config: Path) -> dict[str, Any]:
    """What a configuration of transformers, timm or open_clip says, in a ViTLayout's words.

    Args:
        config: its file; if there is none, nothing is told.
    """
    held = _read_json(config)
    if not held:
        return {}
    if config.name == OPEN_CLIP_CONFIG:
        model = held.get("model_cfg", held)
        vision = model.get("vision_cfg", {})
        told = {
            "width": vision.get("width"),
            "depth": vision.get("layers"),
            "activation": "quick_gelu" if model.get("quick_gelu") else "gelu",
        }
        if "width" in vision:
            told["heads"] = vision["width"] // vision.get("head_width", HEAD_WIDTH)
    else:
        vision = held.get("vision_config", held)
        quick = "quickgelu" in held.get("architecture", "")  # timm says it in the network's name
        told = {
            "width": vision.get("hidden_size"),
            "depth": vision.get("num_hidden_layers"),
            "heads": vision.get("num_attention_heads"),
            "norm_eps": vision.get("layer_norm_eps"),
            "activation": "quick_gelu" if quick else vision.get("hidden_act"),
        }
    return {name: value for name, value in told.items() if value is not None}


def told_statistics(files: WeightFiles) -> Normalise | None:
    """How the images are normalised, if any of the files says so."""
    for told in (
        _read_json(_description(files)),
        _read_json(files.folder / PREPROCESSOR),
        _read_json(files.folder / CONFIG).get("pretrained_cfg", {}),
        _read_json(files.folder / OPEN_CLIP_CONFIG).get("preprocess_cfg", {}),
    ):
        for mean, std in (("mean", "std"), ("image_mean", "image_std")):
            if mean in told and std in told:
                return Normalise(tuple(told[mean]), tuple(told[std]))
    return None


def _description(files: WeightFiles) -> Path:
    return files.weights.with_suffix(".json")


def _read_json(path: Path) -> dict[str, Any]:
    """The object in a file; an empty one if there is no such file."""
    if not path.is_file():
        return {}
    try:
        held = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(f"{path} is not a configuration: {error}.") from error
    if not isinstance(held, dict):
        raise DataError(f"{path} is not a configuration: it holds no JSON object.")
    return held
