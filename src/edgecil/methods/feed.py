"""Batches of images on their way from host memory to the device that trains on them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

import torch

from edgecil.data.stored_pixels import StoredPixels
from edgecil.io.device import room_on

_SHARE = 8  # images are kept on the device if they need at most this part of its free memory
_AHEAD = 2  # batches that are gathered before they are needed


class Feed:
    """Images (n, …) that are where they are computed with: batches are gathered when needed."""

    def __init__(self, inputs: torch.Tensor) -> None:
        self._inputs = inputs

    def begin(self, batches: Sequence[torch.Tensor]) -> None:
        """Announce the batches of an epoch, as indices (b,) on the host, in order."""

    def take(self, batch: torch.Tensor) -> torch.Tensor:
        """Return the next batch on the device, given its indices (b,) there."""
        return self._inputs[batch]


class StreamedFeed(Feed):
    """Images in host memory or on disk: a thread gathers batches ahead, in pinned memory."""

    def __init__(
        self, inputs: torch.Tensor, device: torch.device, threads: ThreadPoolExecutor
    ) -> None:
        super().__init__(inputs)
        self._device, self._threads = device, threads
        self._pinned = device.type == "cuda"
        self._waiting: Iterator[torch.Tensor] = iter(())
        self._ready: deque[Future[torch.Tensor]] = deque()

    def begin(self, batches: Sequence[torch.Tensor]) -> None:
        """Start to gather the first batches."""
        self._waiting = iter(batches)
        self._ready.clear()
        for _ in range(_AHEAD):
            self._gather_next()

    def take(self, batch: torch.Tensor) -> torch.Tensor:
        """Return the next batch; the copy to the device does not keep the host waiting."""
        images = self._ready.popleft().result()
        self._gather_next()
        return images.to(self._device, non_blocking=True)

    def _gather_next(self) -> None:
        batch = next(self._waiting, None)
        if batch is not None:
            self._ready.append(self._threads.submit(self._gather, batch))

    def _gather(self, batch: torch.Tensor) -> torch.Tensor:
        images = self._inputs[batch]
        return images.pin_memory() if self._pinned and not images.is_pinned() else images


@contextmanager
def feed(inputs: torch.Tensor, device: torch.device) -> Iterator[Feed]:
    """Return the images as batches on a device.

    Images that fit are moved to the device once; others stay and are gathered by a thread.

    Args:
        inputs: images or vectors (n, …) on the host, in memory or stored, or on the device.
        device: device to compute on.
    """
    stored = isinstance(inputs, StoredPixels)
    if inputs.device.type == device.type and not stored:
        yield Feed(inputs)
    elif not stored and _SHARE * inputs.nbytes <= room_on(device):
        yield Feed(inputs.to(device))
    else:
        with ThreadPoolExecutor(1, thread_name_prefix="edgecil-feed") as threads:
            yield StreamedFeed(inputs, device, threads)
