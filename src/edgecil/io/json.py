"""JSON for result classes: dataclasses of plain values and NumPy arrays, under a named schema.

msgspec encodes and decodes dataclasses, tuples and mappings by their type hints; the hooks here add
arrays. NaN is written as null, and null in an array is read as NaN.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin

import msgspec
import numpy as np

from edgecil.errors import DataError, UsageError, format_value
from edgecil.io.files import read_text, replace_file

_T = TypeVar("_T")
_TAIL = re.compile(rb',"checksum":"([0-9a-f]{32})"\}\s*$')


def to_json(value: Any, schema: str) -> bytes:
    """Return a dataclass or mapping as one JSON object whose first key, `schema`, names its schema.

    >>> to_json({"mean": np.float64(1.5), "values": np.array([1.0, np.nan])}, "example/1")
    b'{"schema":"example/1","mean":1.5,"values":[1.0,null]}'
    """
    if not isinstance(value, Mapping):
        value = {field.name: getattr(value, field.name) for field in fields(value)}
    return msgspec.json.encode({"schema": schema, **value}, enc_hook=_encode)


def checked_json(value: Any, schema: str) -> bytes:
    """Return the JSON text of :func:`to_json` with a checksum."""
    return with_checksum(to_json(value, schema))


def save_json(path: str | Path, content: bytes) -> None:
    """Write an answer's JSON text to a file with the suffix .json, or without one."""
    path = Path(path)
    if path.suffix.lower() not in ("", ".json"):
        raise UsageError(
            f"`save` writes a .json file. Got {path} instead; a page to read is written by "
            "edgecil.write_report, and a figure by plot."
        )
    with replace_file(path) as file:
        file.write(content)


def with_checksum(data: bytes) -> bytes:
    """Append a checksum of everything before it to a JSON object, as its last member.

    >>> with_checksum(b'{"mean":1.5}')
    b'{"mean":1.5,"checksum":"2139cd35d455d2b339a475457dd826f5"}'
    """
    return data[:-1] + b',"checksum":"%s"}' % _checksum(data).encode()


def _checksum(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def check_checksum(data: bytes, origin: str) -> None:
    """Raise an error if a text ends with a checksum that does not fit its content."""
    match = _TAIL.search(data)
    if match and _checksum(data[: match.start()] + b"}") != match[1].decode():
        raise DataError(f"{origin} is damaged: it differs from its checksum; write it again.")


def to_plain(value: Any) -> Any:
    """Convert a result to plain JSON values: dictionaries, lists, strings, numbers, None."""
    return msgspec.json.decode(msgspec.json.encode(value, enc_hook=_encode))


def from_json(data: bytes, kind: type[_T], schema: str, *, origin: str = "The JSON text") -> _T:
    """Return what :func:`to_json` wrote, as an object of its class."""
    try:
        check_checksum(data, origin)
        plain = msgspec.json.decode(data)
        if not isinstance(plain, Mapping) or plain.get("schema") != schema:
            other_schema = plain.get("schema") if isinstance(plain, Mapping) else None
            raise DataError(
                f"{origin} must have the schema {schema!r}. Got {format_value(other_schema)} "
                "instead."
            )
        return msgspec.json.decode(data, type=kind, dec_hook=_decode)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise DataError(f"{origin} does not have the schema {schema!r}: {error}.") from error


def read_typed_json(path: str | Path, kind: type[_T], schema: str) -> _T:
    """Return the object of a class in a JSON file."""
    return from_json(read_text(Path(path)).encode(), kind, schema, origin=str(path))


def _encode(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()  # msgspec writes NaN as null
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Path):
        return str(value)
    raise NotImplementedError(f"{type(value).__name__} has no JSON form")


def _decode(kind: Any, value: Any) -> Any:
    if get_origin(kind) is np.ndarray:
        _, dtype = get_args(kind)
        return np.array(value, dtype=get_args(dtype)[0])
    if kind is Path:
        return Path(value)
    raise NotImplementedError(f"{kind} cannot be read from JSON")
