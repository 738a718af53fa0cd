from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from edgecil.data.stored_pixels import StoredPixels
from edgecil.methods import training as feed_module
from edgecil.methods.training import Feed, StreamedFeed, feed

CPU, OTHER = torch.device("cpu"), torch.device("meta")
PIXELS = torch.arange(7 * 3 * 4, dtype=torch.uint8).view(7, 3, 2, 2)
EPOCHS = (
    [torch.tensor([6, 0]), torch.tensor([3]), torch.tensor([1, 2]), torch.tensor([5, 4])],
    [torch.tensor([2, 2, 2]), torch.tensor([0])],
)


def stored(path: Path) -> StoredPixels:
    np.save(path, PIXELS.numpy())
    return StoredPixels.of(np.load(path, mmap_mode="r"))


def test_images_where_they_are_needed_are_taken_from_there() -> None:
    with feed(PIXELS, CPU) as source:
        assert type(source) is Feed
        assert torch.equal(source.take(EPOCHS[0][0]), PIXELS[[6, 0]])


@pytest.mark.parametrize("free", [0, 8 * PIXELS.nbytes - 1, 8 * PIXELS.nbytes])
def test_images_move_to_the_device_at_once_if_they_need_an_eighth_of_its_room(
    free: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed_module, "room_on", lambda device: free)
    with feed(PIXELS, OTHER) as source:
        fits = free >= 8 * PIXELS.nbytes
        assert isinstance(source, StreamedFeed) != fits
        source.begin(EPOCHS[0])
        images = source.take(EPOCHS[0][0].to(OTHER))
        assert images.device == OTHER
        assert images.shape == (2, 3, 2, 2)


def test_stored_images_come_in_the_order_announced_epoch_by_epoch(tmp_path: Path) -> None:
    with feed(stored(tmp_path / "pixels.npy"), CPU) as source:
        assert isinstance(source, StreamedFeed)
        for batches in EPOCHS:
            source.begin(batches)
            for batch in batches:
                assert torch.equal(source.take(batch), PIXELS[batch])


def test_an_epoch_may_end_early(tmp_path: Path) -> None:
    with feed(stored(tmp_path / "pixels.npy"), CPU) as source:
        source.begin(EPOCHS[0])
        source.take(EPOCHS[0][0])
        source.begin(EPOCHS[1])
        assert torch.equal(source.take(EPOCHS[1][0]), PIXELS[[2, 2, 2]])


def test_an_error_in_the_thread_is_raised_where_the_batch_is_needed(tmp_path: Path) -> None:
    with feed(stored(tmp_path / "pixels.npy"), CPU) as source:
        source.begin([torch.tensor([99])])
        with pytest.raises(IndexError):
            source.take(torch.tensor([99]))
