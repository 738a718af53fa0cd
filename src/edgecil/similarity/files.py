"""Similarity matrices on disk: .npz (with names and source), .npy, .csv."""

from __future__ import annotations

import csv
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from edgecil.classes.files import read_text
from edgecil.errors import DataError, UsageError
from edgecil.similarity.matrix import Embeddings, Floats, Ints, SimilarityMatrix
from edgecil.storage import replace_file


def save_similarity(matrix: SimilarityMatrix, path: str | Path) -> None:
    """Write names, values and source as one compressed .npz; an old file survives a failure."""
    path = Path(path)
    if path.suffix != ".npz":
        raise UsageError(f"A similarity matrix is saved as .npz. Got {path} instead.")
    with replace_file(path) as file:
        np.savez_compressed(
            file,
            names=np.array(matrix.names, dtype=np.str_),
            values=matrix.values,
            source=np.array(json.dumps(dict(matrix.source))),
        )


def read_similarity(path: str | Path) -> SimilarityMatrix:
    """The similarity matrix in a file.

    - .npz: as :func:`save_similarity` writes it, or any archive with a `values` array;
    - .npy: an (N, N) array;
    - .csv: N lines of N numbers, optionally under a header of class names (and with a first
      column that repeats them).
    """
    path = Path(path)
    if path.suffix == ".csv":
        names, values = _read_csv(path)
        return SimilarityMatrix.of(values, names)
    arrays = _read_arrays(path)
    if "values" not in arrays:
        raise DataError(
            f"{path} holds no array called 'values' (it has: {', '.join(arrays) or 'nothing'})."
        )
    matrix = SimilarityMatrix.of(arrays["values"], _names(arrays))
    return SimilarityMatrix(matrix.names, matrix.values, _source(arrays, path))


def read_embeddings(path: str | Path) -> Embeddings:
    """Class vectors from a .npy file, or from an .npz with `vectors` and, if known, `names`."""
    path = Path(path)
    arrays = _read_arrays(path)
    vectors = arrays.get("vectors", arrays.get("values"))
    if vectors is None:
        raise DataError(f"{path} holds no array called 'vectors' (it has: {', '.join(arrays)}).")
    embeddings = Embeddings.of(vectors, _names(arrays))
    return Embeddings(embeddings.names, embeddings.vectors, _source(arrays, path))


def read_features(path: str | Path) -> tuple[Floats, Ints]:
    """Image features (n, d) and their original class labels (n,) from an .npz file."""
    path = Path(path)
    arrays = _read_arrays(path)
    if not {"features", "labels"} <= arrays.keys():
        raise DataError(
            f"{path} must hold the arrays 'features' (n, d) and 'labels' (n,). "
            f"It has: {', '.join(arrays) or 'nothing'}."
        )
    return arrays["features"], arrays["labels"]


def _read_arrays(path: Path) -> dict[str, Any]:
    if path.suffix not in {".npy", ".npz"}:
        raise UsageError(f"Arrays are read from .npz, .npy or .csv files. Got {path} instead.")
    try:
        with path.open("rb") as file:
            loaded = np.load(file, allow_pickle=False)
            if isinstance(loaded, np.ndarray):
                return {"values": loaded}
            return {name: loaded[name] for name in loaded.files}
    except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile) as error:
        raise DataError(
            f"Cannot read {path}: {error}. The file is missing, cut short, "
            "or not what its ending says."
        ) from error


def _names(arrays: dict[str, Any]) -> list[str] | None:
    return [str(name) for name in arrays["names"]] if "names" in arrays else None


def _source(arrays: dict[str, Any], path: Path) -> dict[str, str]:
    if "source" not in arrays:
        return {"file": path.name}
    try:
        return {str(key): str(value) for key, value in json.loads(str(arrays["source"])).items()}
    except (ValueError, AttributeError) as error:
        raise DataError(f"{path} has a damaged 'source' entry: {error}.") from error


def _read_csv(path: Path) -> tuple[list[str] | None, list[list[float]]]:
    rows = [row for row in csv.reader(read_text(path).splitlines()) if row]
    if not rows:
        raise DataError(f"{path} is empty.")
    names = None
    if not all(_is_number(cell) for cell in rows[0]):
        names, rows = rows[0], rows[1:]
        if rows and not _is_number(rows[0][0]):
            names, rows = names[-len(rows) :], [row[1:] for row in rows]
    try:
        values = [[float(cell) for cell in row] for row in rows]
    except ValueError as error:
        raise DataError(f"{path} holds something that is not a number: {error}.") from error
    if any(len(row) != len(values[0]) for row in values):
        raise DataError(f"{path} has rows of different lengths.")
    return names, values


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
