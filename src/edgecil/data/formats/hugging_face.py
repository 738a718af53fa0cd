"""Datasets of the library `datasets`: from the hub (`hf:ID`), from shards in a folder, in memory.

`hf:ID?name=CONFIG&train=SPLIT&test=SPLIT&image=COLUMN&label=COLUMN` names splits and columns that
have unusual names. Parquet, Arrow and WebDataset shards in a folder are read by the same library.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping, Sequence
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
_CACHES = ("cache-", "tmp")  # beginnings of the library's temporary files
_SAVED = ("dataset_dict.json", "dataset_info.json", "state.json")


def load_hub_dataset(text: str) -> Any:
    """Return the training and the test part of a dataset on the hub."""
    name, _, query = text.partition("?")
    options = dict(parse_qsl(query))
    for option in options:
        if option not in _OPTIONS:
            raise unknown_name_error("option of a hub dataset", option, _OPTIONS)
    load = partial(_library().load_dataset, name, options.get("name"))
    loaded = call_factory(load, f"The dataset {name!r} of the hub")
    return choose_parts(loaded, options, name)


def load_shards(path: Path, shards: Sequence[Path]) -> Any:
    """Return the parts of a dataset in Parquet, Arrow or tar files."""
    library = _library()
    if path.is_dir() and any((path / name).exists() for name in _SAVED):
        return choose_parts(library.load_from_disk(str(path)), name=str(path))
    train = [str(shard) for shard in shards if not _words(path, shard).isdisjoint(TRAIN)]
    test = [str(shard) for shard in _test_shards(path, shards) if str(shard) not in train]
    files = {"train": train, "test": test}
    if not train or not test:
        files = {"train": list(map(str, shards))}
    try:
        loaded = library.load_dataset(SHARDS[shards[0].suffix.lower()], data_files=files)
    except Exception as error:
        cause = first_line(error.__cause__ or error)
        raise DataError(f"Cannot read the shards in {path} ({cause}).") from error
    return choose_parts(loaded, name=str(path))


def _test_shards(path: Path, shards: Sequence[Path]) -> list[Path]:
    """Return the shards whose names have the first of the usual words for a test part."""
    for word in TEST:
        with_word = [shard for shard in shards if word in _words(path, shard)]
        if with_word:
            return with_word
    return []


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


def is_hub_dataset(candidate: Any) -> bool:
    """Return whether an object is a Dataset or a DatasetDict of the library."""
    package = type(candidate).__module__.partition(".")[0]
    return package == "datasets" and hasattr(candidate, "column_names")


def without_decoding(part: Any) -> Any:
    """Return a part whose images are not decoded; a transformed or foreign part is not changed."""
    if not is_hub_dataset(part) or part.format["type"] == "custom":
        return part
    chosen = find_columns(part)
    if chosen is None:  # the label may be inside a record, as in WebDataset
        part = part.flatten()
        chosen = find_columns(part)
    if chosen is None:
        raise DataError(
            f"{library_name(part) or 'The dataset'} has the columns "
            f"{', '.join(part.column_names[:20])}; "
            "rename those of the inputs and of the labels to 'image' and 'label'."
        )
    part = part.with_format(None).select_columns(list(chosen))
    if type(part.features[chosen[0]]).__name__ == "Image":
        part = part.cast_column(chosen[0], _library().Image(decode=False))
    return part


def find_columns(part: Any) -> tuple[str, str] | None:
    """Return the columns of the inputs and of the labels; None if they are not found."""
    if not is_hub_dataset(part):
        return None
    kinds = {name: type(kind).__name__ for name, kind in part.features.items()}
    inputs = _pick_column(kinds, "Image", _INPUTS)
    labels = _pick_column(kinds, "ClassLabel", _LABELS)
    return None if inputs is None or labels is None else (inputs, labels)


def label_names(part: Any) -> tuple[str, ...] | None:
    """Return the names of a part's classes, if its labels have names."""
    chosen = find_columns(part)
    names = None if chosen is None else getattr(part.features[chosen[1]], "names", None)
    return None if names is None else tuple(names)


def content_key(part: Any) -> str | None:
    """Return the library's fingerprint of the content of a part; None for other datasets."""
    return str(part._fingerprint) if is_hub_dataset(part) else None


def library_name(dataset: Any) -> str | None:
    """Return the name of a dataset in the library."""
    part = next(iter(dataset.values()), None) if isinstance(dataset, dict) else dataset
    info = getattr(part, "info", None) if is_hub_dataset(part) else None
    return getattr(info, "dataset_name", None)


def choose_parts(loaded: Any, options: Mapping[str, str] = {}, name: str = "the dataset") -> Any:
    """Return the training and the test part of a DatasetDict, with the columns in the options."""
    if not isinstance(loaded, dict):
        return _renamed(loaded, options)
    only_split = next(iter(loaded)) if len(loaded) == 1 else None
    train = options.get("train") or _first_present(TRAIN, loaded) or only_split
    other_splits = [split for split in loaded if split != train]
    test = options.get("test") or _first_present(TEST, other_splits)
    if train is None:
        raise UsageError(f"{name} has the parts {', '.join(loaded)}; name one as 'train'.")
    parts = []
    for split in (train,) if test is None else (train, test):
        if split not in loaded:
            raise unknown_name_error(f"split of {name}", split, loaded)
        parts.append(_renamed(loaded[split], options))
    return parts[0] if len(parts) == 1 else tuple(parts)


def _first_present(names: Sequence[str], present: Collection[str]) -> str | None:
    return next((name for name in names if name in present), None)


def _renamed(part: Any, options: Mapping[str, str]) -> Any:
    """Return a part with the chosen columns alone, under the usual names."""
    for usual in ("image", "label"):
        column = options.get(usual)
        if column is None:
            continue
        if column not in part.column_names:
            raise unknown_name_error("column", column, part.column_names)
        if column == usual:
            continue
        if usual in (find_columns(part) or ()):
            part = part.remove_columns([usual])
        part = part.rename_column(column, usual)
    return part


def _pick_column(kinds: dict[str, str], kind: str, usual: Sequence[str]) -> str | None:
    """Return a column of a type, one with a usual name first, or else any with a usual name."""
    of_kind = [name for name in kinds if kinds[name] == kind]
    ranks = {}
    for name in of_kind or kinds:
        last_part = name.split(".")[-1]
        if last_part in usual:
            ranks[name] = usual.index(last_part)
    by_rank = sorted(ranks, key=ranks.__getitem__)
    return next(iter([*by_rank, *of_kind]), None)


def _words(root: Path, path: Path) -> set[str]:
    inner = path.relative_to(root) if root.is_dir() else Path(path.name)
    return set(re.split(r"[^a-z]+", inner.with_suffix("").as_posix().lower()))


def _library() -> Any:
    return import_package("datasets", "hf", "A dataset of the hub or in Parquet, Arrow or tar")
