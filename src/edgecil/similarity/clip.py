"""CLIP text towers through transformers, from Hugging Face or open_clip weights.

All of OpenAI's CLIP models share one text architecture at different widths, so one loader serves
them; sizes come from the weights. Hugging Face and open_clip (OpenAI's own names) store the same
transformer under different names. In open_clip's files the attention's three input projections are
stacked and the output projection is transposed.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from edgecil.errors import DataError, UsageError
from edgecil.io.cache import writable_cache
from edgecil.io.files import read_json, read_toml, replace_file
from edgecil.io.hub import cached_snapshot, hub_folder
from edgecil.io.weights import WeightFiles
from edgecil.similarity.text_models import BUNDLED_SERVES, TOKENIZERS, PretrainedEncoder

TOKENIZER = "openai/clip-vit-base-patch32"
_MERGES = 49_152 - 256 - 2  # of the published vocabulary
_TOKENS = "text_model.embeddings.token_embedding.weight"
_POSITIONS = "text_model.embeddings.position_embedding.weight"
_PROJECTION = "text_projection.weight"
_FIRST_MLP = "text_model.encoder.layers.0.mlp.fc1.weight"


class ClipEncoder(PretrainedEncoder):
    """A CLIP text tower.

    Attributes:
        half: whether numbers have half precision, which its version includes.
    """

    def __init__(
        self,
        name: str,
        files: WeightFiles,
        *,
        sizes: tuple[int, int] | None = None,
        activation: str | None = None,
        half: bool = False,
    ) -> None:
        """See :func:`edgecil.similarity.get_encoder` for named ones.

        Args:
            name: the encoder's name.
            files: where weights, settings and tokenizer are.
            sizes: the (width, projection) that the named encoder has; other weights are refused.
            activation: overrides what the settings say.
            half: use half precision on a GPU, as OpenAI's package does; it does not on processors.
        """
        super().__init__(name, files)
        self._sizes = sizes
        self._activation = activation
        if half:
            import torch

            half = torch.cuda.is_available()
        self.half = half
        self._device = "cuda" if half else "cpu"
        if half:
            self.version += ", half precision"

    def _pool(self, model: Any, tokens: Any) -> Any:
        import torch

        tokens = tokens.to(self._device)
        hidden = model.text_model(tokens.input_ids, tokens.attention_mask)
        end = tokens.attention_mask.sum(dim=1) - 1
        last = hidden.last_hidden_state[torch.arange(len(end)), end]
        vectors = model.text_projection(last)
        if self.half:  # OpenAI's users divide by the length in half precision
            vectors = vectors / vectors.norm(dim=-1, keepdim=True)
        return vectors.cpu()

    def _load(self) -> tuple[Any, Any]:
        import torch
        from transformers import CLIPTextConfig, CLIPTextModelWithProjection

        tensors = self._tensors()
        is_open_clip = not any(name.startswith("text_model.") for name in tensors)
        if is_open_clip:
            tensors = _hugging_face_names(tensors)
        settings = self._settings(tensors, is_open_clip=is_open_clip)
        tokenizer = self._tokenizer(settings["vocab_size"])
        model = CLIPTextModelWithProjection(CLIPTextConfig(**settings))
        self._fill(model, tensors)
        precision = torch.float16 if self.half else torch.float32
        return model.to(self._device, precision).eval(), tokenizer

    def _settings(self, tensors: Mapping[str, Any], *, is_open_clip: bool) -> dict[str, Any]:
        """Return arguments of CLIPTextConfig: sizes from the weights, the activation from settings.

        Heads have a width of 64 in every tower of CLIP; the activation is OpenAI's by default.
        """
        needed = (_TOKENS, _POSITIONS, _PROJECTION, _FIRST_MLP)
        self._refuse_without(name for name in needed if name not in tensors)
        activation, stated_layers = _read_config(self._files.folder, is_open_clip=is_open_clip)
        blocks = [re.match(r"text_model\.encoder\.layers\.(\d+)\.", name) for name in tensors]
        layers = 1 + max(int(block[1]) for block in blocks if block)
        if stated_layers not in (None, layers):
            raise DataError(
                f"The configuration in {self._files.folder} states {stated_layers} transformer "
                f"blocks, but {self._files.weights} has {layers}; give files that belong together."
            )
        vocabulary, width = tensors[_TOKENS].shape
        sizes = (width, tensors[_PROJECTION].shape[0])
        if self._sizes not in (None, sizes):
            raise UsageError(
                f"{self._files.weights} is not {self.name}: width and projection are {sizes}, "
                f"those of {self.name} are {self._sizes}; give that encoder's weights."
            )
        return {
            "hidden_act": self._activation or activation or "quick_gelu",
            "vocab_size": vocabulary,
            "hidden_size": width,
            "intermediate_size": tensors[_FIRST_MLP].shape[0],
            "projection_dim": sizes[1],
            "max_position_embeddings": tensors[_POSITIONS].shape[0],
            "num_hidden_layers": layers,
            "num_attention_heads": width // 64,
        }

    def _tokenizer(self, vocabulary: int) -> Any:
        from transformers import CLIPTokenizerFast

        folder = self._files.folder
        if not any((folder / name).is_file() for name in TOKENIZERS):
            remedy = (
                f"CLIP's tokenizer is not beside the weights in {folder}, so copy vocab.json and "
                f"merges.txt of {TOKENIZER} there ({BUNDLED_SERVES})"
            )
            folder = packaged_tokenizer() or hub_folder(
                TOKENIZER, TOKENIZERS, needed_by=f"Encoder {self.name!r}", remedy=remedy
            )
        tokenizer = self._read(CLIPTokenizerFast, folder)
        if len(tokenizer) > vocabulary:
            raise DataError(
                f"The tokenizer in {folder} has {len(tokenizer)} tokens but the weights in "
                f"{self._files.weights} have {vocabulary}; they do not belong together."
            )
        return tokenizer


def _hugging_face_names(tensors: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tensors of an open_clip file by their Hugging Face names, in that layout."""
    replacements = read_toml(Path(__file__).parent / "data" / "clip_names.toml")
    renamed = {}
    for open_clip_name, tensor in tensors.items():
        name = open_clip_name.removeprefix("text.")
        for old_part, new_part in replacements.items():
            name = name.replace(old_part, new_part)
        if ".in_proj_" in name:
            for letter, projection in zip("qkv", tensor.chunk(3), strict=True):
                renamed[name.replace(".in_proj_", f".{letter}_proj.")] = projection
        else:
            renamed[name] = tensor.T.contiguous() if name == _PROJECTION else tensor
    return renamed


