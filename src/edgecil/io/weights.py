"""Weight files: where they are, on this machine or on the hub, and the tensors in them."""

from __future__ import annotations

import hashlib
import warnings
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from edgecil.errors import DataError
from edgecil.io.files import readable
from edgecil.io.hub import hub_folder
from edgecil.io.pickles import read_torchscript

WEIGHTS = (
    "open_clip_model.safetensors",
    "open_clip_pytorch_model.bin",
    "model.safetensors",
    "pytorch_model.bin",
)
# A name with such an ending is a file, even if it has the form of a hub id.
_SUFFIXES = (".safetensors", ".bin", ".pt", ".pth", ".ckpt")
# Tensors may be this many times as large as their file: names of tied weights share their data.
_MOST = 8
_CODE = 2**20  # bytes of TorchScript code, the only part of an archive that torch compresses
# Where a checkpoint keeps its tensors; DINO's also has a student's.
_NESTED = ("state_dict", "teacher", "model")
_KIND = "a weight file"


@dataclass(frozen=True)
class WeightFiles:
    """A model's weights, and the names of settings files that may stand beside them."""

    weights: Path
    settings: tuple[str, ...]

    @property
    def folder(self) -> Path:
        """The folder of all these files."""
        return self.weights.parent

    @cached_property
    def version(self) -> str:
        """A digest of the content of weights and settings."""
        digest = hashlib.sha256()
        settings = [self.folder / name for name in sorted(self.settings)]
        for path in (self.weights, *settings):
            if path.is_file():
                digest.update(path.name.encode())
                with path.open("rb") as file:
                    while block := file.read(1 << 22):
                        digest.update(block)
        return f"sha256:{digest.hexdigest()[:16]}"


def locate_weights(
    place: str | Path, settings: Sequence[str], *, needed_by: str, remedy: str
) -> WeightFiles:
    """Return a model's files, from a folder, a weight file or a hub id (owner/name)."""
    path = Path(place).expanduser()
    if not path.exists() and path.suffix in _SUFFIXES:
        raise DataError(f"{needed_by} needs the weights in {place}, but there is no such file.")
    if not path.exists():
        path = hub_folder(str(place), WEIGHTS, needed_by=needed_by, remedy=remedy)
    weights: Path | None = path
    if path.is_dir():
        weights = next((path / name for name in WEIGHTS if (path / name).is_file()), None)
    if weights is None:
        raise DataError(f"{path} contains no weights; expected one of {', '.join(WEIGHTS)}.")
    return WeightFiles(weights, (*settings, f"{weights.stem}.json"))


def read_tensors(path: Path, leave_out: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the tensors of a weight file by name, in float32.

    Reads .safetensors, state dicts saved by torch (also inside a checkpoint's `state_dict`,
    `teacher` or `model`), and the tensors of TorchScript archives (OpenAI's own CLIP .pt files).
    No code from the file is run: TorchScript is never loaded by torch, and pickles only hold
    tensors and plain containers.
    """
    with readable(path, _KIND):
        if path.suffix == ".safetensors":
            tensors = _read_safetensors(path, leave_out)
        else:
            tensors = _read_torch(path)
        tensors = {name.removeprefix("module."): tensor for name, tensor in tensors.items()}
        return {
            name: tensor.float()
            for name, tensor in tensors.items()
            if not name.startswith(leave_out)
        }


def tensor_names(path: Path) -> tuple[str, ...]:
    """Return the names of the tensors in a weight file; of .safetensors only the header is read."""
    if path.suffix != ".safetensors":
        return tuple(read_tensors(path))
    from safetensors import safe_open

    with readable(path, _KIND), safe_open(path, framework="pt") as file:
        return tuple(file.keys())


def _read_safetensors(path: Path, leave_out: tuple[str, ...]) -> dict[str, Any]:
    from safetensors import safe_open

    with safe_open(path, framework="pt") as file:
        names = [name for name in file.keys() if not name.startswith(leave_out)]  # noqa: SIM118
        return {name: file.get_tensor(name) for name in names}


def _read_torch(path: Path) -> dict[str, Any]:
    import torch

    size = path.stat().st_size
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            if sum(member.file_size for member in archive.infolist()) > size + _CODE:
                raise ValueError("it is a compressed archive, which torch does not write")
            # TorchScript, as OpenAI's CLIP .pt files are
            if any(name.endswith("/constants.pkl") for name in archive.namelist()):
                return _checked(read_torchscript(archive), size)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch's remarks on the pickle protocol
        loaded = torch.load(path, map_location="cpu", weights_only=True)
    state = loaded if isinstance(loaded, dict) else {}
    for name in _NESTED:
        if isinstance(state.get(name), dict):
            return _checked(state[name], size)
    return _checked(state, size)


def _checked(state: dict[Any, Any], size: int) -> dict[str, Any]:
    """Return the named tensors of a state dict, which must not be much larger than their file."""
    import torch

    def is_plain(value: Any) -> bool:
        is_dense = isinstance(value, torch.Tensor) and value.layout == torch.strided
        return is_dense and value.is_cpu and not value.is_nested

    has_names = all(isinstance(name, str) for name in state)
    if not state or not has_names or not all(map(is_plain, state.values())):
        raise ValueError("it contains no state dict of named tensors")
    unpacked_size = sum(tensor.numel() * tensor.element_size() for tensor in state.values())
    if unpacked_size > _MOST * size:
        raise ValueError("its tensors are larger than what is stored of them")
    return dict(state)
