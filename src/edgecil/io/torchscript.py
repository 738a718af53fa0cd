"""Tensors of a TorchScript archive, read as data: no code of the archive is run.

`torch.jit.load` executes what an archive defines (its `__setstate__` may write files). The tensors
themselves are plain records beside one pickle. That pickle is read here with an unpickler that
knows only tensors, containers and empty modules; any other name in it is refused.
"""

from __future__ import annotations

import io
import itertools
import pickle
import zipfile
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

MARKER = "/constants.pkl"
_MOST_MODULES = 100_000


def is_torchscript(path: Path) -> bool:
    """Return whether a zip file is a TorchScript archive; OpenAI's CLIP .pt files are."""
    with zipfile.ZipFile(path) as archive:
        return any(name.endswith(MARKER) for name in archive.namelist())


def read_torchscript(path: Path) -> dict[str, Any]:
    """Read the parameters and buffers of a TorchScript archive by name, as in `state_dict()`.

    Args:
        path: an archive that :func:`edgecil.io.pickle_scan.check_torch` has checked.
    """
    with zipfile.ZipFile(path) as archive:
        root = archive.namelist()[0].split("/")[0]
        return dict(_tensors(_Reader(archive, root).load(), "", itertools.count()))


class _Module:
    """A module's attributes; whatever class the archive says it is."""


class _IntList:
    """Stands for the lists of numbers that an archive may hold; their content is not needed."""

    def __new__(cls, *_: Any) -> Any:
        return []


class _Reader(pickle.Unpickler):
    """Reads tensors, containers and modules without behaviour."""

    def __init__(self, archive: zipfile.ZipFile, root: str) -> None:
        super().__init__(io.BytesIO(archive.read(f"{root}/data.pkl")))
        self._archive = archive
        self._root = root
        self._storages: dict[str, Any] = {}

    def find_class(self, module_name: str, global_name: str) -> Any:
        """Allow only what builds tensors and containers."""
        import torch

        if module_name == "__torch__" or module_name.startswith("__torch__."):
            return _Module
        if module_name == "torch.jit._pickle":
            return _IntList
        if (module_name, global_name) == ("collections", "OrderedDict"):
            return OrderedDict
        if module_name == "torch._utils" and global_name.startswith("_rebuild_tensor"):
            return _rebuild
        if module_name == "torch" and global_name.endswith("Storage"):
            dtype = _DTYPES.get(global_name)
            if dtype is not None:
                return getattr(torch, dtype)
        raise pickle.UnpicklingError(f"it asks for {module_name}.{global_name}")

    def persistent_load(self, pid: Any) -> Any:
        """Return a storage as a flat tensor, from its record."""
        import torch

        kind, dtype, key, _, count = pid
        if kind != "storage" or not isinstance(dtype, torch.dtype) or not isinstance(key, str):
            raise pickle.UnpicklingError("it has an unsupported storage")
        if key not in self._storages:
            content = bytearray(self._archive.read(f"{self._root}/data/{key}"))
            if len(content) < count * dtype.itemsize:
                raise pickle.UnpicklingError(f"its record {key} is cut short")
            flat = torch.frombuffer(content, dtype=dtype) if content else torch.empty(0)
            self._storages[key] = flat
        return self._storages[key]


_DTYPES = {
    "FloatStorage": "float32",
    "HalfStorage": "float16",
    "BFloat16Storage": "bfloat16",
    "DoubleStorage": "float64",
    "LongStorage": "int64",
    "IntStorage": "int32",
    "ShortStorage": "int16",
    "CharStorage": "int8",
    "ByteStorage": "uint8",
    "BoolStorage": "bool",
}


def _rebuild(
    storage: Any, offset: int, size: tuple[int, ...], stride: tuple[int, ...], *_: Any
) -> Any:
    """Return a tensor in a storage; torch checks that it lies within."""
    return storage.as_strided(size, stride, offset)


def _tensors(value: Any, prefix: str, visits: Iterator[int]) -> Iterator[tuple[str, Any]]:
    """Yield every tensor below a module, with its dotted name.

    Few modules can contain one another in so many ways that no visit to all of them would end.
    """
    import torch

    if next(visits) >= _MOST_MODULES:
        raise ValueError(f"it has more than {_MOST_MODULES:,} modules")
    for name, item in vars(value).items() if isinstance(value, _Module) else ():
        if isinstance(item, torch.Tensor):
            yield f"{prefix}{name}", item
        elif isinstance(item, _Module):
            yield from _tensors(item, f"{prefix}{name}.", visits)
