"""Inputs that stay on disk until they are used, as a tensor.

Learners select, split and join the images of a task before they compute with a batch of them. A
:class:`StoredPixels` does these three without reading anything; small selections and every other
operation read the pixels and give a usual tensor, so the values are always the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from edgecil.errors import DataError
from edgecil.io.arrays import Inputs, Ints

AT_ONCE = 2**26  # bytes up to which a selection is read at once

_READ_ONLY = "Stored images are read-only; copy them before you change them."

_aten = torch.ops.aten


class StoredPixels(torch.Tensor):  # type: ignore[misc]
    """Images or vectors (n, …), each a row of one of several arrays in files or in memory."""

    _sources: tuple[Inputs, ...]
    _owner: torch.Tensor
    _rows: torch.Tensor

    @staticmethod
    def __new__(
        cls, sources: Sequence[Inputs], owner: torch.Tensor, rows: torch.Tensor
    ) -> StoredPixels:
        """Image i is row `rows[i]` of source `owner[i]`."""
        shape = (len(rows), *sources[0].shape[1:])
        kind = torch.from_numpy(np.empty(0, sources[0].dtype)).dtype
        tensor: StoredPixels = torch.Tensor._make_wrapper_subclass(cls, shape, dtype=kind)
        tensor._sources, tensor._owner, tensor._rows = tuple(sources), owner, rows
        return tensor

    def read(self) -> torch.Tensor:
        """Return all images as a usual tensor."""
        pinned = torch.cuda.is_available()  # copies to a GPU then overlap with its work
        out = torch.empty(self.shape, dtype=self.dtype, pin_memory=pinned)
        for number, source in enumerate(self._sources):
            where = (self._owner == number).nonzero().view(-1).numpy()
            out.numpy()[where] = source[self._rows.numpy()[where]]
        return out

    def _select(self, chosen: torch.Tensor) -> StoredPixels:
        """Return some images, by indices or by a mask; nothing is read."""
        chosen = chosen.cpu()
        return StoredPixels(self._sources, self._owner[chosen], self._rows[chosen])

    def _light(self) -> torch.Tensor:
        """Return a usual tensor if it is small, else this one."""
        return self.read() if self.nbytes <= AT_ONCE else self

    @classmethod
    def __torch_dispatch__(
        cls, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        if function is _aten.index.Tensor and _is_stored(args[0]) and len(args[1]) == 1:
            self, chosen = args[0], args[1][0]
            if not _is_stored(chosen) and chosen.dim() == 1:
                return self._select(chosen)._light()
        if function is _aten.index_select.default and _is_stored(args[0]) and args[1] == 0:
            return args[0]._select(args[2])._light()
        if function is _aten.slice.Tensor and args[1:2] in ((), (0,)):
            begin, end, step = [*args[2:5], None, None, None][:3]
            chosen = torch.arange(len(args[0]))[slice(begin, end, step)]
            return args[0]._select(chosen)._light()
        if function is _aten.split.Tensor and args[2:3] in ((), (0,)):
            every = torch.arange(len(args[0]))
            # Together the parts may be larger than memory: each is read when it is used.
            return [args[0]._select(rows) for rows in every.split(args[1])]
        if function is _aten.select.int and args[1] == 0:
            return args[0]._select(torch.tensor([args[2]])).read()[0]
        if function is _aten.cat.default and args[1:2] in ((), (0,)):
            return _joined(args[0])._light()
        if function in (_aten.detach.default, _aten.alias.default):
            return args[0]._select(torch.arange(len(args[0])))
        if function is _aten._to_copy.default and _stays(args[0], kwargs):
            return args[0]._select(torch.arange(len(args[0])))
        if function._schema.is_mutable:
            raise DataError(_READ_ONLY)
        return function(*_read(args), **_read(kwargs))

    def numpy(self, **options: Any) -> Any:
        """Return all images as an array in memory."""
        return self.read().numpy(**options)

    def contiguous(self, **options: Any) -> torch.Tensor:
        """Return all images as a usual tensor."""
        return self.read().contiguous(**options)

    def share_memory_(self) -> StoredPixels:
        """Processes share the file."""
        return self

    def __setitem__(self, *_: Any) -> None:
        """Refuse any change."""
        raise DataError(_READ_ONLY)

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Pickle sources in files by path, those in memory by content."""
        sources = [
            (str(it.filename), it.offset, it.shape, it.dtype.str)
            if isinstance(it, np.memmap) and it.filename is not None
            else it
            for it in self._sources
        ]
        return _rebuild, (sources, self._owner.numpy(), self._rows.numpy())

    def __repr__(self, **_: Any) -> str:
        return f"StoredPixels({tuple(self.shape)})"


def stored_tensor(pixels: Inputs) -> torch.Tensor:
    """Return pixels as a tensor without a copy; those in a file stay there."""
    if not isinstance(pixels, np.memmap):
        return torch.from_numpy(pixels)
    return StoredPixels([pixels], torch.zeros(len(pixels)).long(), torch.arange(len(pixels)))


def _is_stored(value: Any) -> bool:
    return isinstance(value, StoredPixels)


def _stays(pixels: Any, options: dict[str, Any]) -> bool:
    """Return whether a copy would have the type and device of the pixels."""
    device, dtype = options.get("device"), options.get("dtype")
    on_cpu = device is None or torch.device(device).type == "cpu"
    return _is_stored(pixels) and on_cpu and dtype in (None, pixels.dtype)


def _joined(tensors: Sequence[torch.Tensor]) -> StoredPixels:
    """Chain images one after another; nothing is read."""
    sources: list[Inputs] = []
    owners, rows = [], []
    for tensor in tensors:
        if isinstance(tensor, StoredPixels):
            places = []
            for source in tensor._sources:
                same = [place for place, other in enumerate(sources) if other is source]
                places.append(same[0] if same else len(sources))
                sources += [] if same else [source]
            owners.append(torch.tensor(places)[tensor._owner])
            rows.append(tensor._rows)
        else:
            owners.append(torch.full((len(tensor),), len(sources)))
            rows.append(torch.arange(len(tensor)))
            sources.append(tensor.numpy())
    return StoredPixels(sources, torch.cat(owners), torch.cat(rows))


def _read(value: Any) -> Any:
    """Return arguments with stored pixels replaced by usual tensors."""
    if isinstance(value, StoredPixels):
        return value.read()
    if isinstance(value, (list, tuple)):
        return type(value)(_read(item) for item in value)
    if isinstance(value, dict):
        return {name: _read(item) for name, item in value.items()}
    return value


def _rebuild(sources: list[Any], owner: Ints, rows: Ints) -> StoredPixels:
    opened = [_opened(*it) if isinstance(it, tuple) else it for it in sources]
    return StoredPixels(opened, torch.from_numpy(owner), torch.from_numpy(rows))


def _opened(path: str, offset: int, shape: tuple[int, ...], kind: str) -> Inputs:
    if not Path(path).is_file():
        raise DataError(
            f"The decoded images {path} are not on this machine; put EDGECIL_CACHE on a directory "
            "that all machines share, or use the images in memory."
        )
    return np.memmap(path, kind, "r", offset, shape)
