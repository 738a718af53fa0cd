"""Images in a file behave as the same images in memory."""

from __future__ import annotations

import pickle
from collections.abc import Callable

import numpy as np
import pytest
import torch
from hypothesis import given, settings, strategies as st

from edgecil.data import stored_pixels
from edgecil.data.stored_pixels import StoredPixels, stored_tensor
from edgecil.errors import DataError

COUNT = 40
SMALL = 2000  # bytes; an image has 192


@pytest.fixture(autouse=True)
def small_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_pixels, "AT_ONCE", SMALL)


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[torch.Tensor, torch.Tensor]:
    """The same images in a file, at an offset, and in memory."""
    pixels = np.random.default_rng(0).integers(0, 256, (COUNT, 3, 8, 8), dtype=np.uint8)
    path = tmp_path_factory.mktemp("pixels") / "pixels"
    path.write_bytes(b"\0" * 64 + pixels.tobytes())
    mapped = np.memmap(path, np.uint8, "r", 64, pixels.shape)
    return stored_tensor(mapped), torch.from_numpy(pixels)


MANY = torch.arange(COUNT).repeat(2).flip(0)
FUNCTIONS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "rows": lambda pixels: pixels[MANY],
    "negative rows": lambda pixels: pixels[-MANY],
    "few rows": lambda pixels: pixels[MANY[:3]],
    "mask": lambda pixels: pixels[torch.arange(COUNT) % 3 > 0],
    "slice": lambda pixels: pixels[3:-2],
    "steps": lambda pixels: pixels[::2],
    "nothing": lambda pixels: pixels[:0],
    "one": lambda pixels: pixels[-4],
    "split": lambda pixels: torch.stack(list(pixels.split(COUNT // 2))),
    "joined": lambda pixels: torch.cat([pixels[5:], torch.full((4, 3, 8, 8), 7).byte(), pixels]),
    "selected from joined": lambda pixels: torch.cat([pixels, 255 - pixels])[MANY],
    "rows of rows": lambda pixels: pixels[MANY][MANY][1:],
    "on the CPU": lambda pixels: pixels.cpu().detach().to("cpu"),
    "mean": lambda pixels: pixels.float().mean(dim=0),
    "equal": lambda pixels: pixels == 3,
    "inner": lambda pixels: pixels[:, 1, 2:4],
    "iterated": lambda pixels: torch.stack(list(pixels)),
    "index_select": lambda pixels: pixels.index_select(0, MANY),
    "clone": lambda pixels: pixels.clone(),
    "pickled": lambda pixels: pickle.loads(pickle.dumps(torch.cat([pixels[9:], pixels]))),
    "numpy": lambda pixels: torch.from_numpy(pixels.numpy()),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_gives_the_same(both, name) -> None:
    stored, usual = (FUNCTIONS[name](pixels) for pixels in both)
    assert stored.shape == usual.shape
    assert stored.dtype == usual.dtype
    assert torch.equal(torch.clone(stored), usual)


@settings(max_examples=50)
@given(data=st.data())
def test_any_chain_of_selections_gives_the_same(both, data) -> None:
    stored, usual = both
    for _ in range(data.draw(st.integers(1, 4))):
        if data.draw(st.booleans()):
            stored, usual = torch.cat([stored, stored[2:]]), torch.cat([usual, usual[2:]])
        indices = st.integers(-len(usual), len(usual) - 1)
        rows = torch.tensor(data.draw(st.lists(indices, min_size=3, max_size=30)))
        stored, usual = stored[rows], usual[rows]
    assert torch.equal(torch.clone(stored), usual)


def test_large_selections_stay_on_disk_and_small_ones_are_read(both) -> None:
    stored, usual = both
    assert isinstance(stored[MANY], StoredPixels)
    assert isinstance(torch.cat([stored, usual[:1]]), StoredPixels)
    assert type(stored[MANY[:3]]) is torch.Tensor
    parts = stored.split(3)
    assert all(isinstance(part, StoredPixels) for part in parts), "together they are large"
    assert torch.equal(torch.clone(parts[2]), usual[6:9])


def test_other_processes_get_the_path_and_not_the_pixels(both) -> None:
    stored, _ = both
    assert len(pickle.dumps(stored)) < 2000 < stored.nbytes
    assert stored.share_memory_() is stored


def test_a_file_that_is_not_there_is_an_error(tmp_path) -> None:
    path = tmp_path / "pixels"
    path.write_bytes(bytes(4 * 12))
    packed = pickle.dumps(stored_tensor(np.memmap(path, np.uint8, "r", shape=(4, 3, 2, 2))))
    path.unlink()
    with pytest.raises(DataError, match="not on this machine"):
        pickle.loads(packed)


@pytest.mark.parametrize(
    "change", [lambda pixels: pixels.zero_(), lambda pixels: pixels.__setitem__(0, 1)]
)
def test_images_cannot_be_changed(both, change) -> None:
    with pytest.raises(DataError, match="read-only"):
        change(both[0])
    with pytest.raises(IndexError):
        both[0][torch.tensor([COUNT])]
