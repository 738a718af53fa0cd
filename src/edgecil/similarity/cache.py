"""Embeddings cached on disk, by a key made of encoder, weights and texts."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from edgecil.errors import DataError, EdgecilError
from edgecil.io.arrays import read_npz
from edgecil.io.files import cache_directory, replace_file
from edgecil.similarity.encoders import Encoder

_log = logging.getLogger(__name__)
_warned: set[Path] = set()


def encode_cached(encoder: Encoder, texts: Sequence[str]) -> NDArray[np.float64]:
    """`encoder.encode(texts)`, shape (n, d), computed once for these weights and texts.

    A damaged file in the cache is computed again; a cache that cannot be written gives a warning.
    """
    key = hashlib.sha256(
        json.dumps([encoder.name, encoder.version, list(texts)]).encode("utf-8")
    ).hexdigest()
    path = cache_directory() / "embeddings" / f"{key}.npz"
    vectors = _read(path, key, len(texts))
    if vectors is None:
        vectors = encoder.encode(texts)
        _write(path, key, vectors)
    return vectors


def _read(path: Path, key: str, count: int) -> NDArray[np.float64] | None:
    try:
        arrays, _ = read_npz(path, ("vectors", "key"))
        vectors, intact = arrays["vectors"], str(arrays["key"]) == key
    except (DataError, KeyError):
        return None
    if not intact or vectors.ndim != 2 or len(vectors) != count or vectors.dtype != np.float64:
        return None
    return vectors if np.isfinite(vectors).all() else None


def _write(path: Path, key: str, vectors: NDArray[np.float64]) -> None:
    try:
        with replace_file(path, private=True) as file:
            np.savez(file, vectors=vectors, key=np.array(key))
    except EdgecilError as error:
        if path.parent not in _warned:
            _warned.add(path.parent)
            _log.warning("Embeddings are computed but not cached. %s", error)
