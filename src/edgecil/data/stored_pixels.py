"""Inputs that stay on disk until they are used, as a tensor.

Learners select, split and join the images of a task before they compute with a batch of them. A
:class:`StoredPixels` does these three without reading pixels. Small selections and every other
operation read the pixels and return a usual tensor with the same values.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.utils._pytree import tree_map_only

from edgecil.errors import DataError
from edgecil.io.arrays import Inputs, Ints

AT_ONCE = 2**26  # bytes up to which a selection is read at once

_READ_ONLY = "Stored images are read-only; copy them before you change them."

_aten = torch.ops.aten
_SAME = (_aten.detach.default, _aten.alias.default)
# Functions that select along an axis, and where that axis is among their arguments.
_SELECTIONS = {
    _aten.index_select.default: 1,
    _aten.select.int: 1,
    _aten.slice.Tensor: 1,
    _aten.split.Tensor: 2,
}


class StoredPixels(torch.Tensor):  # type: ignore[misc]
    """Images or vectors (n, …), each a row of one of several arrays in files or in memory."""

    _sources: tuple[Inputs, ...]
    _places: torch.Tensor

    @staticmethod
    def __new__(cls, sources: Sequence[Inputs], places: torch.Tensor) -> StoredPixels:
        """Image i is row `places[i, 1]` of source `places[i, 0]`."""
        shape = (len(places), *sources[0].shape[1:])
        kind = torch.from_numpy(np.empty(0, sources[0].dtype)).dtype
        tensor: StoredPixels = torch.Tensor._make_wrapper_subclass(cls, shape, dtype=kind)
        tensor._sources = tuple(sources)
        tensor._places = places
        return tensor

    def read(self) -> torch.Tensor:
        """Return all images as a usual tensor."""
        out = torch.empty(self.shape, dtype=self.dtype)
        owner, rows = self._places.numpy().T
        for number, source in enumerate(self._sources):
            out.numpy()[owner == number] = source[rows[owner == number]]
        return out

    @classmethod
    def __torch_dispatch__(
        cls, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        first = args[0]
        if isinstance(first, StoredPixels) and _selects_images(function, args):
            rest = tree_map_only(torch.Tensor, torch.Tensor.cpu, args[1:])
            chosen = function(first._places, *rest)
            if isinstance(chosen, list):
                # Together the parts may be larger than memory: each is read when it is used.
                return [StoredPixels(first._sources, places) for places in chosen]
            if chosen.dim() == 1:
                return StoredPixels(first._sources, chosen[None]).read()[0]
            selected = StoredPixels(first._sources, chosen)
            return selected if function in _SAME else _read_if_small(selected)
        if function is _aten.cat.default and args[1:2] in ((), (0,)):
            return _read_if_small(_joined(first))
        if function._schema.is_mutable:
            raise DataError(_READ_ONLY)
        args, kwargs = tree_map_only(StoredPixels, StoredPixels.read, (args, kwargs or {}))
        return function(*args, **kwargs)

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
        """Pickle sources in files by path, and sources in memory by content."""
        sources: list[Any] = []
        for source in self._sources:
            if isinstance(source, np.memmap) and source.filename is not None:
                place = str(source.filename), source.offset, source.shape, source.dtype.str
                sources.append(place)
            else:
                sources.append(source)
        return _rebuild, (sources, self._places.numpy())

    def __repr__(self, **_: Any) -> str:
        return f"StoredPixels({tuple(self.shape)})"


def stored_tensor(pixels: Inputs) -> torch.Tensor:
    """Return pixels as a tensor without a copy; pixels in a file stay there."""
    if not isinstance(pixels, np.memmap):
        return torch.from_numpy(pixels)
    return StoredPixels([pixels], _places(0, len(pixels)))


def _selects_images(function: Any, args: Any) -> bool:
    if function is _aten.index.Tensor:
        return len(args[1]) == 1 and args[1][0].ndim == 1
    if function in _SAME:
        return True
    axis = _SELECTIONS.get(function)
    return axis is not None and args[axis : axis + 1] in ((), (0,))


def _read_if_small(pixels: StoredPixels) -> torch.Tensor:
    """Return a usual tensor if the pixels are few, else the pixels unread."""
    return pixels.read() if pixels.nbytes <= AT_ONCE else pixels


def _joined(tensors: Sequence[torch.Tensor]) -> StoredPixels:
    """Chain images one after another without reading them."""
    sources: list[Inputs] = []
    places = []
    for tensor in tensors:
        if isinstance(tensor, StoredPixels):
            places.append(tensor._places + torch.tensor([len(sources), 0]))
            sources += tensor._sources
        else:
            places.append(_places(len(sources), len(tensor)))
            sources.append(tensor.numpy())
    return StoredPixels(sources, torch.cat(places))


def _places(source: int, count: int) -> torch.Tensor:
    """Return the places of all images of a source, (n, 2)."""
    return torch.stack([torch.full((count,), source), torch.arange(count)], dim=1)


def _rebuild(sources: list[Any], places: Ints) -> StoredPixels:
    arrays = [_open(*source) if isinstance(source, tuple) else source for source in sources]
    return StoredPixels(arrays, torch.from_numpy(places))


def _open(path: str, offset: int, shape: tuple[int, ...], kind: str) -> Inputs:
    if not Path(path).is_file():
        raise DataError(
            f"The decoded images {path} are not on this machine; put EDGECIL_CACHE on a directory "
            "that all machines share, or use the images in memory."
        )
    return np.memmap(path, kind, "r", offset, shape)
