"""Pre-trained text models: their files, wherever those are, and running them in batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecil.errors import PrerequisiteError, UsageError
from edgecil.io.hub import hub_folder
from edgecil.io.weights import WeightFiles, locate_weights, read_tensors

PACKAGES = ("torch", "transformers", "safetensors")
TOKENIZERS = ("tokenizer.json", "vocab.json", "vocab.txt")
SETTINGS = (
    *TOKENIZERS,
    "merges.txt",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "open_clip_config.json",
    "config.json",
)
BUNDLED_SERVES = "'minilm-bundled' needs nothing and serves every bundled dataset"
_VISION = ("visual.", "vision_model.", "visual_projection.")


def missing_packages() -> list[str]:
    """The packages a pre-trained encoder needs and this Python lacks; imports none of them."""
    return [package for package in PACKAGES if find_spec(package) is None]


def require_packages(encoder: str) -> None:
    """An error that says what to install, if a pre-trained encoder cannot run here."""
    if missing := missing_packages():
        raise PrerequisiteError(
            f"Encoder {encoder!r} needs {', '.join(missing)}, not installed here; "
            f"run pip install 'edgecil[clip]' ({BUNDLED_SERVES})."
        )


def locate(encoder: str, given: str | Path, remedy: str) -> WeightFiles:
    """A model's files, from a folder, a weight file or a hub id; downloaded only if need be.

    Args:
        encoder: the encoder's name, for the error.
        given: a folder, a weight file, or a hub id (owner/name).
        remedy: what to do if the files cannot be had, for the error.
    """
    return locate_weights(given, SETTINGS, **_told(encoder, remedy))


def tokenizer_folder(encoder: str, hub_id: str, remedy: str) -> Path:
    """The folder of a hub repository with a tokenizer; arguments as of :func:`locate`."""
    return hub_folder(hub_id, TOKENIZERS, SETTINGS, **_told(encoder, remedy))


def read_text_tensors(path: Path) -> dict[str, Any]:
    """Every tensor of a weight file except a vision tower's, by name."""
    return read_tensors(path, leave_out=_VISION)


def text_batches(texts: Sequence[str], size: int = 64) -> Iterator[list[str]]:
    """`texts` in batches; nothing at all, or one text in place of a list, is an error."""
    if isinstance(texts, str) or not len(texts):
        raise UsageError(f"Texts to encode must be a non-empty list. Got {texts!r} instead.")
    for start in range(0, len(texts), size):
        yield list(texts[start : start + size])


def encode_batches(
    batches: list[list[str]], tokenizer: Any, longest: int, pool: Callable[[Any], Any]
) -> NDArray[np.float64]:
    """Vectors of batched texts, shape (n, d).

    Args:
        batches: of :func:`text_batches`.
        tokenizer: the model's own.
        longest: tokens of a text beyond these are cut off.
        pool: a batch's tokens to a tensor (b, d), without gradients.
    """
    import torch

    rows = []
    for batch in batches:
        tokens = tokenizer(
            batch,
            padding=True,
            truncation=True,
            max_length=longest,
            padding_side="right",
            return_tensors="pt",
        )
        with torch.inference_mode():
            rows.append(pool(tokens).double().numpy())
    return np.concatenate(rows)


def _told(encoder: str, remedy: str) -> dict[str, str]:
    return {"needed_by": f"Encoder {encoder!r}", "remedy": f"{remedy} ({BUNDLED_SERVES})"}
