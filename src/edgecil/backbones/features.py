"""Features of frozen networks: computed once per image, whoever asks and however often."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path

import numpy as np
import torch

from edgecil.storage import replace_file

BATCH = 64  # of every computation: sums may depend on how many images are multiplied at a time


class FeatureBank:
    """Rows computed from images by one frozen network, kept by the images' content.

    Rows are kept in memory and, with a directory, in files that later runs and other workers
    find. Whether a row was computed now or found, it is the same bit for bit: batches have one
    size, the last one is filled up with blank images.
    """

    def __init__(self, directory: Path | None) -> None:
        self._directory = directory
        self._rows: dict[bytes, torch.Tensor] = {}
        self._read: set[Path] = set()

    def rows(
        self, pixels: torch.Tensor, compute: Callable[[torch.Tensor], torch.Tensor]
    ) -> torch.Tensor:
        """The rows (n, …) of images, on their device.

        Args:
            pixels: uint8 (n, c, h, w).
            compute: uint8 images (64, c, h, w) to rows (64, …), each from its own image alone.
        """
        if not len(pixels):
            raise ValueError("Features need at least one image.")
        names = [
            hashlib.blake2b(image.tobytes(), digest_size=16).digest() for image in _raw(pixels)
        ]
        if any(name not in self._rows for name in names):
            self._find()
        places = {name: place for place, name in enumerate(names) if name not in self._rows}
        if places:
            missing = pixels[torch.tensor(list(places.values()), device=pixels.device)]
            self._keep(list(places), in_full_batches(missing, compute).cpu())
        return torch.stack([self._rows[name] for name in names]).to(pixels.device)

    def _find(self) -> None:
        """Read the files that have appeared since the last look."""
        if self._directory is None or not self._directory.is_dir():
            return
        for path in sorted(set(self._directory.glob("*.npz")) - self._read):
            self._read.add(path)
            try:
                with path.open("rb") as raw, np.load(raw) as file:
                    names, rows = file["names"], torch.from_numpy(file["rows"])
            except (OSError, ValueError, KeyError, zipfile.BadZipFile):
                path.unlink(missing_ok=True)  # damaged: the rows are computed anew
                continue
            self._rows.update(zip(map(bytes, names), rows, strict=True))

    def _keep(self, names: list[bytes], rows: torch.Tensor) -> None:
        self._rows.update(zip(names, rows, strict=True))
        if self._directory is None:
            return
        path = self._directory / f"{hashlib.sha256(b''.join(names)).hexdigest()[:32]}.npz"
        self._read.add(path)
        with replace_file(path) as file:
            np.savez(file, names=np.array([list(name) for name in names], np.uint8), rows=rows)


@lru_cache(maxsize=64)
def feature_bank(directory: Path | None, network: str) -> FeatureBank:
    """The bank of a network, named by its content; one per process."""
    return FeatureBank(None if directory is None else directory / network)


def in_full_batches(
    pixels: torch.Tensor, compute: Callable[[torch.Tensor], torch.Tensor]
) -> torch.Tensor:
    """Rows (n, …) of images, computed without gradients, always 64 at a time."""
    blank = pixels.new_zeros((-len(pixels) % BATCH, *pixels.shape[1:]))
    with torch.no_grad():
        parts = [compute(part) for part in torch.cat([pixels, blank]).split(BATCH)]
    return torch.cat(parts)[: len(pixels)]


def content_name(*parts: object) -> str:
    """A short name for what these values, and tensors among them, are."""
    digest = hashlib.sha256()
    for part in parts:
        if isinstance(part, Mapping):
            digest.update(content_name(*(item for pair in part.items() for item in pair)).encode())
        elif isinstance(part, torch.Tensor):
            digest.update(str((part.dtype, part.shape)).encode())
            digest.update(part.detach().cpu().contiguous().numpy().tobytes())
        else:
            digest.update(repr(part).encode())
        digest.update(b"\0")
    return digest.hexdigest()[:32]


def _raw(pixels: torch.Tensor) -> list[np.ndarray]:
    return list(np.ascontiguousarray(pixels.cpu().numpy()))
