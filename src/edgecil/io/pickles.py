"""Pickles read as data: tensors, arrays, containers and plain values; any other name is refused."""

from __future__ import annotations

import functools
import io
import pickle
import zipfile
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from edgecil.errors import DataError
from edgecil.io import limits
from edgecil.io.files import check_file


def read_pickle(path: Path) -> Any:
    """Return the value in a pickle of Python 2 or 3, built from plain values and NumPy arrays."""
    check_file(path, limits.PICKLE)
    try:
        return _ArrayUnpickler(io.BytesIO(path.read_bytes()), encoding="latin1").load()
    except Exception as error:  # a broken pickle may raise anything
        raise DataError(
            f"Cannot read {path}: {error}; download it again from the official source."
        ) from error


def read_torchscript(archive: zipfile.ZipFile) -> dict[str, Any]:
    """Return the parameters and buffers of a TorchScript archive by name, as in `state_dict()`.

    `torch.jit.load` would execute what the archive defines (its `__setstate__` may write files);
    the tensors are plain records beside one pickle.
    """
    return dict(_tensors(_ModuleUnpickler(archive).load(), "", set()))


class _Unpickler(pickle.Unpickler):
    """Unpickler that refuses every name that is not in `allowed`."""

    allowed: ClassVar[dict[str, Any]]

    def find_class(self, module_name: str, global_name: str) -> Any:
        """Return the object that stands for a name."""
        try:
            return self.allowed[f"{module_name}.{global_name}"]
        except KeyError:
            raise pickle.UnpicklingError(f"it asks for {module_name}.{global_name}") from None


def _make_dtype(code: str, align: int, copy: int) -> np.dtype[Any]:
    return np.dtype(code, align=bool(align), copy=bool(copy))


class _ArrayUnpickler(_Unpickler):
    """Plain values and NumPy arrays, as NumPy 1 and 2 write them."""

    allowed: ClassVar[dict[str, Any]] = {
        "numpy.ndarray": object,  # named, but not called
        "numpy.dtype": _make_dtype,
        "numpy.core.multiarray._reconstruct": lambda *_: np.empty(0),  # filled afterwards
        "numpy._core.multiarray._reconstruct": lambda *_: np.empty(0),
        "_codecs.encode": lambda text, _: text.encode("latin1"),  # bytes, written for Python 2
    }


class _Module:
    """A module's attributes, whatever class the archive says it is."""


class _ModuleUnpickler(_Unpickler):
    """Tensors, containers, and modules without behaviour."""

    allowed: ClassVar[dict[str, Any]] = {
        "collections.OrderedDict": OrderedDict,
        "torch._utils._rebuild_tensor_v2": lambda storage, offset, size, stride, *_: (
            storage.as_strided(size, stride, offset)  # torch checks that it lies within
        ),
        "torch.HalfStorage": "float16",
        "torch.FloatStorage": "float32",
        "torch.DoubleStorage": "float64",
        "torch.LongStorage": "int64",
        "torch.IntStorage": "int32",
        "torch.BoolStorage": "bool",
        "torch.jit._pickle.build_intlist": list,
    }

    def __init__(self, archive: zipfile.ZipFile) -> None:
        # A record is read once, however often the pickle names it.
        self._record = functools.cache(lambda name: bytearray(archive.read(name)))
        self._root = archive.namelist()[0].split("/")[0]
        super().__init__(io.BytesIO(archive.read(f"{self._root}/data.pkl")))

    def find_class(self, module_name: str, global_name: str) -> Any:
        """Return a class without behaviour for every class that the archive defines."""
        if module_name.split(".")[0] == "__torch__":
            return _Module
        return super().find_class(module_name, global_name)

    def persistent_load(self, pid: Any) -> Any:
        """Return a storage as a flat tensor, from its record."""
        import torch

        _, dtype, key, *_ = pid
        content = self._record(f"{self._root}/data/{key}")
        return torch.frombuffer(content, dtype=getattr(torch, dtype))


def _tensors(module: Any, prefix: str, visited: set[int]) -> Iterator[tuple[str, Any]]:
    """Yield every tensor below a module, with its dotted name."""
    import torch

    visited.add(id(module))  # modules may contain one another
    for name, item in vars(module).items():
        if isinstance(item, torch.Tensor):
            yield f"{prefix}{name}", item
        elif isinstance(item, _Module) and id(item) not in visited:
            yield from _tensors(item, f"{prefix}{name}.", visited)
