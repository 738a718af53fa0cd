"""CIFAR-100 from its official python files: three pickles, read without running what they say.

Reference:
    Krizhevsky, Learning Multiple Layers of Features from Tiny Images (2009).
"""

from __future__ import annotations

import hashlib
import pickle
import tempfile
from pathlib import Path
from typing import IO, Any

import numpy as np

from edgecil.classes import get_classes
from edgecil.data.dataset import ImageDataset, Images
from edgecil.data.image_files import find_home
from edgecil.errors import DataError, EdgecilError, PrerequisiteError
from edgecil.io.files import replace_file

URL = "https://www.cs.toronto.edu/~kriz/cifar-100-python.tar.gz"
MD5 = "eb9058c3a382ffc7106e4002c42a8d85"
FOLDER = "cifar-100-python"
FILES = ("train", "test", "meta")
ADVICE = f"get {URL} (by hand, or with download) and unpack it there"

_CHUNK = 1 << 20
_PATIENCE = 60  # seconds without a byte


def find_cifar100(root: Path) -> Path:
    """The directory with CIFAR-100's three files: `root/cifar-100-python` or `root`."""
    return find_home(root, FOLDER, FILES, ADVICE)


def read_cifar100(root: Path) -> ImageDataset:
    """CIFAR-100 with fine labels: 500 training and 100 test images of each of 100 classes."""
    home = find_cifar100(root)
    classes = get_classes("cifar100")
    meta = _load(home / "meta")
    if tuple(meta.get("fine_label_names", ())) != classes.labels:
        raise DataError(f"{home / 'meta'} does not list CIFAR-100's 100 fine labels in order.")
    train, test = (_read_part(home / part) for part in ("train", "test"))
    return ImageDataset(classes.name, classes.labels, train, test)


def download_cifar100(root: Path) -> Path:
    """Fetch the official archive (169 MB), verify it and unpack it to `root/cifar-100-python`.

    Files appear whole or not at all; the archive itself is not kept.
    """
    import urllib.request
    from http.client import HTTPException

    with tempfile.TemporaryFile() as archive:
        digest = hashlib.md5(usedforsecurity=False)
        try:
            with urllib.request.urlopen(URL, timeout=_PATIENCE) as reply:
                while chunk := reply.read(_CHUNK):
                    digest.update(chunk)
                    archive.write(chunk)
        except (OSError, HTTPException) as error:
            raise PrerequisiteError(
                f"Cannot download {URL}: {error}; get it by hand and unpack it in {root}."
            ) from error
        if digest.hexdigest() != MD5:
            raise DataError(
                f"What came from {URL} has the MD5 sum {digest.hexdigest()} and not {MD5}; "
                "nothing was unpacked: try again, or get it by hand."
            )
        archive.seek(0)
        _unpack(archive, root / FOLDER)
    return root / FOLDER


def _unpack(archive: IO[bytes], home: Path) -> None:
    """The three files and nothing else, wherever the archive says that they belong."""
    import tarfile

    with tarfile.open(fileobj=archive) as members:
        for name in FILES:
            source = members.extractfile(f"{FOLDER}/{name}")
            if source is None:
                raise DataError(f"{FOLDER}/{name} in {URL} is not a file.")
            with replace_file(home / name) as target:
                while chunk := source.read(_CHUNK):
                    target.write(chunk)


def _read_part(path: Path) -> Images:
    content = _load(path)
    try:
        pixels = np.asarray(content["data"])
        labels = np.asarray(content["fine_labels"], dtype=np.int64)
        return Images(pixels.reshape(-1, 3, 32, 32), labels)
    except (KeyError, ValueError, TypeError) as error:
        raise DataError(
            f"{path} does not hold CIFAR-100's 'data' (n x 3072) and 'fine_labels': {error}."
        ) from error


def _load(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            content = _Unpickler(file, encoding="latin1").load()
    except EdgecilError:
        raise
    except Exception as error:  # a broken pickle may raise anything
        raise DataError(f"Cannot read {path}: {error}; {ADVICE}.") from error
    if not isinstance(content, dict):
        raise DataError(f"{path} holds a {type(content).__name__} and not a dictionary; {ADVICE}.")
    return content


def _encode(text: str, _: str) -> bytes:
    """How Python 3 writes bytes for Python 2."""
    return text.encode("latin1")


def _dtype(code: str, align: int, copy: int) -> np.dtype[Any]:
    """NumPy 1 wrote 0 and 1 where some releases of NumPy 2.4 want False and True."""
    return np.dtype(code, align=bool(align), copy=bool(copy))


_RECONSTRUCT = np.empty(0).__reduce__()[0]
_ALLOWED: dict[tuple[str, str], Any] = {
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): _dtype,
    ("numpy.core.multiarray", "_reconstruct"): _RECONSTRUCT,  # NumPy 1, as in the official files
    ("numpy._core.multiarray", "_reconstruct"): _RECONSTRUCT,  # NumPy 2
    ("_codecs", "encode"): _encode,
}


class _Unpickler(pickle.Unpickler):
    """Plain values and NumPy arrays; whatever else a pickle asks for is refused."""

    def find_class(self, module_name: str, global_name: str) -> Any:
        """The function or type of that name, if it can do nothing but build an array."""
        try:
            return _ALLOWED[module_name, global_name]
        except KeyError:
            raise DataError(
                f"A CIFAR-100 file asks to run {module_name}.{global_name}, which no official "
                f"file does; {ADVICE}."
            ) from None
