"""Files of truth tables: small `.npz` archives with a manifest and checksums."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from edgecil.errors import DataError, UsageError
from edgecil.io.arrays import read_npz
from edgecil.io.files import parse_json, replace_file
from edgecil.lab.truth_tables import Counts, TruthTable, Values
from edgecil.sequences.sequence import ClassSequence
from edgecil.sequences.space import SequenceSpace

FORMAT = 1
BUNDLED = ("truths.npz", "photographs.npz")
_MANIFEST = "manifest"
# The time stamp of all members, so that the same tables give the same bytes.
_NO_TIME = (1980, 1, 1, 0, 0, 0)


@cache
def bundled_tables() -> tuple[TruthTable, ...]:
    """Return the tables that come with edgecil, built by `tools/build_truths.py`."""
    with as_file(files("edgecil.lab") / "data") as folder:
        return tuple(table for name in BUNDLED for table in read_truths(folder / name))


def write_truths(tables: Iterable[TruthTable], path: str | Path) -> None:
    """Write tables with correct answers to a file; the same tables give the same bytes.

    The manifest has, for each table, the classes, the task sizes and, by method, what determined
    the results and the SHA-256 of the counts.
    """
    entries, arrays = [], {}
    for table in (part for own in tables for part in (own, own.structured) if part is not None):
        if table.kind != "enumerated":
            orders = [sequence.order for sequence in table.sequences]
            arrays[f"{table.name}/orders"] = _narrowed(np.array(orders))
        totals, methods = None, {}
        for method, result in table.results.items():
            if isinstance(result, Values):
                raise UsageError(
                    f"Only correct answers can be written; {method!r} in the truth table "
                    f"{table.name!r} has accuracies."
                )
            totals, counts = result.totals.tolist(), _narrowed(result.correct)
            arrays[f"{table.name}/{method}"] = counts
            methods[method] = {
                "seeds": list(result.seeds),
                "classifiers": list(result.classifiers),
                "sha256": _digest(counts),
                "provenance": dict(table.provenance.get(method, {})),
            }
        entries.append(
            {
                "name": table.name,
                "dataset": table.dataset,
                "classes": None if table.classes is None else list(table.classes),
                "sizes": list(table.space.sizes),
                "kind": table.kind,
                "labels": list(table.labels),
                "totals": totals,
                "methods": methods,
            }
        )
    manifest = json.dumps({"format": FORMAT, "tables": entries}, ensure_ascii=False)
    arrays = {_MANIFEST: np.frombuffer(manifest.encode(), dtype=np.uint8), **arrays}
    with replace_file(Path(path)) as file, zipfile.ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            buffer = io.BytesIO()
            npy.write_array(buffer, array, version=(1, 0), allow_pickle=False)
            member = zipfile.ZipInfo(f"{name}.npy", _NO_TIME)
            archive.writestr(member, buffer.getvalue(), zipfile.ZIP_LZMA)


def read_truths(path: str | Path) -> list[TruthTable]:
    """Return the tables in a file that :func:`write_truths` wrote; checksums are verified."""
    path = Path(path)
    arrays, names = read_npz(path, [_MANIFEST])
    if _MANIFEST not in arrays:
        raise DataError(f"{path} is no file of truth tables: it has no manifest.")
    try:
        manifest = parse_json(bytes(arrays[_MANIFEST]).decode(), f"The manifest of {path}")
        if manifest["format"] != FORMAT:
            raise DataError(
                f"{path} was written by another version of edgecil (format {manifest['format']}, "
                f"this version reads {FORMAT})."
            )
        counts, _ = read_npz(path, names)
        tables: list[TruthTable] = []
        for entry in manifest["tables"]:
            table = _read_table(entry, counts, path)
            if table.kind == "structured":  # it follows the table of the same classes
                tables[-1] = replace(tables[-1], structured=table)
            else:
                tables.append(table)
        return tables
    except (AttributeError, LookupError, OverflowError, TypeError, ValueError) as error:
        raise DataError(f"{path} is damaged: {error}.") from error


def _read_table(entry: dict[str, Any], arrays: dict[str, NDArray[Any]], path: Path) -> TruthTable:
    space = SequenceSpace(entry["sizes"])
    counted = {arrays[f"{entry['name']}/{method}"].shape[-1] for method in entry["methods"]}
    if entry["kind"] == "enumerated":
        if counted - {space.size}:
            raise DataError(f"{path} is damaged: {entry['name']} does not have all its orders.")
        sequences = tuple(space.enumerate())
    else:
        orders = arrays[f"{entry['name']}/orders"].tolist()
        sequences = tuple(ClassSequence.from_order(order, space.sizes) for order in orders)
    results: dict[str, Counts | Values] = {}
    for method, about in entry["methods"].items():
        correct = arrays[f"{entry['name']}/{method}"]
        runs = len(about["seeds"]), len(about["classifiers"])
        expected = (*runs, space.tasks, space.classes, len(sequences))
        if correct.shape != expected or _digest(correct) != about["sha256"]:
            raise DataError(
                f"{path} is damaged: the counts of {method} on {entry['name']} do not have the "
                "checksum in the manifest."
            )
        seeds, classifiers = tuple(about["seeds"]), tuple(about["classifiers"])
        totals = np.array(entry["totals"], dtype=np.int64)
        results[method] = Counts(seeds, classifiers, correct, totals)
    return TruthTable(
        entry["name"],
        entry["dataset"],
        None if entry["classes"] is None else tuple(entry["classes"]),
        entry["kind"],
        sequences,
        results,
        {method: about["provenance"] for method, about in entry["methods"].items()},
        tuple(entry.get("labels", ())),
    )


def _narrowed(numbers: NDArray[Any]) -> NDArray[Any]:
    """Return integers >= 0 in the smallest type that holds them."""
    largest = int(numbers.max(initial=0))
    return np.ascontiguousarray(numbers, dtype=np.min_scalar_type(largest))


def _digest(counts: NDArray[Any]) -> str:
    return hashlib.sha256(np.ascontiguousarray(counts).tobytes()).hexdigest()
