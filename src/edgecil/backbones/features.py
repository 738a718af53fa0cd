"""Features of frozen networks: computed once per image, whoever asks and however often."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import torch

from edgecil.backbones.pretrained import Shape, fingerprint, frozen_vit, statistics_of
from edgecil.data.augment import Pipeline
from edgecil.errors import EdgecilError
from edgecil.io.files import cache_directory, replace_file

BATCH = 32  # of every computation: sums may depend on how many images are multiplied at a time
FEATURES_VERSION = 1  # raise it when the same weights and images come to give other rows

_MEMORY = 2**29  # bytes of rows that a process may hold before it forgets whole banks

_log = logging.getLogger(__name__)
_warned: set[Path] = set()
_banks: dict[tuple[Path | None, str], FeatureBank] = {}


class FeatureBank:
    """Rows computed from images by one frozen network, kept by the images' content.

    Rows are kept in memory and, with a directory, in files that later runs and other workers
    find. Whether a row was computed now or found, it is the same bit for bit: batches have one
    size, the last one is filled up with blank images. A damaged file is passed over, and a
    directory that cannot be written costs a warning, not the rows.

    Attributes:
        size: bytes of the rows in memory.
    """

    def __init__(self, directory: Path | None) -> None:
        self.size = 0
        self._directory = directory
        self._rows: dict[bytes, torch.Tensor] = {}
        self._files: dict[Path, frozenset[bytes]] = {}

    def rows(
        self, pixels: torch.Tensor, compute: Callable[[torch.Tensor], torch.Tensor]
    ) -> torch.Tensor:
        """The rows (n, …) of images, on their device.

        Args:
            pixels: uint8 (n, c, h, w).
            compute: uint8 images (32, c, h, w) to rows (32, …), each from its own image alone.
        """
        if not len(pixels):
            raise ValueError("Features need at least one image.")
        names = [
            hashlib.blake2b(image.tobytes(), digest_size=16).digest() for image in _raw(pixels)
        ]
        if missing := set(names) - self._rows.keys():
            self._find(missing)
        places = {name: place for place, name in enumerate(names) if name not in self._rows}
        if places:
            missed = pixels[torch.tensor(list(places.values()), device=pixels.device)]
            rows = in_full_batches(missed, compute).cpu()
            self._hold(list(places), rows)
            self._write(list(places), rows)
        return torch.stack([self._rows[name] for name in names]).to(pixels.device)

    def _find(self, missing: set[bytes]) -> None:
        """Take missing rows from the files that others have left."""
        if self._directory is None:
            return
        for path in sorted(self._directory.glob("*.npz")):
            if path not in self._files:
                names, _ = _read(path, with_rows=False)
                self._files[path] = frozenset(names)
            if missing & self._files[path]:
                self._hold(*_read(path))

    def _hold(self, names: list[bytes], rows: torch.Tensor) -> None:
        self._rows.update(zip(names, rows, strict=True))
        self.size += rows.nbytes

    def _write(self, names: list[bytes], rows: torch.Tensor) -> None:
        if self._directory is None:
            return
        path = self._directory / f"{hashlib.sha256(b''.join(names)).hexdigest()[:32]}.npz"
        named = torch.tensor([list(name) for name in names], dtype=torch.uint8)
        try:
            with replace_file(path) as file:
                np.savez(file, names=named, rows=rows, content=content_name(named, rows))
        except EdgecilError as error:
            if self._directory.parent not in _warned:
                _warned.add(self._directory.parent)
                _log.warning(
                    "Features are computed but not kept for later. %s (EDGECIL_CACHE says where "
                    "the cache is.)",
                    error,
                )
        else:
            self._files[path] = frozenset(names)


def _read(path: Path, *, with_rows: bool = True) -> tuple[list[bytes], torch.Tensor]:
    """Names of images, n of 16 bytes, and their rows (n, …); none if the file is damaged."""
    try:
        with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
            names = torch.from_numpy(file["names"])
            rows = torch.from_numpy(file["rows"]) if with_rows else torch.empty(0)
            if with_rows and str(file["content"]) != content_name(names, rows):
                raise ValueError("The file is not what was written.")
            return [bytes(name) for name in names.numpy()], rows
    except Exception:  # there are many ways to be damaged, and one remedy: to compute anew
        return [], torch.empty(0)


def feature_bank(directory: Path | None, network: str) -> FeatureBank:
    """The bank of a network, named by its content; one per process.

    When all banks together hold too much, those that were asked for longest ago are forgotten.
    """
    place = None if directory is None else directory / network
    bank = _banks.pop((directory, network), FeatureBank(place))
    _banks[directory, network] = bank
    while len(_banks) > 1 and sum(bank.size for bank in _banks.values()) > _MEMORY:
        del _banks[next(iter(_banks))]
    return bank


def network_name(name: str, shape: Shape, device: str) -> str:
    """Tells the rows of a pre-trained network from all others, down to their last bits.

    Args:
        name: in `PRETRAINED`, or a path or hub id.
        shape: channels, height and width of the images.
        device: where it computes.
    """
    statistics = statistics_of(name)
    on_gpu = torch.device(device).type == "cuda"
    return content_name(
        FEATURES_VERSION,
        fingerprint(name),
        shape,
        statistics.mean,
        statistics.std,
        device,
        # sums depend on these, in their last bits
        BATCH,
        torch.__version__,
        torch.get_num_threads(),
        torch.backends.cpu.get_cpu_capability(),
        torch.cuda.get_device_name(device) if on_gpu else None,
    )


def frozen_features(name: str, pixels: torch.Tensor, device: str, *, keep: bool) -> torch.Tensor:
    """Features (n, d) of the untouched pre-trained network `name`.

    Args:
        name: in `PRETRAINED`, or a path or hub id.
        pixels: uint8 (n, c, h, w), on the device.
        device: where to compute.
        keep: whether rows are kept on this machine for whoever asks next.
    """
    _, channels, height, width = pixels.shape
    shape = (channels, height, width)
    network, statistics = frozen_vit(name, shape, device), statistics_of(name)
    prepare = Pipeline((), statistics.mean, statistics.std)
    directory = cache_directory() / "features" if keep else None
    bank = feature_bank(directory, network_name(name, shape, device))
    return bank.rows(pixels, lambda part: network(prepare.plain(part)))


def in_full_batches(
    pixels: torch.Tensor, compute: Callable[[torch.Tensor], torch.Tensor]
) -> torch.Tensor:
    """Rows (n, …) of images, computed without gradients, always 32 at a time."""
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
