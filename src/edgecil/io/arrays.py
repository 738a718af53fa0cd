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
    """Return some arrays of an .npz file, without pickles.

    Other arrays in the file are not unpacked, and the size of each wanted one is checked first.
    """
    with readable(path, f"a {path.suffix} {_KIND}"), zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            archive.open(info).close()  # an error if its two names differ: it is damaged
        members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
        chosen = [name for name in wanted if name in members]
        sizes = [members[name].file_size for name in chosen]
        packed = [members[name].compress_size for name in chosen]
        if sum(sizes) > sum(packed) + 2**16:  # they take more space in memory than in the file
            limits.ARRAYS.check(str(path), sum(sizes))
        arrays = {}
        for name in chosen:
            with archive.open(members[name]) as file:
                arrays[name] = npy.read_array(file, allow_pickle=False)
        return arrays, list(members)


def read_npy(path: Path) -> NDArray[Any]:
    """Return the array in a .npy file, without pickles."""
    with readable(path, f"a {path.suffix} {_KIND}"), path.open("rb") as file:
        array: NDArray[Any] = npy.read_array(file, allow_pickle=False)
        return array
