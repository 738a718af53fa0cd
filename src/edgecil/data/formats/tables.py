"""Parquet and Arrow files with one image per row, as the Hugging Face hub and `datasets` have them.

Images are a column of encoded images, or of `{bytes, path}` as `datasets` stores them; labels are a
column of numbers or texts. Class names come from the features that `datasets` writes into the
file. Reading requires the package pyarrow.
"""

from __future__ import annotations

import struct
import threading
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

from edgecil.data.formats.shards import PARQUET, Shard, list_shards
from edgecil.data.image_files import ImageFiles
from edgecil.errors import DataError, EdgecilError, PrerequisiteError
from edgecil.io import limits
from edgecil.io.files import check_file, check_header, parse_json

IMAGES = ("image", "img")
LABELS = ("label", "labels", "fine_label")

_ROWS = 16  # of a Parquet file that are read at once, at most
_BUFFER = 2**20  # bytes of a Parquet file that are read at once
_MOST = 2**28  # bytes of images that are kept, or read at once
_KEPT = 16  # times as many are kept, for threads that decode them
_DICTIONARY, _BATCH = 2, 3  # kinds of Arrow messages that have buffers
_LEAST = 16  # bytes of an encoded image; equal rows can be packed into much less


def list_tables(root: Path, paths: Sequence[Path]) -> ImageFiles:
    """Return the images in Parquet or Arrow files."""
    return list_shards(root, paths, read_table)


def read_table(path: Path) -> Shard:
    """Return the rows of one file."""
    arrow = _pyarrow()
    size = check_file(path)
    try:
        table = _Parquet(path) if path.suffix.lower() == PARQUET else _Arrow(path, arrow)
        features = _features(table.schema, path)
        image = _choose(path, "images", _image_columns(table.schema, features), IMAGES)
        label = _choose(path, "labels", _label_columns(table.schema, features), LABELS)
        for name in (image, label):
            check_header([it for it in table.schema.names if it == name], str(path))
        table.use(image, label)
        if table.rows * _LEAST > size:
            raise DataError(
                f"Cannot read {path}: it announces {table.rows:,} rows, too many for images in "
                f"{size:,} bytes."
            )
        values = list(table.column(label))
    except (EdgecilError, MemoryError):
        raise
    except Exception as error:  # a damaged file may raise anything
        raise _damaged(path, error) from error
    if any(value is None for value in values):
        raise DataError(f"Row {values.index(None)} of {path} has no {label!r}.")
    names: Any = features.get(label, {}).get("names")
    named = isinstance(names, list) and all(isinstance(name, str) for name in names)
    images = [Row(table, row) for row in range(len(values))]
    return Shard(images, values, tuple(names) if named else None)


@dataclass(frozen=True)
class Row:
    """The image in one row.

    Attributes:
        table: the file.
        place: the row.
    """

    table: _Table
    place: int

    def __str__(self) -> str:
        return f"row {self.place} of {self.file}"

    @property
    def file(self) -> Path:
        """The file."""
        return self.table.path

    def read(self) -> bytes:
        """Return the encoded image."""
        try:
            content = self.table.image(self.place)
        except (EdgecilError, MemoryError):
            raise
        except Exception as error:
            raise _damaged(self.file, error) from error
        if content is None:
            raise DataError(
                f"Row {self.place} of {self.file} holds no image but at most its path; save the "
                "dataset with the images in it (datasets: cast the column to Image() and save)."
            )
        limits.IMAGE.check(str(self), content.size)
        return bytes(content.to_pybytes())


class _Table:
    """A file with columns.

    Attributes:
        path: the file.
        schema: types of its columns.
        rows: number of rows, once the columns are chosen.
        images: name of the column with images.
    """

    path: Path
    schema: Any
    rows: int
    images: str

    def use(self, images: str, labels: str) -> None:
        """Choose the columns to read."""
        raise NotImplementedError

    def column(self, name: str) -> Iterator[Any]:
        """Yield the values of a column."""
        raise NotImplementedError

    def image(self, row: int) -> Any | None:
        """Return the encoded image in a row, as a buffer of pyarrow; None if there is none."""
        raise NotImplementedError


