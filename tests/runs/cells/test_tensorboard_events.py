"""Event files of TensorBoard."""

from __future__ import annotations

import struct

import pytest

from edgecil.errors import DataError
from edgecil.runs.cells.forms import read_tables


def varint(number: int) -> bytes:
    content = bytearray()
    while number > 127:
        content.append(number & 127 | 128)
        number >>= 7
    return bytes([*content, number])


def field(number: int, content: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(content)) + content


def simple(number: float) -> bytes:
    return varint(2 << 3 | 5) + struct.pack("<f", number)


def tensor(number: float) -> bytes:
    content = varint(1 << 3) + varint(1) + field(4, struct.pack("<f", number))
    return field(8, content)


def event(step: int, *values: tuple[str, bytes]) -> bytes:
    summary = b"".join(field(1, field(1, tag.encode()) + value) for tag, value in values)
    time = varint(1 << 3 | 1) + struct.pack("<d", 1.5e9)
    return time + varint(2 << 3) + varint(step) + field(5, summary)


def record(content: bytes) -> bytes:
    return struct.pack("<Q", len(content)) + b"sums" + content + b"sums"


def tables_of(folder, *contents: bytes):
    path = folder / "events.out.tfevents.1.host.2.0"
    path.write_bytes(b"".join(contents))
    return read_tables(path)


VERSION = record(varint(1 << 3 | 1) + bytes(8) + field(3, b"brain.Event:2"))


def test_tags_of_the_same_steps_are_columns(tmp_path) -> None:
    first = event(0, ("acc/all", simple(0.75)), ("acc/task0", tensor(0.5)))
    second = event(300, ("acc/all", simple(0.625)), ("acc/task0", tensor(0.25)))
    third = event(300, ("forgetting", simple(0.125)), ("_hparams_/x", simple(1.0)))
    both, single = tables_of(tmp_path, VERSION, *map(record, (first, second, third)))
    assert both.form == "TensorBoard events"
    assert both.header == ("step", "acc/all", "acc/task0")
    assert both.rows == ((0, 0.75, 0.5), (300, 0.625, 0.25))
    assert (single.header, single.rows) == (("step", "forgetting"), ((300, 0.125),))


def test_a_record_that_is_being_written_is_left_out(tmp_path) -> None:
    whole = record(event(0, ("acc", simple(0.75))))
    (table,) = tables_of(tmp_path, VERSION, whole, record(event(1, ("acc", simple(0.5))))[:-9])
    assert table.rows == ((0, 0.75),)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (VERSION, "has no scalars"),
        (struct.pack("<Q", 9) + bytes(3), "has no scalars"),
        (record(b"\xff" * 30), "no message of protocol buffers"),
        (record(field(5, field(1, varint(1 << 3 | 2) + varint(2**60)))), "no message"),
        (record(event(0, ("x", simple(1.0)))) * 20, "more than the limit"),
    ],
)
def test_a_hostile_file_is_refused(tmp_path, monkeypatch, content, message) -> None:
    monkeypatch.setenv("EDGECIL_MAX_CELLS", "10")
    with pytest.raises(DataError, match=message):
        tables_of(tmp_path, content)
