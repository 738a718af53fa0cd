"""Similarity matrices on disk: .npz (with names and source), .npy, .csv."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from edgecil.errors import DataError, UsageError, name_some
from edgecil.io.arrays import Floats, read_npy, read_npz
from edgecil.io.csv_files import check_header, read_rows
from edgecil.io.files import replace_file
from edgecil.io.numbers import is_number, parse_float
from edgecil.similarity.matrix import SimilarityMatrix

# The arrays that are read from an archive.
_ARRAYS = ("values", "vectors", "names", "source")
_LARGEST = 1e100  # sums of products of larger numbers overflow


def save_similarity(matrix: SimilarityMatrix, path: str | Path) -> None:
    """Write names, values and source to a compressed .npz file.

    If writing fails, an existing file stays as it is.
    """
    with replace_file(check_similarity_path(path)) as file:
        np.savez_compressed(
            file,
            names=np.array(matrix.names, dtype=np.str_),
            values=matrix.values,
            source=np.array(json.dumps(dict(matrix.source))),
        )


def check_similarity_path(path: str | Path) -> Path:
    """Return the path, if a similarity matrix can be saved to it."""
    if Path(path).suffix.lower() != ".npz":
        raise UsageError(f"A similarity matrix is saved as .npz. Got {path} instead.")
    return Path(path)


def read_similarity(path: str | Path) -> SimilarityMatrix:
    """Return the similarity matrix in a file.

    - .npz: as :func:`save_similarity` writes it, or any archive with a `values` array;
    - .npy: an (N, N) array;
    - .csv: N lines of N numbers, optionally under a header of class names (and with a first
      column that repeats them, or numbers the lines).
    """
    path = Path(path)
    arrays = _read_arrays(path, (".npz", ".npy", ".csv"))
    values = _numbers(arrays, ("values",), "similarity", path)
    matrix = SimilarityMatrix.of(values, _names(arrays, path))
    if "source" not in arrays:  # edgecil's own files have an empty diagonal
        _refuse_distances(values, path)
    return SimilarityMatrix(matrix.names, matrix.values, _source(arrays, path))


def read_embeddings(path: str | Path) -> SimilarityMatrix:
    """Return the cosines of class vectors in a .npy file, or an .npz with `vectors`, `names`."""
    path = Path(path)
    arrays = _read_arrays(path, (".npz", ".npy"))
    rows = _numbers(arrays, ("vectors", "values"), "class vectors", path)
    return SimilarityMatrix.of_vectors(rows, _names(arrays, path), _source(arrays, path))


def _read_arrays(path: Path, endings: tuple[str, ...]) -> dict[str, Any]:
    if path.suffix.lower() not in endings:
        kinds = f"{', '.join(endings[:-1])} or {endings[-1]}"
        raise UsageError(f"Arrays are read from {kinds} files. Got {path} instead.")
    if path.suffix.lower() == ".csv":
        return _read_csv(path)
    if path.suffix.lower() == ".npy":
        return {"values": read_npy(path)}
    arrays, names = read_npz(path, _ARRAYS)
    return {**dict.fromkeys(names), **arrays}


def _numbers(arrays: dict[str, Any], names: Sequence[str], kind: str, path: Path) -> Floats:
    """Return the first array of these names, as real numbers; extreme values are refused."""
    array = next((arrays[name] for name in names if name in arrays), None)
    if array is None:
        present = name_some(list(arrays)) or "nothing"
        raise DataError(f"{path} contains no array called {names[0]!r} (it has: {present}).")
    if array.dtype.kind not in "biuf":
        raise DataError(f"The {kind} in {path} must be real numbers. Got {array.dtype} instead.")
    numbers: Floats = array.astype(np.float64)
    if (np.abs(numbers[np.isfinite(numbers)]) > _LARGEST).any():
        raise DataError(f"The {kind} in {path} must lie within ±{_LARGEST:g}; divide them.")
    return numbers


def _refuse_distances(values: Floats, path: Path) -> None:
    """Raise an error if the diagonal shows that larger values mean less similar classes."""
    if not np.isfinite(values).all():
        return
    off_diagonal = values[~np.eye(len(values), dtype=bool)]
    on_diagonal = np.diag(values).max()
    if on_diagonal <= off_diagonal.min() and on_diagonal < off_diagonal.max():
        raise DataError(
            f"{path} has distances, or similarities without a diagonal: {on_diagonal:.3g} on the "
            f"diagonal, {off_diagonal.min():.3g} and more elsewhere. Write similarities (such as "
            "1 - distance) with their largest value, or nan, on the diagonal."
        )


def _names(arrays: dict[str, Any], path: Path) -> list[str] | None:
    names = arrays.get("names")
    if names is None or isinstance(names, list):  # as in a .csv file
        return names
    if names.ndim != 1 or names.dtype.kind != "U":
        raise DataError(
            f"The 'names' in {path} must be a list of texts, one per class. "
            f"Got {names.dtype} of shape {names.shape}."
        )
    return [str(name) for name in names]


def _source(arrays: dict[str, Any], path: Path) -> dict[str, str]:
    if "source" not in arrays:
        return {"file": path.name}
    try:
        return {str(key): str(value) for key, value in json.loads(str(arrays["source"])).items()}
    except (ValueError, AttributeError, RecursionError) as error:
        raise DataError(
            f"{path} has a damaged 'source' entry; it must be a JSON object, as edgecil writes it."
        ) from error


def _in_column_order(names: list[str], rows: list[list[str]], path: Path) -> list[list[str]]:
    """Return rows without their names, in the order of the columns.

    Rows that are numbered instead of named stay in their order.
    """
    row_names = [row[0].strip() if row else "" for row in rows]
    are_numbered = all(map(is_number, row_names)) and not any(map(is_number, names))
    if are_numbered:
        return [row[1:] for row in rows]
    strangers = [name for name in row_names if name not in names]
    if strangers:
        raise DataError(f"{path} has a row {strangers[0]!r}, but no such column; name both alike.")
    if len(set(row_names)) < len(row_names):
        repeated = next(name for name in row_names if row_names.count(name) > 1)
        raise DataError(f"{path} has more than one row {repeated!r}; names must differ.")
    row_of_name = dict(zip(row_names, rows, strict=True))
    return [row_of_name[name][1:] for name in names]


def _read_csv(path: Path) -> dict[str, Any]:
    rows = read_rows(path)
    if not rows:
        raise DataError(f"{path} is empty.")
    names = None
    if not all(is_number(cell) for cell in rows[0]):
        names = [name.strip() for name in rows[0]]
        rows = rows[1:]
        check_header(names, str(path))
        has_row_names = rows and (not is_number(rows[0][0]) or not names[0])
        if has_row_names:
            names = names[-len(rows) :]
            rows = _in_column_order(names, rows, path)
    try:
        values = [list(map(parse_float, row)) for row in rows]
    except ValueError as error:
        raise DataError(f"{path} contains something that is not a number: {error}.") from error
    if any(len(row) != len(values[0]) for row in values):
        raise DataError(f"{path} has rows of different lengths.")
    if not values or len(values) != len(values[0]):
        raise DataError(
            f"{path} contains {len(values)} rows of {len(values[0]) if values else 0} numbers, "
            "separated by commas; a similarity matrix has as many rows as columns."
        )
    return {"values": np.array(values), "names": names}
