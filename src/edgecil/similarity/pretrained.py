"""Pre-trained text models: their files, wherever those are, and what is in them."""

from __future__ import annotations

import hashlib
import pickle
import warnings
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecil.errors import DataError, PrerequisiteError, UsageError
from edgecil.similarity.hub import BUNDLED_SERVES, SETTINGS, WEIGHTS, first_file, hub_folder

PACKAGES = ("torch", "transformers", "safetensors")


@dataclass(frozen=True)
class Pretrained:
    """A model's files on this machine.

    Attributes:
        folder: where its settings and tokenizer are.
        weights: the file with its weights.
    """

    folder: Path
    weights: Path

    @cached_property
    def version(self) -> str:
        """Identifies the weights and settings by their content."""
        digest = hashlib.sha256()
        for path in (self.weights, *(self.folder / name for name in sorted(SETTINGS))):
            if path.is_file():
                digest.update(path.name.encode())
                with path.open("rb") as file:
                    while block := file.read(1 << 22):
                        digest.update(block)
        return f"sha256:{digest.hexdigest()[:16]}"


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


def locate(encoder: str, given: str | Path, remedy: str) -> Pretrained:
    """A model's files, from a folder, a weight file or a hub id; downloaded only if need be.

    Args:
        encoder: the encoder's name, for the error.
        given: a folder, a weight file, or a hub id (owner/name).
        remedy: what to do if the files cannot be had, for the error.
    """
    path = Path(given).expanduser()
    if path.is_file():
        return Pretrained(path.parent, path)
    folder = path if path.is_dir() else hub_folder(encoder, str(given), WEIGHTS, remedy)
    weights = first_file(folder, WEIGHTS)
    if weights is None:
        raise DataError(f"{folder} holds no weights; expected one of {', '.join(WEIGHTS)}.")
    return Pretrained(folder, weights)


def read_tensors(path: Path) -> dict[str, Any]:
    """Every tensor of a weight file except a vision tower's, by name.

    Reads .safetensors, state dicts saved by torch (also inside a checkpoint's `state_dict`), and
    TorchScript archives (OpenAI's own .pt files); never runs Python code from the file.
    """
    from safetensors import SafetensorError

    try:
        tensors = _read_safetensors(path) if path.suffix == ".safetensors" else _read_torch(path)
    except (
        IndexError,
        SafetensorError,
        pickle.UnpicklingError,
        RuntimeError,
        ValueError,
        EOFError,
        OSError,
        KeyError,
    ) as error:
        raise DataError(
            f"Cannot read the weights in {path}: the file is cut short, damaged, or not a weight "
            f"file ({str(error).splitlines()[0] if str(error) else type(error).__name__})."
        ) from error
    tensors = {name.removeprefix("module."): tensor for name, tensor in tensors.items()}
    return {name: tensor.float() for name, tensor in tensors.items() if _is_text(name)}


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


def _is_text(name: str) -> bool:
    return not name.startswith(("visual.", "vision_model.", "visual_projection."))


def _read_safetensors(path: Path) -> dict[str, Any]:
    from safetensors import safe_open

    with safe_open(path, framework="pt") as file:
        return {name: file.get_tensor(name) for name in file.keys() if _is_text(name)}  # noqa: SIM118


def _read_torch(path: Path) -> dict[str, Any]:
    import torch

    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            scripted = any(name.endswith("/constants.pkl") for name in archive.namelist())
        if scripted:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)
                return dict(torch.jit.load(path, map_location="cpu").state_dict())
    loaded = torch.load(path, map_location="cpu", weights_only=True)
    state = loaded.get("state_dict", loaded) if isinstance(loaded, dict) else None
    if not state or not all(hasattr(tensor, "float") for tensor in state.values()):
        raise ValueError("it holds no state dict of named tensors")
    return dict(state)
