"""CLIP text towers through transformers, from Hugging Face or open_clip weights.

All of OpenAI's CLIP models share one text architecture at different widths, so one loader serves
them; sizes come from the weights.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecil.errors import DataError, UsageError
from edgecil.io.files import cache_directory, replace_file
from edgecil.io.hub import cached_snapshot
from edgecil.io.weights import WeightFiles
from edgecil.similarity.clip_weights import clip_settings, read_clip
from edgecil.similarity.pretrained import (
    TOKENIZERS,
    encode_batches,
    first_line,
    locate,
    require_packages,
    text_batches,
    tokenizer_folder,
)

TOKENIZER = "openai/clip-vit-base-patch32"
_MERGES = 49_152 - 256 - 2  # of the published vocabulary


class ClipEncoder:
    """A CLIP text tower; the model is loaded at the first text.

    Attributes:
        name: the encoder's name.
        version: identifies the weights by their content, and half precision.
        half: whether numbers have half precision.
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
        """See :func:`load_clip`, and :func:`edgecil.similarity.get_encoder` for named ones.

        Args:
            name: the encoder's name.
            files: where weights, settings and tokenizer are.
            sizes: the (width, projection) that the named encoder has; other weights are refused.
            activation: overrides what the settings say.
            half: use half precision where :func:`choose_precision` does.
        """
        self.name = name
        self._device, self._precision = choose_precision(half=half)
        self.half = self._precision == "float16"
        self.version = f"{files.version}, half precision" if self.half else files.version
        self._files = files
        self._sizes = sizes
        self._activation = activation

    def encode(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Return projected text features, shape (n, projection), not normalised."""
        import torch

        batches = list(text_batches(texts))
        model, tokenizer = self._loaded

        def pool(tokens: Any) -> Any:
            tokens = tokens.to(self._device)
            hidden = model.text_model(tokens.input_ids, tokens.attention_mask)
            end = tokens.attention_mask.sum(dim=1) - 1
            last = hidden.last_hidden_state[torch.arange(len(end)), end]
            vectors = model.text_projection(last)
            if self.half:  # where OpenAI's users divide by the length
                vectors = vectors / vectors.norm(dim=-1, keepdim=True)
            return vectors.cpu()

        return encode_batches(batches, tokenizer, model.config.max_position_embeddings, pool)

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        import torch
        from transformers import CLIPTextConfig, CLIPTextModelWithProjection

        weights = read_clip(self._files.weights)
        settings = clip_settings(self._files, weights)
        if self._activation is not None:
            settings["hidden_act"] = self._activation
        self._check_sizes(settings)
        tokenizer = self._tokenizer(settings["vocab_size"])
        model = CLIPTextModelWithProjection(CLIPTextConfig(**settings))
        try:
            model.load_state_dict(weights.take(model.state_dict()))
        except RuntimeError as error:
            raise DataError(
                f"{self._files.weights} is not a CLIP text tower: {str(error).splitlines()[-1]}"
            ) from error
        return model.to(self._device, getattr(torch, self._precision)).eval(), tokenizer

    def _check_sizes(self, settings: dict[str, Any]) -> None:
        sizes = (settings["hidden_size"], settings["projection_dim"])
        if self._sizes not in (None, sizes):
            raise UsageError(
                f"{self._files.weights} is not {self.name}: width and projection are {sizes}, "
                f"those of {self.name} are {self._sizes}; give that encoder's weights, or read "
                "these with edgecil.similarity.load_clip."
            )

    def _tokenizer(self, vocabulary: int) -> Any:
        from transformers import CLIPTokenizerFast

        folder = self._files.folder
        if not any((folder / name).is_file() for name in TOKENIZERS):
            remedy = (
                f"CLIP's tokenizer is not beside the weights in {folder}, so copy vocab.json and "
                f"merges.txt of {TOKENIZER} there"
            )
            folder = packaged_tokenizer() or tokenizer_folder(self.name, TOKENIZER, remedy)
        try:
            tokenizer = CLIPTokenizerFast.from_pretrained(folder, local_files_only=True)
        except Exception as error:
            raise DataError(
                f"The tokenizer in {folder} cannot be read: {first_line(error)}."
            ) from error
        if len(tokenizer) > vocabulary:
            raise DataError(
                f"The tokenizer in {folder} has {len(tokenizer)} tokens but the weights in "
                f"{self._files.weights} have {vocabulary}; they do not belong together."
            )
        return tokenizer


def choose_precision(*, half: bool) -> tuple[str, str]:
    """Return device and precision: half precision on a GPU if asked for, like OpenAI's package.

    That package uses single precision on processors, where nothing changes.
    """
    if not half:
        return "cpu", "float32"
    import torch

    return ("cuda", "float16") if torch.cuda.is_available() else ("cpu", "float32")


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
    folder = cache_directory() / "tokenizers" / "clip"
    vocabulary = {token: number for number, token in enumerate(tokens)}
    for name, text in (
        ("vocab.json", json.dumps(vocabulary)),
        ("merges.txt", "\n".join(["#version: 0.2", *merges, ""])),
    ):
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
    """Return whether CLIP's tokenizer is here, and where, or what to do.

    Args:
        weights: the folder or the file of the weights; None if there are none yet.
    """
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


def load_clip(weights: str | Path, *, name: str = "clip") -> ClipEncoder:
    """Return any CLIP text tower of OpenAI's architecture, of any size.

    Args:
        weights: a folder or a weight file in Hugging Face or open_clip layout, or a hub id.
        name: what to call it in a matrix's source.
    """
    require_packages(name)
    remedy = f"run hf download {weights} where there is a network, and give the folder it prints"
    return ClipEncoder(name, locate(name, weights, remedy))
