"""Pickles of plain values and NumPy arrays; anything else that a pickle asks for is refused."""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from edgecil.errors import DataError, EdgecilError
from edgecil.io import limits
from edgecil.io.files import check_file
from edgecil.io.pickle_scan import check_opcodes


def read_pickle(path: Path) -> Any:
    """Return the value in a pickle of Python 2 or 3, built from plain values and NumPy arrays.

    No function that the pickle names is called, and it cannot allocate more memory than a small
    multiple of its own size.
    """
    size = check_file(path, limits.PICKLE)
    try:
        content = path.read_bytes()
        check_opcodes(content, str(path))
        return _Unpickler(content, size).load()
    except EdgecilError:
        raise
    except Exception as error:  # a broken pickle may raise anything
        raise DataError(f"Cannot read {path}: {error}.") from error


class _ArrayType:
    """Stands for `numpy.ndarray`, which a pickle may name but not call."""


class _Array(np.ndarray[Any, Any]):
    """An array that says how many bytes it copies from the pickle."""

    count_bytes: Callable[[int], None]

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.count_bytes(len(state[-1]))
        super().__setstate__(state)
        del self.count_bytes


class _Unpickler(pickle.Unpickler):
    """Plain values and NumPy arrays."""

    def __init__(self, content: bytes, size: int) -> None:
        super().__init__(io.BytesIO(content), encoding="latin1")
        self._bytes_left = self._array_bytes_left = size
        self._allowed: dict[tuple[str, str], Any] = {
            ("numpy", "ndarray"): _ArrayType,
            ("numpy", "dtype"): _dtype,
            ("numpy.core.multiarray", "_reconstruct"): self._empty_array,  # NumPy 1
            ("numpy._core.multiarray", "_reconstruct"): self._empty_array,  # NumPy 2
            ("_codecs", "encode"): self._encode,
        }

    def find_class(self, module_name: str, global_name: str) -> Any:
        """Return the function or type of that name, if it can do nothing but build an array."""
        try:
            return self._allowed[module_name, global_name]
        except KeyError:
            raise DataError(
                f"A pickle asks to run {module_name}.{global_name}, which no file of arrays does; "
                "download it again from the official source."
            ) from None

    def _encode(self, text: str, _: str) -> bytes:
        """Decode bytes that Python 3 wrote for Python 2, in total no more than the file has."""
        self._bytes_left -= len(text)
        if self._bytes_left < 0:
            raise pickle.UnpicklingError("it expands to more than its own size")
        return text.encode("latin1")

    def _empty_array(self, kind: type, shape: tuple[int, ...], _: Any) -> Any:
        """Return an array to be filled by the state that follows it in the pickle."""
        if kind is not _ArrayType or shape != (0,):
            raise pickle.UnpicklingError("it builds an array in an unusual way")
        array = np.empty(0).view(_Array)
        array.count_bytes = self._take
        return array

    def _take(self, size: int) -> None:
        """Count the bytes that arrays copy, in total no more than the file has."""
        self._array_bytes_left -= size
        if self._array_bytes_left < 0:
            raise pickle.UnpicklingError("it expands to more than its own size")


def _dtype(code: str, align: int, copy: int) -> np.dtype[Any]:
    """NumPy 1 wrote 0 and 1 where some releases of NumPy 2.4 require False and True."""
    return np.dtype(code, align=bool(align), copy=bool(copy))
