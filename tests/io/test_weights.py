"""Weight files are data: nothing in them is run, and their sizes are checked first."""

from __future__ import annotations

import os
import pickle
import warnings
import zipfile
from collections import OrderedDict
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from edgecil.errors import DataError
from edgecil.io import pickles
from edgecil.io.weights import read_tensors

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")


class Tower(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)
        self.blocks = nn.Sequential(nn.Linear(4, 5), nn.Linear(5, 2))
        self.register_buffer("steps", torch.arange(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.blocks(self.conv(x).mean((2, 3)))


class Intruder(nn.Module):
    """TorchScript that writes a file when torch.jit.load restores it."""

    def __init__(self, path: str) -> None:
        super().__init__()
        self.path = path
        self.weight = nn.Parameter(torch.ones(2, 2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x

    @torch.jit.export
    def __getstate__(self) -> tuple[str, torch.Tensor, bool]:
        return self.path, self.weight, self.training

    @torch.jit.export
    def __setstate__(self, state: tuple[str, torch.Tensor, bool]) -> None:
        self.path = state[0]
        self.weight = state[1]
        self.training = state[2]
        torch.save(self.weight, self.path)


def save_scripted(module: nn.Module, path: Path) -> Path:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.jit.script(module).save(str(path))
    return path


def test_the_tensors_of_torchscript_are_read_without_torch_jit(tmp_path, monkeypatch) -> None:
    module = Tower().half()
    path = save_scripted(module, tmp_path / "model.pt")
    monkeypatch.setattr(torch.jit, "load", None)
    tensors = read_tensors(path)
    expected = {name: value.float() for name, value in module.state_dict().items()}
    assert tensors.keys() == expected.keys()
    assert all(torch.equal(tensors[name], expected[name]) for name in expected)


def test_torchscript_cannot_write_a_file(tmp_path) -> None:
    victim = tmp_path / "authorized_keys"
    path = save_scripted(Intruder(str(victim)), tmp_path / "model.pt")
    victim.write_text("untouched")
    with pytest.raises(DataError):
        read_tensors(path)
    assert victim.read_text(encoding="utf-8") == "untouched"


@pytest.mark.parametrize("suffix", [".pt", ".bin", ".pth"])
def test_a_pickle_that_runs_code_is_refused(tmp_path, suffix) -> None:
    victim = tmp_path / "victim"

    class Evil:
        def __reduce__(self) -> tuple[object, ...]:
            return os.mkdir, (str(victim),)

    path = tmp_path / f"model{suffix}"
    torch.save({"weight": Evil()}, path)
    with pytest.raises(DataError, match="not a weight file"):
        read_tensors(path)
    path.write_bytes(pickle.dumps(Evil()))
    with pytest.raises(DataError, match="not a weight file"):
        read_tensors(path)
    assert not victim.exists()


def repack(path: Path, *, compression: int = zipfile.ZIP_STORED, **changed: bytes) -> None:
    """Write the archive again with members replaced by their base name."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(name, changed.get(Path(name).stem, content))


def test_a_compressed_archive_is_refused_before_it_is_unpacked(tmp_path) -> None:
    path = tmp_path / "model.pt"
    torch.save({"weight": torch.zeros(10_000_000)}, path)
    repack(path, compression=zipfile.ZIP_DEFLATED)
    assert path.stat().st_size < 100_000
    with pytest.raises(DataError, match="compressed archive"):
        read_tensors(path)


def test_other_globals_in_torchscript_are_refused(tmp_path) -> None:
    path = save_scripted(Tower(), tmp_path / "model.pt")
    repack(path, data=b"\x80\x02cposix\nsystem\nX\x02\x00\x00\x00ls\x85R.")
    with pytest.raises(DataError, match=r"asks for posix\.system"):
        read_tensors(path)


HALF = torch.zeros(1000, dtype=torch.float16)


@pytest.mark.parametrize(
    "state",
    [{"a": HALF[:1].expand(10**6, 10**6)}, {f"a{number}": HALF for number in range(1000)}],
    ids=["one tensor", "a thousand names of one"],
)
def test_tensors_larger_than_what_is_stored_are_refused(tmp_path, state) -> None:
    torch.save(state, tmp_path / "w.pt")
    with pytest.raises(DataError, match="larger than what is stored"):
        read_tensors(tmp_path / "w.pt")
    torch.save({"a": HALF, "tied": HALF}, tmp_path / "w.pt")
    assert set(read_tensors(tmp_path / "w.pt")) == {"a", "tied"}


def test_what_people_save_is_read(tmp_path) -> None:
    network = Tower()
    extra: dict[str, object] = {"epoch": 3, "size": torch.Size([1])}
    if not torch.__version__.startswith("2.4."):  # which refuses sets and byte arrays
        extra |= {"set": {1, 2}, "bytes": bytearray(b"abc")}
    views = {"a": torch.arange(6.0).view(2, 3).t(), "b": torch.zeros(0, 3), "c": torch.tensor(1.0)}
    path = tmp_path / "w.pt"
    for zipped in (True, False):
        for value, count in (
            (OrderedDict(network.named_parameters()), 6),
            ({"state_dict": network.state_dict(), **extra}, 7),
            (views, 3),
        ):
            torch.save(value, path, _use_new_zipfile_serialization=zipped)
            assert len(read_tensors(path)) == count
    assert torch.equal(read_tensors(path)["a"], views["a"])


def test_a_record_that_torchscript_names_twice_is_read_once(tmp_path) -> None:
    module = Tower()
    module.register_buffer("view", module.conv.weight.detach()[:1])
    tensors = read_tensors(save_scripted(module, tmp_path / "model.pt"))
    assert tensors["view"].data_ptr() == tensors["conv.weight"].data_ptr()


@pytest.mark.parametrize("state", [{0: torch.zeros(2)}, {"a": 1}, {}, [1]])
def test_other_than_tensors_with_names_is_refused(tmp_path, state) -> None:
    torch.save(state, tmp_path / "model.pt")
    with pytest.raises(DataError, match="named tensors"):
        read_tensors(tmp_path / "model.pt")


def test_scripted_modules_that_contain_one_another_have_an_end() -> None:
    first, second = pickles._Module(), pickles._Module()
    vars(first).update(weight=torch.ones(1), a=second, b=second)
    vars(second).update(a=first, b=first, bias=torch.zeros(1))
    assert sorted(dict(pickles._tensors(first, "", set()))) == ["a.bias", "weight"]


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.eye(2).to_sparse(),
        lambda: torch.zeros(2, device="meta"),
        lambda: torch.nested.nested_tensor([torch.zeros(1), torch.zeros(2)]),
    ],
)
def test_tensors_that_are_not_plain_are_refused(make: Any, tmp_path: Path) -> None:
    torch.save({"a": make()}, tmp_path / "w.pt")
    with pytest.raises(DataError, match="named tensors"):
        read_tensors(tmp_path / "w.pt")