def _read_config(folder: Path, *, is_open_clip: bool) -> tuple[str | None, int | None]:
    """Return the activation and the number of blocks that a configuration states."""
    path = folder / ("open_clip_config.json" if is_open_clip else "config.json")
    if not path.is_file():
        return None, None
    try:
        config = read_json(path)
        if is_open_clip:
            model = config.get("model_cfg", config)
            activation = "quick_gelu" if model.get("quick_gelu") else "gelu"
            return activation, model.get("text_cfg", {}).get("layers")
        text = config.get("text_config", config)
        return text.get("hidden_act"), text.get("num_hidden_layers")
    except (ValueError, AttributeError, TypeError) as error:
        raise DataError(f"{path} is not a CLIP configuration: {error}.") from error


def packaged_tokenizer() -> Path | None:
    """Return a folder with CLIP's tokenizer, made of the vocabulary in a package of CLIP.

    OpenAI's `clip` and `open_clip` come with the merges of the byte pairs, from which the
    vocabulary follows: bytes, bytes that end a word, merged pairs, and the two ends of a text.
    """
    from transformers.convert_slow_tokenizer import bytes_to_unicode

    path = packaged_merges()
    if path is None:
        return None
    lines = gzip.decompress(path.read_bytes()).decode().split("\n")
    merges = lines[1 : _MERGES + 1]
    letters = list(bytes_to_unicode().values())
    tokens = [*letters, *(f"{letter}</w>" for letter in letters)]
    tokens += [merge.replace(" ", "") for merge in merges]
    tokens += ["<|startoftext|>", "<|endoftext|>"]
    folder = writable_cache() / "tokenizers" / "clip"
    vocabulary = {token: number for number, token in enumerate(tokens)}
    contents = {
        "vocab.json": json.dumps(vocabulary),
        "merges.txt": "\n".join(["#version: 0.2", *merges, ""]),
    }
    for name, text in contents.items():
        with replace_file(folder / name) as file:
            file.write(text.encode())
    return folder


def packaged_merges() -> Path | None:
    """Return the file with the merges of byte pairs in an installed package of CLIP."""
    for package in ("clip", "open_clip"):
        spec = find_spec(package)
        for place in (spec and spec.submodule_search_locations) or ():
            path = Path(place) / "bpe_simple_vocab_16e6.txt.gz"
            if path.is_file():
                return path
    return None


def tokenizer_status(weights: Path | None) -> tuple[bool, str]:
    """Return whether CLIP's tokenizer is here, and where, or what to do."""
    beside = weights if weights is None or weights.is_dir() else weights.parent
    if beside is not None and any((beside / name).is_file() for name in TOKENIZERS):
        return True, f"beside the weights in {beside}"
    place = packaged_merges() or cached_snapshot(TOKENIZER, TOKENIZERS)
    if place is not None:
        return True, f"in {place}"
    return False, (
        f"it is not here: with a network the first use downloads it, else run hf download "
        f"{TOKENIZER} and copy vocab.json and merges.txt beside the weights, or install "
        "OpenAI's package clip or open_clip, which have it"
    )
