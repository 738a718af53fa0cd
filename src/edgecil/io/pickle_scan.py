"""What a pickle would allocate, found out before it is loaded.

A few bytes of a pickle can ask for gigabytes: a large index of the memo, a length, a call such as
`bytearray(2**30)`, a thousand copies of one list. So its opcodes are read first, then it is loaded
once with stand-ins for everything that it names, which only count.
"""

from __future__ import annotations

import io
import math
import mmap
import pickle
import pickletools
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

from edgecil.io import limits

_ZIP = b"PK\x03\x04"
_MAGIC = 0x1950A86A20F9469CFC6C.to_bytes(
    10, "little"
)  # in the first pickle of torch's older format
_FIRST = 32  # bytes in which it is
_OLDER = 5  # its number of pickles: that number, version, system, data, keys of the storages
_PER_ITEM = 100  # bytes, roughly, of an item that is copied to another container
_BYTES = {"Double": 8, "Float": 4, "Half": 2, "BFloat16": 2, "Long": 8, "Int": 4, "Short": 2}
_BYTES |= {"ComplexDouble": 16, "ComplexFloat": 8}  # others have 1


def check_opcodes(content: BinaryIO | mmap.mmap | bytes, source: str) -> None:
    """Raise an error for a pickle that is cut short, too long, or has an index beyond its length.

    Args:
        content: where the pickle begins; a file is left at its end.
        source: names the pickle in the error.
    """
    stream: Any = io.BytesIO(content) if isinstance(content, bytes) else content
    start, most = stream.tell(), limits.OPCODES.value
    for count, (opcode, argument, position) in enumerate(pickletools.genops(stream), 1):
        if count > most:
            limits.OPCODES.check(source, count)
        if opcode.name.endswith("PUT") and argument > (position or 0) - start:
            raise pickle.UnpicklingError(f"it has the index {argument} in a pickle of fewer items")


def check_torch(file: Path | bytes, source: str) -> None:
    """Raise an error for a file of torch that could allocate more than it holds.

    Args:
        file: a file, or its content.
        source: names it in the error.
    """
    with file.open("rb") if isinstance(file, Path) else io.BytesIO(file) as opened:
        size = opened.seek(0, io.SEEK_END)
        opened.seek(0)
        if opened.read(len(_ZIP)) == _ZIP:  # as torch decides
            with zipfile.ZipFile(opened) as archive:
                _check_archive(archive, size, source)
        elif isinstance(file, Path) and size:
            with mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as content:
                _check_older(content, size, source)
        else:
            opened.seek(0)
            _check_older(opened, size, source)


def _check_archive(archive: zipfile.ZipFile, size: int, source: str) -> None:
    """Check that data is stored as torch stores it: uncompressed, within the file, named once.

    TorchScript code, which torch does compress, is never read.
    """
    names = [tuple(name.split("/")) for name in archive.namelist()]
    if len(set(names)) < len(names) or len({name[0] for name in names}) != 1:
        raise ValueError("it has several members of one name, or several folders")
    members = [info for info in archive.infolist() if info.filename.split("/")[1:2] != ["code"]]
    if any(info.compress_type != zipfile.ZIP_STORED for info in members):
        raise ValueError("it is a compressed archive, which torch does not write")
    if sum(info.file_size for info in members) > size:
        raise ValueError("its members overlap")
    root = names[0][0]
    records = {
        info.filename.removeprefix(f"{root}/data/"): info.file_size
        for info in members
        if info.filename.startswith(f"{root}/data/")
    }
    limits.PICKLE.check(
        f"{source} ({root}/data.pkl)", archive.getinfo(f"{root}/data.pkl").file_size
    )
    content = archive.read(f"{root}/data.pkl")
    check_opcodes(content, source)
    _Rehearsal(io.BytesIO(content), source, records).load()


def _check_older(content: BinaryIO | mmap.mmap, size: int, source: str) -> None:
    """Check the pickles of torch's older format, behind which are the numbers."""
    if _MAGIC not in content.read(_FIRST):
        raise ValueError("it does not begin as torch's files do")
    content.seek(0)
    total = 0
    for _ in range(_OLDER):
        start = content.tell()
        check_opcodes(content, source)
        end = content.tell()
        content.seek(start)
        rehearsal = _Rehearsal(io.BytesIO(content.read(end - start)), source, None)
        rehearsal.load()
        total += sum(rehearsal.storages.values())
    if total > size:
        raise ValueError("its tensors are larger than the file")
    content.seek(0)
    if tarfile.is_tarfile(io.BytesIO(content.read(tarfile.BLOCKSIZE * 4))):
        raise ValueError("it is also a tar archive")


