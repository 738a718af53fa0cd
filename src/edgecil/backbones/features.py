"""Features of frozen networks, computed once per image and cached."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.utils.weak import WeakIdKeyDictionary

from edgecil.backbones.pretrained import fingerprint, frozen_backbone, statistics_of
from edgecil.data.augment import Normalise, Pipeline
from edgecil.errors import EdgecilError
from edgecil.io.arrays import read_npz
from edgecil.io.cache import cache_directory, writable_cache
from edgecil.io.device import autocast
from edgecil.io.files import replace_file

BATCH = 32  # fixed batch size: floating-point sums may depend on the number of images
FEATURES_VERSION = 1  # increase it when the same weights and images give other rows

_MEMORY = 2**29  # bytes of rows in memory above which a process drops whole banks
_HASHED_AT_ONCE = 1024  # rows of a tensor that may be on disk

_log = logging.getLogger(__name__)
_warned: set[Path] = set()
_banks: dict[tuple[Path | None, str], FeatureBank] = {}


class FeatureBank:
    """Rows computed from images by one frozen network, cached by the images' content.

    Rows are cached in memory and, with a directory, in files that later runs and other workers
    read. A cached row is bit-identical to a computed one: all batches have the same size, and the
    last one is padded with blank images. Damaged files are ignored, and a directory that cannot
    be written causes a warning.

    Attributes:
        size: bytes of the rows in memory.
    """

    def __init__(self, directory: Path | None) -> None:
        self.size = 0
        self._directory = directory
        self._rows: dict[bytes, torch.Tensor] = {}
        self._files: dict[Path, frozenset[bytes]] = {}

    def rows(
        self,
        inputs: torch.Tensor,
        compute: Callable[[torch.Tensor], torch.Tensor],
        device: str | torch.device = "cpu",
    ) -> torch.Tensor:
        """Return the rows (n, …) of uint8 images (n, c, h, w), which may be on another device.

        `compute` maps 32 images on the device to rows (32, …), each from its own image alone.
        """
        if not len(inputs):
            raise ValueError("'inputs' must have at least one image. Got 0.")
        names = names_of(inputs)
        if missing := set(names) - self._rows.keys():
            self._load(missing)
        places = {name: place for place, name in enumerate(names) if name not in self._rows}
        if places:
            missed = torch.tensor(list(places.values()), device=inputs.device)
            computed = []
            for indices in missed.split(BATCH):
                part = inputs[indices]
                blank = part.new_zeros((BATCH - len(part), *part.shape[1:]))
                with torch.no_grad():
                    computed.append(compute(torch.cat([part, blank]).to(device))[: len(part)])
            rows = torch.cat(computed).cpu()
            self._hold(list(places), rows)
            self._write(list(places), rows)
        return torch.stack([self._rows[name] for name in names]).to(device)

    def _load(self, missing: set[bytes]) -> None:
        """Read missing rows from cache files."""
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
                np.savez(file, names=named, rows=rows)
        except EdgecilError as error:
            if self._directory.parent not in _warned:
                _warned.add(self._directory.parent)
                _log.warning(
                    "Features are computed but not cached. %s (The environment variable "
                    "EDGECIL_CACHE sets the cache directory.)",
                    error,
                )
        else:
            self._files[path] = frozenset(names)


def _read(path: Path, *, with_rows: bool = True) -> tuple[list[bytes], torch.Tensor]:
    """Return names of images, n of 16 bytes, and their rows (n, …); none if the file is damaged."""
    try:
        arrays, _ = read_npz(path, ("names", "rows") if with_rows else ("names",))
        rows = torch.from_numpy(arrays["rows"]) if with_rows else torch.empty(0)
        return [bytes(name) for name in arrays["names"]], rows
    except Exception:  # whatever the damage, the rows are computed again
        return [], torch.empty(0)


def feature_bank(directory: Path | None, network: str) -> FeatureBank:
    """Return the bank of a network, named by its content; one per process.

    When all banks together exceed the memory limit, the least recently used are dropped.
    """
    place = None if directory is None else directory / network
    bank = _banks.pop((directory, network), FeatureBank(place))
    _banks[directory, network] = bank
    while len(_banks) > 1 and sum(bank.size for bank in _banks.values()) > _MEMORY:
        del _banks[next(iter(_banks))]
    return bank


def network_name(name: str, prepare: Pipeline, device: str, *, precision: str = "float32") -> str:
    """Return a name for a network that changes with anything that may change its rows."""
    on_gpu = torch.device(device).type == "cuda"
    return content_name(
        FEATURES_VERSION,
        fingerprint(name),
        prepare,
        device,
        precision,
        # the last bits of sums depend on these
        BATCH,
        torch.__version__,
        torch.get_num_threads(),
        torch.backends.cpu.get_cpu_capability(),
        torch.cuda.get_device_name(device) if on_gpu else None,
    )


def frozen_features(
    name: str,
    inputs: torch.Tensor,
    device: str,
    *,
    keep: bool,
    prepare: Pipeline | None = None,
    precision: str = "float32",
) -> torch.Tensor:
    """Return features (n, d) of uint8 images (n, c, h, w) by an unmodified pre-trained network.

    `keep` caches them on disk. By default images are normalised as the model's were and keep their
    own size.
    """
    if prepare is None:
        channels = inputs.shape[1]
        stated = statistics_of(name) or Normalise((0.0,) * channels, (1.0,) * channels)
        prepare = Pipeline((), stated.mean, stated.std, tuple(inputs.shape[2:]))
    size = prepare.size or tuple(inputs.shape[2:])
    network = frozen_backbone(name, (inputs.shape[1], *size), device)
    content = network_name(name, prepare, device, precision=precision)
    bank = feature_bank(_bank_directory(content) if keep else None, content)

    def compute(part: torch.Tensor) -> torch.Tensor:
        with autocast(precision, device):
            return network(prepare.plain(part)).float()

    return bank.rows(inputs, compute, device)


def _bank_directory(network: str) -> Path:
    """Return the folder with the banks of networks; a cache that has this one may be read-only."""
    directory = cache_directory() / "features"
    return directory if (directory / network).is_dir() else writable_cache() / "features"


def content_name(*parts: object) -> str:
    """Return a short digest of values and tensors."""
    digest = hashlib.sha256()
    for part in parts:
        if isinstance(part, Mapping):
            digest.update(content_name(*(item for pair in part.items() for item in pair)).encode())
        elif isinstance(part, torch.Tensor):
            digest.update(str((part.dtype, part.shape)).encode())
            blocks = part.detach().split(_HASHED_AT_ONCE) if part.dim() else (part.detach(),)
            for block in blocks:
                digest.update(block.cpu().contiguous().numpy().tobytes())
        else:
            digest.update(repr(part).encode())
        digest.update(b"\0")
    return digest.hexdigest()[:32]


# A tensor's images by their content, computed once: names of all images that it was selected from,
# None where they are not computed yet, and the places of its own among them.
_names: WeakIdKeyDictionary = WeakIdKeyDictionary()


def names_of(inputs: torch.Tensor) -> list[bytes]:
    """16 bytes per image of uint8 images (n, c, h, w), equal for equal content.

    Names are kept as long as the tensor exists. Tensors of images must not be modified in place.
    """
    names, places = _named(inputs)
    for source, place in enumerate(places):
        if names[place] is None:
            content = inputs[source].cpu().contiguous().numpy().tobytes()
            names[place] = hashlib.blake2b(content, digest_size=16).digest()
    return [names[place] for place in places]


def take_named(inputs: torch.Tensor, chosen: torch.Tensor) -> torch.Tensor:
    """Selected images `inputs[chosen]`; names computed for either are known for both."""
    names, places = _named(inputs)
    selected = inputs[chosen]
    _names[selected] = names, [places[index] for index in chosen.tolist()]
    return selected


def _named(inputs: torch.Tensor) -> tuple[list[Any], Sequence[int]]:
    if inputs not in _names:
        _names[inputs] = [None] * len(inputs), range(len(inputs))
    named: tuple[list[Any], Sequence[int]] = _names[inputs]
    return named
