"""Arrays of NumPy: `.npy`, and `.npz` with several by name. Nothing is unpickled.

An array of numbers is a long table with the places of its values. Columns of a structured array
are columns. In an `.npz`, single values stand beside every array as facts.
"""

from __future__ import annotations

import math
import zipfile
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy

from edgecil.errors import DataError
from edgecil.io import limits
from edgecil.io.files import readable
from edgecil.runs.cells.cell_table import CellTable
from edgecil.runs.cells.file_text import CELLS
from edgecil.runs.cells.nested_values import tables_of_values

FORM = "NumPy array"
_ARRAY = b"\x93NUMPY"
_ARCHIVE = b"PK\x03\x04"


def recognises(path: Path, head: bytes) -> bool:
    """Return whether a file is an array, or an archive of arrays."""
    return head.startswith(_ARRAY) or (head.startswith(_ARCHIVE) and path.suffix == ".npz")


def read(path: Path) -> list[CellTable]:
    """Return the tables of the arrays."""
    with readable(path, "a file of arrays of NumPy"):
        with path.open("rb") as file:
            if file.read(len(_ARRAY)) == _ARRAY:
                file.seek(0)
                return tables_of_values(_array(file, str(path)), FORM, str(path))
        return tables_of_values(_archive(path), FORM, str(path))


def _archive(path: Path) -> dict[str, Any]:
    """Return the arrays of an archive by name, without arrays of Python's objects."""
    values = {}
    refused = []
    with zipfile.ZipFile(path) as archive:
        members = [info for info in archive.infolist() if info.filename.endswith(".npy")]
        CELLS.check(str(path), sum(info.file_size for info in members) // 16)
        limits.TEXT.check(str(path), sum(info.file_size for info in members))
        for info in members:
            name = info.filename.removesuffix(".npy")
            with archive.open(info) as file:
                try:
                    values[name] = _array(file, f"{name} in {path}")
                except _PickleError:
                    refused.append(name)
    if refused and not values:
        raise _PickleError(f"{refused[0]} in {path}")
    return values


class _PickleError(DataError):
    """An array of Python's objects, which only a program of Python can read."""

    def __init__(self, source: str) -> None:
        super().__init__(
            f"{source} has Python objects, not numbers; reading them could run code. Save plain "
            "arrays, or the results as CSV or JSON."
        )


def _array(file: IO[bytes], source: str) -> Any:
    """Return the values of an array as numbers, lists and mappings; its size is checked first."""
    version = npy.read_magic(file)
    read_header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, is_fortran, dtype = read_header(file)
    if dtype.hasobject:
        raise _PickleError(source)
    if any(length < 0 for length in shape):
        raise DataError(f"{source} has the shape {shape}, which is none of an array.")
    count = math.prod(shape)
    CELLS.check(source, count * max(1, len(dtype.names or ())) * (len(shape) + 1))
    content = file.read(count * dtype.itemsize)
    if len(content) < count * dtype.itemsize:
        raise DataError(f"{source} is cut short; save it again.")
    flat = np.frombuffer(content, dtype=dtype, count=count)
    array = flat.reshape(shape, order="F" if is_fortran else "C")
    if dtype.names:
        return {name: _values(array[name]) for name in dtype.names}
    return _values(array)


def _values(array: np.ndarray[Any, Any]) -> Any:
    """Return an array as lists, with None for values that are not a number."""
    if array.dtype.kind in "fc":
        if array.dtype.kind == "c":
            raise DataError("An array has complex numbers; save real ones.")
        values = array.astype(object)
        values[~np.isfinite(array)] = None
        return values.tolist()
    if array.dtype.kind in "mM":
        return array.astype(str).tolist()
    if array.dtype.kind == "S":
        return np.char.decode(array, "utf-8", "replace").tolist()
    return array.tolist()