class _Parquet(_Table):
    """Rows are decompressed in order, a few at a time; the last ones are kept.

    A value that many rows share is stored once, so that a file of some kilobytes can have gigabytes
    of equal images or labels. Equal labels stay one value in memory; of images, the fewer are read
    at once the larger they may be.
    """

    def __init__(self, path: Path) -> None:
        self.path, self._file = path, _open_parquet(path)
        self.schema = self._file.schema_arrow
        groups = [self._file.metadata.row_group(i) for i in range(self._file.num_row_groups)]
        for group in groups:
            limits.ROW_GROUP.check(f"A row group of {path}", group.total_byte_size)
        largest = max((group.total_byte_size for group in groups), default=0)
        self._rows_at_once = min(max(_MOST // max(largest, 1), 1), _ROWS)
        self._starts = list(accumulate((group.num_rows for group in groups), initial=0))
        self.rows = self._starts[-1]
        self._kept: dict[int, Any | None] = {}
        self._batches: Iterator[list[Any | None]] = iter(())
        self._next = 0  # the first row that is not read yet
        self._lock = threading.Lock()

    def use(self, images: str, labels: str) -> None:
        """Choose the columns to read."""
        self.images = images
        if not _is_number(self.schema.field(labels).type):
            self._file = _open_parquet(self.path, [labels])

    def column(self, name: str) -> Iterator[Any]:
        """Yield the values of a column; equal texts are one object."""
        for batch in self._file.iter_batches(batch_size=8192, columns=[name]):
            column = batch.column(0)
            if not hasattr(column, "dictionary"):
                yield from column.to_pylist()
                continue
            values = column.dictionary.to_pylist()
            yield from (None if it is None else values[it] for it in column.indices.to_pylist())

    def image(self, row: int) -> Any | None:
        """Return the encoded image in a row; None if there is none."""
        with self._lock:
            if row not in self._kept:
                group = bisect_right(self._starts, row) - 1
                if row < self._next or self._starts[group] > self._next or not self._kept:
                    self._batches = self._read(group)
                    self._next = self._starts[group]
            while row not in self._kept:
                images = next(self._batches)
                self._kept |= dict(enumerate(images, self._next))
                self._next += len(images)
                self._forget()
            return self._kept[row]

    def _forget(self) -> None:
        """Drop the oldest rows beyond the number and the bytes that are kept."""
        sizes = {row: 0 if it is None else it.size for row, it in self._kept.items()}
        size = sum(sizes.values())
        for place, (row, own) in enumerate(sizes.items()):
            if len(sizes) - place <= _KEPT * _ROWS and size <= _MOST:
                break
            if row < self._next - self._rows_at_once:
                del self._kept[row]
                size -= own

    def _read(self, start: int) -> Iterator[list[Any | None]]:
        """Yield images from the start of a row group on."""
        groups = list(range(start, len(self._starts) - 1))
        options = {"row_groups": groups, "columns": [self.images], "use_threads": False}
        for batch in self._file.iter_batches(batch_size=self._rows_at_once, **options):
            yield [_content(cell) for cell in batch.column(0)]


class _Arrow(_Table):
    """A file in Arrow's stream or file format, which stays on disk."""

    def __init__(self, path: Path, arrow: Any) -> None:
        self.path, self._arrow = path, arrow
        self._source = arrow.memory_map(str(path))
        # The file format is the stream after a magic word; its index at the end is not needed.
        self._start = 8 if self._source.read(6) == b"ARROW1" else 0
        self._source.seek(self._start)
        messages = arrow.ipc.MessageReader.open_stream(self._source)
        limits.ARRAYS.check(str(path), sum(map(_unpacked_size, messages)))
        self.schema = self._open().schema

    def _open(self, columns: Sequence[int] = ()) -> Any:
        self._source.seek(self._start)
        options = self._arrow.ipc.IpcReadOptions(included_fields=list(columns))
        return self._arrow.ipc.open_stream(self._source, options=options)

    def use(self, images: str, labels: str) -> None:
        """Choose the columns to read; others are not unpacked."""
        columns = sorted(self.schema.get_field_index(name) for name in (images, labels))
        table = self._open(columns).read_all()
        table.validate(full=True)  # offsets of a damaged file point outside of it
        self.images, self._table, self.rows = images, table, table.num_rows

    def column(self, name: str) -> Iterator[Any]:
        """Yield the values of a column."""
        yield from self._table.column(name).to_pylist()

    def image(self, row: int) -> Any | None:
        """Return the encoded image in a row; None if there is none."""
        return _content(self._table.column(self.images)[row])


def _unpacked_size(message: Any) -> int:
    """Return how many bytes the compressed buffers of an Arrow message have when unpacked.

    The message's description is a FlatBuffer, of which only the list of buffers is read here; a
    compressed buffer begins with its unpacked size.
    """
    data = memoryview(message.metadata)

    def number(kind: str, place: int) -> int:
        return int(struct.unpack_from(kind, data, place)[0])

    def follow(place: int) -> int:
        return place + number("<I", place)

    def field(table: int, index: int) -> int | None:
        offsets = table - number("<i", table)
        entry = 4 + 2 * index
        offset = number("<H", offsets + entry) if entry < number("<H", offsets) else 0
        return table + offset if offset else None

    root = follow(0)
    kind, header = field(root, 1), field(root, 2)
    if kind is None or header is None or number("<B", kind) not in (_BATCH, _DICTIONARY):
        return 0
    batch = follow(header)
    if number("<B", kind) == _DICTIONARY:
        inner = field(batch, 1)
        if inner is None:
            return 0
        batch = follow(inner)
    buffers = field(batch, 2)
    if field(batch, 3) is None or buffers is None:  # not compressed
        return 0
    first, body = follow(buffers), memoryview(message.body)
    size = 0
    for place in range(first + 4, first + 4 + 16 * number("<I", first), 16):
        if number("<q", place + 8) >= 8:
            size += max(0, struct.unpack_from("<q", body, number("<q", place))[0])
    return size


def _content(cell: Any) -> Any | None:
    """Return the bytes in a cell with an image: binary, or a structure with `bytes`."""
    if cell.is_valid and _is_structure(cell.type):
        cell = cell["bytes"]
    return cell.as_buffer() if cell.is_valid else None


def _open_parquet(path: Path, shared: Sequence[str] = ()) -> Any:
    """Return a Parquet file; values of the columns `shared` that are equal are in memory once."""
    from pyarrow.parquet import ParquetFile

    return ParquetFile(
        path, memory_map=False, buffer_size=_BUFFER, read_dictionary=list(shared) or None
    )


def _is_structure(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_struct(kind))


def _is_number(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_integer(kind))


def _features(schema: Any, path: Path) -> Mapping[str, Mapping[str, Any]]:
    """Return the features that `datasets` has stored, by column."""
    stored = (schema.metadata or {}).get(b"huggingface")
    if stored is None:
        return {}
    content = parse_json(stored.decode("utf-8", "replace"), f"The features of {path}")
    for key in ("info", "features"):
        content = content.get(key) if isinstance(content, dict) else None
    if not isinstance(content, dict):
        return {}
    return {name: value for name, value in content.items() if isinstance(value, dict)}


def _image_columns(schema: Any, features: Mapping[str, Mapping[str, Any]]) -> list[str]:
    from pyarrow import types

    def has_bytes(kind: Any) -> bool:
        if types.is_struct(kind):
            index = kind.get_field_index("bytes")
            return index >= 0 and has_bytes(kind.field(index).type)
        return bool(types.is_binary(kind) or types.is_large_binary(kind))

    columns = [column.name for column in schema if has_bytes(column.type)]
    declared = [name for name in columns if features.get(name, {}).get("_type") == "Image"]
    return declared or columns


def _label_columns(schema: Any, features: Mapping[str, Mapping[str, Any]]) -> list[str]:
    from pyarrow import types

    kinds = (types.is_integer, types.is_string, types.is_large_string)
    columns = [column.name for column in schema if any(kind(column.type) for kind in kinds)]
    declared = [name for name in columns if features.get(name, {}).get("_type") == "ClassLabel"]
    usual = [name for name in columns if name in LABELS]
    return declared or usual or columns


def _choose(path: Path, what: str, columns: Sequence[str], usual: Sequence[str]) -> str:
    """Return the only column, or the first one with a usual name."""
    if len(columns) == 1:
        return columns[0]
    for name in usual:
        if name in columns:
            return name
    listed = ", ".join(map(repr, columns)) or "none"
    raise DataError(
        f"{path} must have one column of {what}, or one named {usual[0]!r}. Columns that could be "
        f"it: {listed}; rename one to {usual[0]!r}."
    )


def _pyarrow() -> Any:
    try:
        import pyarrow
        import pyarrow.ipc
    except ImportError as error:
        raise PrerequisiteError(
            "Reading Parquet and Arrow files requires pyarrow; run pip install 'edgecil[arrow]'."
        ) from error
    return pyarrow


def _damaged(path: Path, error: Exception) -> DataError:
    line = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    return DataError(f"Cannot read {path}: {line.rstrip('.')}.")
