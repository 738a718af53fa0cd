"""Datasets of the library `datasets`: from the hub (`hf:ID`), from shards in a folder, in memory.

`hf:ID?name=CONFIG&train=SPLIT&test=SPLIT&image=COLUMN&label=COLUMN` names what is not found by
itself. Parquet, Arrow and WebDataset shards in a folder are read by the same library.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from edgecil.data.decode import SUFFIXES
from edgecil.data.formats.folder import TEST, TRAIN
from edgecil.errors import DataError, UsageError, first_line, unknown_name_error
from edgecil.io.code import call_factory
from edgecil.io.packages import import_package

SHARDS = {".parquet": "parquet", ".arrow": "arrow", ".tar": "webdataset"}

_OPTIONS = ("name", "train", "test", "image", "label")
_INPUTS = ("image", "img", "jpg", "jpeg", "png", "webp", "features", "embedding", "vector")
_LABELS = ("label", "labels", "fine_label", "cls", "class", "target")
_CACHES = ("cache-", "tmp")  # files that the library leaves beside its own
_SAVED = ("dataset_dict.json", "dataset_info.json", "state.json")


def load(text: str) -> Any:
    """Return the training and the test part of a dataset on the hub."""
    name, _, query = text.partition("?")
    options = dict(parse_qsl(query))
    for option in options:
        if option not in _OPTIONS:
            raise unknown_name_error("option of a hub dataset", option, _OPTIONS)
    load = partial(_library().load_dataset, name, options.get("name"))
    found = call_factory(load, f"The dataset {name!r} of the hub")
    return choose_parts(found, options, name)


def load_shards(path: Path, shards: Sequence[Path]) -> Any:
    """Return the parts of a dataset in Parquet, Arrow or tar files."""
    library = _library()
    if path.is_dir() and any((path / it).exists() for it in _SAVED):
        return choose_parts(library.load_from_disk(str(path)), name=str(path))
    train = [shard for shard in shards if _words(path, shard) & set(TRAIN)]
    named = ([it for it in shards if name in _words(path, it)] for name in TEST)
    test = [shard for shard in next(filter(None, named), []) if shard not in train]
    files = {"train": train, "test": test} if train and test else {"train": list(shards)}
    texts = {part: [str(it) for it in paths] for part, paths in files.items()}
    try:
        found = library.load_dataset(SHARDS[shards[0].suffix.lower()], data_files=texts)
    except Exception as error:
        cause = first_line(error.__cause__ or error)
        raise DataError(f"Cannot read the shards in {path} ({cause}).") from error
    return choose_parts(found, name=str(path))


def find_shards(path: Path) -> list[Path]:
    """Return the shards of one format at a path, sorted; none if it is a folder of images."""
    if not path.is_dir():
        return [path] if path.suffix.lower() in SHARDS and path.exists() else []
    files: dict[str, list[Path]] = {suffix: [] for suffix in SHARDS}
    for directory, inner, names in os.walk(path):
        inner[:] = sorted(name for name in inner if not name.startswith("."))
        for name in sorted(names):
            suffix = Path(name).suffix.lower()
            if suffix in SUFFIXES and not name.startswith("."):
                return []
            if suffix in SHARDS and not name.startswith((".", *_CACHES)):
                files[suffix].append(Path(directory, name))
    present = [suffix for suffix in SHARDS if files[suffix]]
    if len(present) > 1:
        raise DataError(
            f"{path} has both *{present[0]} and *{present[1]} files; give a folder with shards of "
            "one format."
        )
    return files[present[0]] if present else []


def is_dataset(given: Any) -> bool:
    """Return whether an object is a Dataset or a DatasetDict of the library."""
    return type(given).__module__.partition(".")[0] == "datasets" and hasattr(given, "column_names")


def plain(part: Any) -> Any:
    """Return a part without decoding its images; what is transformed, or no such part, as is."""
    if not is_dataset(part) or part.format["type"] == "custom":
        return part
    chosen = columns(part)
    if chosen is None:  # the label may be inside a record, as in WebDataset
        part = part.flatten()
        chosen = columns(part)
    if chosen is None:
        raise DataError(
            f"{title(part) or 'The dataset'} has the columns {', '.join(part.column_names[:20])}; "
            "rename those of the inputs and of the labels to 'image' and 'label'."
        )
    part = part.with_format(None).select_columns(list(chosen))
    if type(part.features[chosen[0]]).__name__ == "Image":
        part = part.cast_column(chosen[0], _library().Image(decode=False))
    return part


def columns(part: Any) -> tuple[str, str] | None:
    """Return the columns of the inputs and of the labels; None if they are not found."""
    if not is_dataset(part):
        return None
    kinds = {name: type(kind).__name__ for name, kind in part.features.items()}
    first, second = _pick(kinds, "Image", _INPUTS), _pick(kinds, "ClassLabel", _LABELS)
    return None if first is None or second is None else (first, second)


def class_names(part: Any) -> tuple[str, ...] | None:
    """Return the names of a part's classes, if its labels have some."""
    chosen = columns(part)
    names = None if chosen is None else getattr(part.features[chosen[1]], "names", None)
    return None if names is None else tuple(names)


def key(part: Any) -> str | None:
    """Return what determines the content of a part of the library; None for other datasets."""
    return str(part._fingerprint) if is_dataset(part) else None


def title(given: Any) -> str | None:
    """Return the name that the library knows a dataset by."""
    part = next(iter(given.values()), None) if isinstance(given, dict) else given
    info = getattr(part, "info", None) if is_dataset(part) else None
    return getattr(info, "dataset_name", None)


def choose_parts(found: Any, options: Mapping[str, str] = {}, name: str = "the dataset") -> Any:
    """Return the training and the test part of a DatasetDict, with the columns asked for."""
    if not isinstance(found, dict):
        return _renamed(found, options)
    only = next(iter(found)) if len(found) == 1 else None
    train = options.get("train") or next((it for it in TRAIN if it in found), only)
    test = options.get("test") or next((it for it in TEST if it in found and it != train), None)
    if train is None:
        raise UsageError(f"{name} has the parts {', '.join(found)}; name one as 'train'.")
    parts = []
    for split in (train,) if test is None else (train, test):
        if split not in found:
            raise unknown_name_error(f"split of {name}", split, found)
        parts.append(_renamed(found[split], options))
    return parts[0] if len(parts) == 1 else tuple(parts)


def _renamed(part: Any, options: Mapping[str, str]) -> Any:
    """Return a part with the chosen columns alone, under the usual names."""
    for usual in ("image", "label"):
        column = options.get(usual)
        if column is None:
            continue
        if column not in part.column_names:
            raise unknown_name_error("column", column, part.column_names)
        others = [it for it in columns(part) or () if it != column and it == usual]
        part = part.remove_columns(others)
        part = part if column == usual else part.rename_column(column, usual)
    return part


def _pick(kinds: dict[str, str], kind: str, usual: Sequence[str]) -> str | None:
    """Return a column of a type, one with a usual name first, or else any with a usual name."""
    typed = [name for name in kinds if kinds[name] == kind]
    places = {name: usual.index(end) for name in kinds if (end := name.split(".")[-1]) in usual}
    named = sorted((it for it in typed or kinds if it in places), key=places.__getitem__)
    return next(iter([*named, *typed]), None)


def _words(root: Path, path: Path) -> set[str]:
    inner = path.relative_to(root) if root.is_dir() else Path(path.name)
    return set(re.split(r"[^a-z]+", inner.with_suffix("").as_posix().lower()))


def _library() -> Any:
    return import_package("datasets", "hf", "A dataset of the hub or in Parquet, Arrow or tar")
