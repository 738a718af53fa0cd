"""The text tower in a CLIP weight file, in either of two layouts.

Hugging Face and open_clip (OpenAI's own names) store the same transformer under different names,
with the attention's three input projections apart or stacked, and the output projection one way
or transposed. Everything is asked for by its Hugging Face name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from edgecil.errors import DataError, name_some
from edgecil.io.files import read_json
from edgecil.io.weights import WeightFiles
from edgecil.similarity.pretrained import read_text_tensors

TOKENS = "text_model.embeddings.token_embedding.weight"
POSITIONS = "text_model.embeddings.position_embedding.weight"
PROJECTION = "text_projection.weight"
FIRST_MLP = "text_model.encoder.layers.0.mlp.fc1.weight"

_OPEN_CLIP = (
    (TOKENS, "token_embedding.weight"),
    (POSITIONS, "positional_embedding"),
    (PROJECTION, "text_projection"),
    ("text_model.final_layer_norm.", "ln_final."),
    ("text_model.encoder.layers.", "transformer.resblocks."),
    (".layer_norm1.", ".ln_1."),
    (".layer_norm2.", ".ln_2."),
    (".mlp.fc1.", ".mlp.c_fc."),
    (".mlp.fc2.", ".mlp.c_proj."),
    (".self_attn.out_proj.", ".attn.out_proj."),
)
_STACKED = re.compile(r"\.self_attn\.([qkv])_proj\.")


@dataclass(frozen=True)
class ClipWeights:
    """A CLIP text tower as a file holds it; `prefix` is None for the Hugging Face layout."""

    file: Path
    tensors: dict[str, Any]
    prefix: str | None

    def take(self, names: Iterable[str]) -> dict[str, Any]:
        """Return tensors by their Hugging Face names; one that the file lacks is an error."""
        wanted = {name: self._own(name) for name in names}
        missing = sorted({own for own in wanted.values() if own not in self.tensors})
        if missing:
            raise DataError(
                f"{self.file} is not a complete CLIP text tower: it lacks {name_some(missing)}."
            )
        return {name: self._shaped(name, self.tensors[own]) for name, own in wanted.items()}

    def layers(self) -> int:
        """Return the number of transformer blocks the file has."""
        block = re.escape(self._own("text_model.encoder.layers.")) + r"(\d+)\."
        matches = (re.match(block, name) for name in self.tensors)
        numbers = {int(match[1]) for match in matches if match}
        if numbers != set(range(len(numbers))):
            raise DataError(
                f"{self.file} is not a complete CLIP text tower: its {len(numbers)} transformer "
                "blocks are not numbered from 0."
            )
        return max(1, len(numbers))

    def _own(self, name: str) -> str:
        if self.prefix is None:
            return name
        for theirs, ours in _OPEN_CLIP:
            name = name.replace(theirs, ours)
        return self.prefix + _STACKED.sub(".attn.in_proj_", name)

    def _shaped(self, name: str, tensor: Any) -> Any:
        if self.prefix is None:
            return tensor
        if stacked := _STACKED.search(name):
            return tensor.chunk(3)["qkv".index(stacked[1])]
        return tensor.T.contiguous() if name == PROJECTION else tensor


def read_clip(path: Path) -> ClipWeights:
    """Return the text tower in a weight file, its layout recognised by the names in it."""
    tensors = read_text_tensors(path)
    if any(name.startswith("text_model.") for name in tensors):
        return ClipWeights(path, tensors, None)
    prefix = "text." if any(name.startswith("text.") for name in tensors) else ""
    return ClipWeights(path, tensors, prefix)


def clip_settings(files: WeightFiles, weights: ClipWeights) -> dict[str, Any]:
    """Return arguments of CLIPTextConfig: sizes from the weights, the rest from a configuration.

    Without a config the tower is taken for one of OpenAI's: heads of width 64, quick GELU.
    """
    config = _read_config(files.folder, weights)
    layers = weights.layers()
    stated = config.get("num_hidden_layers") or layers
    if stated != layers:
        raise DataError(
            f"The configuration in {files.folder} states {stated} transformer blocks, but "
            f"{weights.file} has {layers}; give files that belong together."
        )
    held = weights.take([TOKENS, POSITIONS, PROJECTION, FIRST_MLP])
    vocabulary, width = held[TOKENS].shape
    return {
        "hidden_act": "quick_gelu",
        "layer_norm_eps": 1e-5,
        **config,
        "vocab_size": vocabulary,
        "hidden_size": width,
        "intermediate_size": held[FIRST_MLP].shape[0],
        "projection_dim": held[PROJECTION].shape[0],
        "max_position_embeddings": held[POSITIONS].shape[0],
        "num_hidden_layers": layers,
        "num_attention_heads": config.get("num_attention_heads") or max(1, width // 64),
    }


def _read_config(folder: Path, weights: ClipWeights) -> dict[str, Any]:
    path = folder / ("config.json" if weights.prefix is None else "open_clip_config.json")
    if not path.is_file():
        return {}
    try:
        config = read_json(path)
        if weights.prefix is None:
            text = config.get("text_config", config)
            keys = ("hidden_act", "layer_norm_eps", "num_hidden_layers", "num_attention_heads")
            return {key: text[key] for key in keys if text.get(key) is not None}
        model = config.get("model_cfg", config)
        text = model.get("text_cfg", {})
        return {
            "hidden_act": "quick_gelu" if model.get("quick_gelu", False) else "gelu",
            "num_hidden_layers": text.get("layers"),
            "num_attention_heads": text.get("heads"),
        }
    except (ValueError, AttributeError, TypeError) as error:
        raise DataError(f"{path} is not a CLIP configuration: {error}.") from error