class _Storage:
    """A stand-in for the numbers of tensors."""

    def __init__(self, count: int) -> None:
        self.count = count


class _Ordered(dict[Any, Any]):
    """A stand-in for ordered dictionaries, to which torch adds attributes."""


class _Rehearsal(pickle.Unpickler):
    """Loads a pickle in which nothing but plain values and containers is what it says.

    Attributes:
        storages: bytes of the storages that it names, by their keys.

    Args:
        stream: a pickle whose opcodes were checked.
        source: names it in the error.
        records: bytes of each record of the archive; None if it has none.
    """

    def __init__(self, stream: BinaryIO, source: str, records: Mapping[str, int] | None) -> None:
        super().__init__(stream, encoding="latin1")
        self.storages: dict[str, int] = {}
        self._source = source
        self._records = records
        self._classes: dict[str, type] = {}
        self._allocated = 0

    def find_class(self, module_name: str, global_name: str) -> Any:
        """Return a stand-in, the same one for the same name."""
        name = f"{module_name}.{global_name}"
        if name == "collections.OrderedDict":
            return self._ordered
        if name not in self._classes:
            self._classes[name] = _stand_in(name, self)
        return self._classes[name]

    def persistent_load(self, pid: Any) -> _Storage:
        """Return a stand-in for a storage, which must not be larger than its record."""
        _, kind, key, _, count, *_ = pid
        kind_name = getattr(kind, "name", "").rpartition(".")[2].removesuffix("Storage")
        size = int(count) * _BYTES.get(kind_name, 1)
        if size < 0 or (self._records is not None and size > self._records.get(str(key), 0)):
            raise ValueError(f"its record {key} is cut short")
        self.storages[str(key)] = size
        return _Storage(int(count))

    def _ordered(self, *arguments: Any) -> _Ordered:
        self.count("collections.OrderedDict", arguments)
        return _Ordered()

    def count(self, name: str, arguments: tuple[Any, ...]) -> None:
        """Count what a call may allocate: copies of its arguments, and as much as its numbers say.

        Tensors must lie within their storage.
        """
        if arguments and isinstance(arguments[0], _Storage):
            _check_tensor(arguments[0], *arguments[1:4])
            return
        numbers = [it for it in arguments if isinstance(it, int) and not isinstance(it, bool)]
        if numbers and name.endswith("Tensor"):
            raise ValueError("it asks for a tensor whose numbers are not in the file")
        if numbers and "._rebuild_" not in name:
            self._allocated += 8 * math.prod(max(1, it) for it in numbers)
        for argument in arguments:
            if isinstance(argument, str | bytes | bytearray):
                self._allocated += 4 * len(argument)  # as many bytes may encode one character
            elif isinstance(argument, list | tuple | dict | set):
                self._allocated += _PER_ITEM * len(argument)
        limits.PICKLE.check(f"The pickle of {self._source}", self._allocated)


def _stand_in(full_name: str, rehearsal: _Rehearsal) -> type:
    """Return a class whose objects do nothing; creating one is counted as a call."""

    class StandIn:
        name = full_name

        def __new__(cls, *arguments: Any) -> Any:
            rehearsal.count(full_name, arguments)
            made = object.__new__(cls)
            if full_name.endswith("._rebuild_from_type_v2"):  # calls its first argument
                arguments[0](*arguments[2])
            return made

        def __init__(self, *_: Any) -> None:
            pass

        def __setstate__(self, state: Any) -> None:
            rehearsal.count(full_name, (state,))

        def __setitem__(self, key: Any, value: Any) -> None:
            pass

        def append(self, item: Any) -> None:
            pass

        def extend(self, items: Any) -> None:
            pass

        def add(self, item: Any) -> None:
            pass

    return StandIn


def _check_tensor(
    storage: _Storage, offset: Any = 0, size: Any = (), stride: Any = None, *_: Any
) -> None:
    """Raise an error for a tensor that reaches beyond its storage: torch would enlarge it."""
    strides = (1,) * len(size) if stride is None else stride
    if 0 in size:
        return
    last = offset + sum((n - 1) * step for n, step in zip(size, strides, strict=True))
    if min((offset, *size, *strides)) < 0 or last >= storage.count:
        raise ValueError("a tensor is larger than what is stored of it")
