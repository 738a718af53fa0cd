"""Small pickles that ask for much: refused before they get it, on every path that reads pickles."""

from __future__ import annotations

import hashlib
import io
import pickle
import pickletools
import struct
import tracemalloc
import zipfile
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from edgecil.engine.node_training import _HEADER, pack, unpack
from edgecil.errors import DataError
from edgecil.io.pickles import read_pickle
from edgecil.io.weights import read_tensors

MOST = 2**24  # bytes


def number(value: int) -> bytes:
    return b"J" + struct.pack("<i", value)


def call(module: str, name: str, *arguments: bytes) -> bytes:
    return f"c{module}\n{name}\n(".encode() + b"".join(arguments) + b"tR"


def entry(value: bytes) -> bytes:
    """A dictionary of one value."""
    return b"\x80\x02}X\x01\x00\x00\x00w" + value + b"s."


MEMO = entry(b"Nr" + struct.pack("<I", 2**26))
LIST = b"]q\x00(" + b"N" * 30_000 + b"e0"
COPIES = b"\x80\x02" + LIST + b"](" + call("builtins", "set", b"h\x00") * 1000 + b"e."
CALLS = {
    "memo": MEMO,
    "text memo": entry(b"Np67108864\n"),
    "bytearray": entry(call("builtins", "bytearray", number(2**28))),
    "tensor": entry(call("torch", "Tensor", number(200), number(200))),
    "copies": COPIES,
    "opcodes": b"\x80\x02" + b"N0" * 30_000 + b"N.",
}


def saved(value: Any, *, older: bool = False) -> bytes:
    buffer = io.BytesIO()
    torch.save(value, buffer, _use_new_zipfile_serialization=not older)
    return buffer.getvalue()


def with_pickle(archive: bytes, change: Callable[[bytes], bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as source, zipfile.ZipFile(buffer, "w") as target:
        for name in source.namelist():
            content = source.read(name)
            target.writestr(name, change(content) if name.endswith("/data.pkl") else content)
    return buffer.getvalue()


def scripted(content: bytes) -> bytes:
    """What counts as a TorchScript archive, with a pickle of one's choice."""
    buffer = io.BytesIO(with_pickle(saved({"w": torch.zeros(4)}), lambda _: content))
    with zipfile.ZipFile(buffer, "a") as archive:
        archive.writestr("archive/constants.pkl", b"\x80\x02).")
    return buffer.getvalue()


def twice_as_many_each_time() -> bytes:
    """Forty modules, each of which contains the previous one twice."""
    module = b"c__torch__\nM\n)\x81q"
    content = b"\x80\x02" + module + b"\x00"
    for i in range(1, 40):
        content += module + bytes([i]) + b"}("
        content += b"".join(b"X\x01\x00\x00\x00%sh%c" % (name, i - 1) for name in (b"a", b"b"))
        content += b"ub"
    return content + b"."


def attack(read: Callable[[], object], kind: type[Exception]) -> None:
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        with pytest.raises(kind):
            read()
        assert tracemalloc.get_traced_memory()[1] - before < MOST + before
    finally:
        tracemalloc.stop()


@pytest.fixture(autouse=True)
def _few_opcodes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EDGECIL_MAX_PICKLE_OPCODES", "50000")


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("form", ["archive", "older", "state"])
def test_files_of_torch(name: str, form: str, tmp_path: Path) -> None:
    path, small = tmp_path / "w.pt", {"w": torch.zeros(4)}
    content = with_pickle(saved(small), lambda _: CALLS[name])
    if form == "state":
        packed = _HEADER + hashlib.sha256(content).digest() + content
        attack(lambda: unpack(packed), Exception)
        return
    if form == "older":
        older = io.BytesIO(saved(small, older=True))
        for _ in range(3):  # what it says of itself
            list(pickletools.genops(older))
        content = older.getvalue()[: older.tell()] + CALLS[name]
    path.write_bytes(content)
    attack(lambda: read_tensors(path), DataError)


@pytest.mark.parametrize(
    "change",
    [
        lambda content: content.replace(b"K\x04\x85", number(2**28) + b"\x85"),
        lambda content: content.replace(b"K\x04t", number(2**28) + b"t"),
    ],
    ids=["size", "storage"],
)
def test_tensors_larger_than_their_record(change: Callable[[bytes], bytes], tmp_path: Path) -> None:
    path = tmp_path / "w.pt"
    for content in (
        with_pickle(saved({"w": torch.zeros(4)}), change),
        change(saved({"w": torch.zeros(4)}, older=True)).replace(b"K\x04N", number(2**28) + b"N"),
    ):
        path.write_bytes(content)
        attack(lambda: read_tensors(path), DataError)


@pytest.mark.parametrize("content", [MEMO, twice_as_many_each_time()], ids=["memo", "modules"])
def test_torchscript(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "w.pt"
    path.write_bytes(scripted(content))
    attack(lambda: read_tensors(path), DataError)


def test_archives_that_torch_and_zipfile_read_differently(tmp_path: Path) -> None:
    path, archive = tmp_path / "w.pt", saved({"w": torch.zeros(4)})
    buffer = io.BytesIO(archive)
    with zipfile.ZipFile(buffer, "a") as twice, pytest.warns(UserWarning, match="Duplicate"):
        twice.writestr("archive/data.pkl", MEMO)
    for content in (buffer.getvalue(), saved({}, older=True)[:20] + archive):
        path.write_bytes(content)
        with pytest.raises(DataError):
            read_tensors(path)


@pytest.mark.parametrize("name", ["memo", "text memo", "opcodes", "bytes", "arrays"])
def test_pickles_of_cifar(name: str, tmp_path: Path) -> None:
    if name in CALLS:
        content = CALLS[name]
    elif name == "bytes":
        content = b"\x80\x05\x96" + struct.pack("<Q", 2**30) + b"."
    else:  # one megabyte that a hundred arrays copy
        array = pickle.dumps(np.zeros(2**20, np.uint8), protocol=3)
        start = array.index(b"cnumpy")
        again = array[start:-1].replace(b"B" + struct.pack("<I", 2**20) + bytes(2**20), b"h\xff")
        first = b"B" + struct.pack("<I", 2**20) + bytes(2**20) + b"q\xff0"
        content = array[:start] + b"](" + first + again * 100 + b"e."
        assert len(content) < 2**21
    path = tmp_path / "train"
    path.write_bytes(content)
    attack(lambda: read_pickle(path), DataError)


def test_what_people_save_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    network = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.BatchNorm2d(2))
    extra = {"epoch": 3, "set": {1, 2}, "bytes": bytearray(b"abc"), "size": torch.Size([1])}
    views = {"a": torch.arange(6.0).view(2, 3).t(), "b": torch.zeros(0, 3), "c": torch.tensor(1.0)}
    path = tmp_path / "w.pt"
    for older in (False, True):
        for value, count in (
            (network.state_dict(), 7),
            (OrderedDict(network.named_parameters()), 4),
            ({"state_dict": network.state_dict(), **extra}, 7),
            (views, 3),
        ):
            path.write_bytes(saved(value, older=older))
            assert len(read_tensors(path)) == count
    assert torch.equal(read_tensors(path)["a"], views["a"])
    assert unpack(pack({"set": {1}, "list": [1, (2, b"x")], "t": torch.ones(2)}))["set"] == {1}
    monkeypatch.setenv("EDGECIL_MAX_PICKLE_OPCODES", "3")
    with pytest.raises(DataError, match="EDGECIL_MAX_PICKLE_OPCODES"):
        read_tensors(path)
