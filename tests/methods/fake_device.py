"""A device without hardware: tensors on `meta` that keep their values on the CPU.

As on a GPU, an operation on tensors of two devices fails, and so does a draw by the generator of
another device; only copies, and indices on the CPU, may mix them. Values are those of the CPU.
The device records what shows where and how the work is done; see :class:`FakeDevice`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode, return_and_correct_aliasing
from torch.utils._pytree import tree_flatten, tree_map_only

from edgecil.methods.task import derive_generator, derive_seed

NAME = "meta"
_ATEN = torch.ops.aten
_COPIES = (_ATEN._to_copy.default, _ATEN.copy_.default, _ATEN._foreach_copy_.default)
_INDEXING = (
    _ATEN.index.Tensor,
    _ATEN.index_put.default,
    _ATEN.index_put_.default,
    _ATEN._index_put_impl_.default,
)
_PRODUCTS = (
    _ATEN.convolution.default, _ATEN.mm.default, _ATEN.addmm.default, _ATEN.bmm.default,
    _ATEN._linalg_eigh.default, _ATEN._linalg_svd.default,
    _ATEN.linalg_cholesky_ex.default, _ATEN.cholesky_solve.default,
)  # fmt: skip
_seeds: set[int] = set()  # of the generators on the device
_autocasting: list[bool] = []  # of the blocks around the current operation: on for the device


class FakeTensor(torch.Tensor):
    """A tensor on the device."""

    @staticmethod
    def __new__(cls, values: torch.Tensor) -> FakeTensor:
        made: FakeTensor = torch.Tensor._make_wrapper_subclass(
            cls,
            values.size(),
            strides=values.stride(),
            storage_offset=values.storage_offset(),
            dtype=values.dtype,
            device=NAME,
        )
        return made

    def __init__(self, values: torch.Tensor) -> None:
        self.on_cpu = values

    def tolist(self) -> Any:
        """Copy the values, which torch refuses for classes of tensors."""
        return self.on_cpu.tolist()

    @classmethod
    def __torch_dispatch__(
        cls, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        return _run(function, args, kwargs or {})


class FakeGenerator(torch.Generator):
    """A generator on the device; torch passes on the one inside, which its seed tells."""

    @property
    def device(self) -> torch.device:
        return torch.device(NAME)


class FakeDevice(TorchDispatchMode):
    """Inside the `with` block, tensors may be made on the device and moved to it.

    Attributes:
        moved: images that were copied from host memory to the device.
        copies: other copies between host memory and the device: values that are read, tensors in
            either direction, and indices in host memory of a tensor on the device.
        mixed: for each convolution on the device whether it was in mixed precision; every pass of
            a network begins with one.
        products: products and decompositions of matrices, by (name, type, whether on the device).
    """

    def __init__(self) -> None:
        super().__init__()
        self.moved = self.copies = 0
        self.mixed: list[bool] = []
        self.products: set[tuple[str, torch.dtype, bool]] = set()

    def __torch_dispatch__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        result = _run(function, args, kwargs or {})
        first = next(iter(tree_flatten(args)[0]), None)
        there = isinstance(tree_flatten(result)[0][0], FakeTensor)
        if function in _PRODUCTS:
            self.products.add((function.overloadpacket.__name__, first.dtype, there))
        if function is _ATEN.convolution.default and there:
            self.mixed.append(bool(_autocasting) and _autocasting[-1])
        if _crosses(function, args, there=there):
            images = there and first.dtype == torch.uint8 and first.dim() == 4
            self.moved += len(first) if images else 0
            self.copies += not images
        return result


def _crosses(function: Any, args: Any, *, there: bool) -> bool:
    """Whether an operation copies something between host memory and the device."""
    tensors = [value for value in tree_flatten(args)[0] if isinstance(value, torch.Tensor)]
    if function in (*_COPIES, *_INDEXING):
        return any(isinstance(value, FakeTensor) != there for value in tensors if value.dim())
    return function is _ATEN._local_scalar_dense.default and isinstance(tensors[0], FakeTensor)


def _run(function: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    values = tree_flatten((args, kwargs))[0]
    there = [value for value in values if isinstance(value, FakeTensor)]
    here = [
        value
        for value in values
        if isinstance(value, torch.Tensor) and not isinstance(value, FakeTensor) and value.dim()
    ]
    if function in _INDEXING and isinstance(args[0], FakeTensor):
        here = [value for value in here if value.dtype not in (torch.int64, torch.bool)]
    if there and here and function not in _COPIES:
        raise RuntimeError(f"{function} with tensors on two devices")
    device = kwargs.get("device")
    target = bool(there) if device is None else torch.device(device).type == NAME
    if function is _ATEN.copy_.default:
        target = isinstance(args[0], FakeTensor)
    for value in values:
        if isinstance(value, torch.Generator) and (value.initial_seed() in _seeds) != target:
            raise RuntimeError(f"{function} with a generator on another device")
    plain, named = tree_map_only(FakeTensor, lambda tensor: tensor.on_cpu, (args, kwargs))
    result = function(*plain, **(named if device is None else {**named, "device": "cpu"}))
    if not target:
        return result
    result = tree_map_only(torch.Tensor, FakeTensor, result)
    return return_and_correct_aliasing(function, args, kwargs, result) if there else result


def install(monkeypatch: pytest.MonkeyPatch, *modules: ModuleType) -> None:
    """Replace what torch does not pass to a mode: generators, `torch.tensor` and autocasting."""
    make = torch.tensor

    def derive(device: torch.device | str, *parts: object) -> torch.Generator:
        if torch.device(device).type != NAME:
            return derive_generator(device, *parts)
        seed, generator = derive_seed("fake device", *parts), FakeGenerator()
        _seeds.add(seed)
        generator.manual_seed(seed)
        return generator

    def tensor(data: Any, *, device: Any = None, **named: Any) -> torch.Tensor:
        return make(data, **named) if device is None else make(data, **named).to(device)

    @contextmanager
    def autocast(device: str, *, dtype: Any = None, enabled: bool) -> Iterator[None]:
        _autocasting.append(enabled and device == NAME)
        try:
            yield
        finally:
            _autocasting.pop()

    for module in modules:
        monkeypatch.setattr(module, "derive_generator", derive)
    monkeypatch.setattr(torch, "tensor", tensor)
    monkeypatch.setattr(torch, "autocast", autocast)
