"""Event files of TensorBoard: the scalars in them, by tag and step.

A file is a sequence of records: the length of the content in 8 bytes, a checksum of it in 4, the
content, and a checksum of it in 4. The content is a message of protocol buffers, of which four
fields matter: the step of an event, its summary, and the tag and the number of each value in it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

from edgecil.errors import DataError
from edgecil.io import limits
from edgecil.io.files import check_file, readable
from edgecil.runs.cells.cell_table import CellTable
from edgecil.runs.cells.file_text import CELLS
from edgecil.runs.cells.step_tables import step_tables

FORM = "TensorBoard events"
_LENGTH, _CHECKSUM = 8, 4
_EVENT_STEP, _EVENT_SUMMARY = 2, 5
_SUMMARY_VALUE = 1
_VALUE_TAG, _VALUE_NUMBER, _VALUE_TENSOR = 1, 2, 8
_TENSOR_TYPE, _TENSOR_CONTENT, _TENSOR_FLOATS, _TENSOR_DOUBLES = 1, 4, 5, 6
_FORMATS = {1: "<f", 2: "<d"}  # of a tensor's content, by its type
_VARINT, _FIXED_64, _BYTES, _FIXED_32 = 0, 1, 2, 5
_HIDDEN = "_hparams_"


def recognises(path: Path, head: bytes) -> bool:
    """Return whether a file has TensorBoard's name for events, and begins with a record."""
    if "tfevents" not in path.name or len(head) < _LENGTH:
        return False
    length: int = struct.unpack_from("<Q", head)[0]
    return 0 < length < 2**20


def read(path: Path) -> list[CellTable]:
    """Return a table for the tags that were logged at the same steps."""
    check_file(path, limits.TEXT)
    values: dict[str, dict[int, float]] = {}
    count = 0
    with readable(path, "a file of TensorBoard's events"):
        for event in _records(path.read_bytes()):
            for tag, step, number in _scalars(event):
                if not tag.startswith(_HIDDEN):
                    values.setdefault(tag, {})[step] = number
                count += 1
                CELLS.check(str(path), count)
    if not values:
        raise DataError(f"{path} has no scalars; its run ended before it logged a number.")
    return step_tables(values, FORM, str(path))


def _records(content: bytes) -> Iterator[bytes]:
    """Yield the content of each record; one that is still being written is left out."""
    place = 0
    while place + _LENGTH + _CHECKSUM < len(content):
        (length,) = struct.unpack_from("<Q", content, place)
        start = place + _LENGTH + _CHECKSUM
        if start + length > len(content):
            return
        yield content[start : start + length]
        place = start + length + _CHECKSUM


def _scalars(event: bytes) -> Iterator[tuple[str, int, float]]:
    """Yield tag, step and number of the scalars in an event."""
    step = 0
    summaries = []
    for field, value in _fields(event):
        if field == _EVENT_STEP and isinstance(value, int):
            step = value
        elif field == _EVENT_SUMMARY and isinstance(value, bytes):
            summaries.append(value)
    for summary in summaries:
        for field, value in _fields(summary):
            if field == _SUMMARY_VALUE and isinstance(value, bytes):
                tag, number = _tag_and_number(value)
                if number is not None:
                    yield tag, step, number


def _tag_and_number(message: bytes) -> tuple[str, float | None]:
    tag = ""
    number = None
    for field, value in _fields(message):
        if not isinstance(value, bytes):
            continue
        if field == _VALUE_TAG:
            tag = value.decode("utf-8", "replace")[:200]
        elif field == _VALUE_NUMBER and len(value) == 4:
            number = _unpack("<f", value)
        elif field == _VALUE_TENSOR:
            number = _number_of_tensor(value)
    return tag, number


def _number_of_tensor(message: bytes) -> float | None:
    """Return the number of a tensor that has a single one."""
    type_of_tensor = 0
    number = None
    for field, value in _fields(message):
        if field == _TENSOR_TYPE and isinstance(value, int):
            type_of_tensor = value
        elif not isinstance(value, bytes):
            continue
        elif field == _TENSOR_CONTENT:
            number = _unpack(_FORMATS.get(type_of_tensor, ""), value)
        elif field == _TENSOR_FLOATS:
            number = _unpack("<f", value)
        elif field == _TENSOR_DOUBLES:
            number = _unpack("<d", value)
    return number


def _unpack(form: str, content: bytes) -> float | None:
    if not form or len(content) != struct.calcsize(form):
        return None
    number: float = struct.unpack(form, content)[0]
    return number


def _fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Yield number and value of the fields of a message: integers, and bytes of all others."""
    place = 0
    while place < len(message):
        key, place = _varint(message, place)
        kind = key & 7
        if kind == _VARINT:
            number, place = _varint(message, place)
            yield key >> 3, number
            continue
        if kind == _BYTES:
            length, place = _varint(message, place)
        else:
            length = {_FIXED_64: 8, _FIXED_32: 4}.get(kind, -1)
        if length < 0 or place + length > len(message):
            raise DataError("The content of a record is no message of protocol buffers.")
        yield key >> 3, message[place : place + length]
        place += length


def _varint(message: bytes, place: int) -> tuple[int, int]:
    """Return an integer of variable length, and the place behind it."""
    number = 0
    for shift in range(0, 70, 7):
        if place >= len(message):
            break
        byte = message[place]
        place += 1
        number |= (byte & 127) << shift
        if byte < 128:
            return number, place
    raise DataError("The content of a record is no message of protocol buffers.")
