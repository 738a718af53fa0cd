"""Pre-trained text models: where their files are, and encoding texts in batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecil.errors import PrerequisiteError, UsageError, shown
from edgecil.io.hub import hub_folder
from edgecil.io.packages import missing_packages
from edgecil.io.terminal import printable
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
BUNDLED_SERVES = "'minilm-bundled' has no requirements and covers every bundled dataset"
_VISION = ("visual.", "vision_model.", "visual_projection.")


def require_packages(encoder: str) -> None:
    """An error that says what to install, if a pre-trained encoder cannot run here."""
    if missing := missing_packages(PACKAGES):
        raise PrerequisiteError(
            f"Encoder {encoder!r} requires {', '.join(missing)}, which this Python does not have; "
            f"run pip install 'edgecil[clip]' ({BUNDLED_SERVES})."
        )


def locate(encoder: str, given: str | Path, remedy: str) -> WeightFiles:
    """Locate a model's files in a folder, a weight file or a hub id; download if necessary."""
    return locate_weights(given, SETTINGS, **_needs(encoder, remedy))


def tokenizer_folder(encoder: str, hub_id: str, remedy: str) -> Path:
    """Return the folder of a hub repository with a tokenizer; arguments as of :func:`locate`."""
    return hub_folder(hub_id, TOKENIZERS, **_needs(encoder, remedy))


def read_text_tensors(path: Path) -> dict[str, Any]:
    """Return every tensor of a weight file except a vision tower's, by name."""
    return read_tensors(path, leave_out=_VISION)


def text_batches(texts: Sequence[str], size: int = 64) -> Iterator[list[str]]:
    """`texts` in batches; an empty list, or one text in place of a list, is an error."""
    if isinstance(texts, str) or not len(texts):
        raise UsageError(f"Texts to encode must be a non-empty list. Got {shown(texts)} instead.")
    for start in range(0, len(texts), size):
        yield list(texts[start : start + size])


def encode_batches(
    batches: list[list[str]], tokenizer: Any, longest: int, pool: Callable[[Any], Any]
) -> NDArray[np.float64]:
    """Return vectors of batched texts, shape (n, d)."""
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


def first_line(error: Exception) -> str:
    """Return the first line of an error's message, or its type."""
    lines = str(error).strip().splitlines()
    return printable(lines[0]).rstrip(".") if lines else type(error).__name__


def _needs(encoder: str, remedy: str) -> dict[str, str]:
    return {"needed_by": f"Encoder {encoder!r}", "remedy": f"{remedy} ({BUNDLED_SERVES})"}
