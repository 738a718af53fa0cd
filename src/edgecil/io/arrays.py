"""Array types that every station uses, and array files read only after their size is checked."""

from __future__ import annotations

import zipfile
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from edgecil.io import limits
from edgecil.io.files import readable

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Pixels = NDArray[np.uint8]
Inputs = NDArray[Any]  # images (n, c, h, w) uint8, or vectors (n, d) float32

_KIND = "file of plain numbers and texts"


def read_npz(path: Path, wanted: Collection[str]) -> tuple[dict[str, NDArray[Any]], list[str]]:
    """Return some arrays of an .npz file, without pickles, and the names of all.

    Case does not matter: `X` may stand for `x`. Only the wanted arrays are unpacked, after their
    size was checked.
    """
    with readable(path, f"a {path.suffix} {_KIND}"), zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            archive.open(info).close()  # an error if its two names differ: it is damaged
        members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
        member_of_name = {name.lower(): info for name, info in members.items()} | members
        chosen = {name: member_of_name[name] for name in wanted if name in member_of_name}
        size = sum(info.file_size for info in chosen.values())
        packed = sum(info.compress_size for info in chosen.values())
        if size > packed + 2**16:  # they take more space in memory than in the file
            limits.ARRAYS.check(str(path), size)
        arrays = {}
        for name, info in chosen.items():
            with archive.open(info) as file:
                arrays[name] = npy.read_array(file, allow_pickle=False)
        return arrays, list(members)


def read_npy(path: Path) -> NDArray[Any]:
    """Return the array in a .npy file, without pickles."""
    with readable(path, f"a {path.suffix} {_KIND}"), path.open("rb") as file:
        array: NDArray[Any] = npy.read_array(file, allow_pickle=False)
        return array
