"""Class similarity from text: encoders by name, applied to names in a template or to captions."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from edgecil.classes import ClassList, straighten_apostrophes
from edgecil.errors import DataError, EdgecilError, PrerequisiteError, UsageError, format_value
from edgecil.io.arrays import read_npz
from edgecil.io.cache import cache_directory, home_directory
from edgecil.io.files import read_toml, replace_file
from edgecil.io.hub import cached_snapshot
from edgecil.io.packages import missing_packages
from edgecil.io.weights import WEIGHTS
from edgecil.registry import Registry
from edgecil.similarity.captions import check_captions
from edgecil.similarity.clip import ClipEncoder
from edgecil.similarity.matrix import SimilarityMatrix
from edgecil.similarity.text_models import (
    INSTALL,
    PACKAGES,
    MiniLMEncoder,
    check_texts,
    installed_minilm,
    locate_encoder,
)

TEMPLATE = "a photo of a {name}."
DEFAULT_ENCODER = "minilm-bundled"

_DATA = Path(__file__).parent / "data"
_log = logging.getLogger(__name__)


class Encoder(Protocol):
    """Turns texts into vectors whose cosine is the similarity."""

    @property
    def name(self) -> str:
        """Its name in a matrix's source and in the cache."""

    @property
    def version(self) -> str:
        """Identifies its weights."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Return vectors of n texts, shape (n, d); their lengths carry no meaning."""


class BundledEncoder:
    """Looks texts up in a table of all-MiniLM-L6-v2 embeddings; needs no model."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.version, self._rows, self._vectors = _table()

    def encode(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Return table rows, shape (n, 384); a text that is not in the table is an error."""
        texts = check_texts(texts)
        absent = [text for text in texts if text not in self._rows]
        if absent:
            more = f" and {len(absent) - 1} more" if len(absent) > 1 else ""
            raise PrerequisiteError(
                f"The bundled MiniLM table lacks {absent[0]!r}{more}; the encoder 'minilm' "
                f"encodes any text (install it with {INSTALL})."
            )
        rows = [self._rows[text] for text in texts]
        return self._vectors[rows].astype(np.float64)


@cache
def _table() -> tuple[str, dict[str, int], NDArray[np.float16]]:
    with np.load(_DATA / "minilm.npz", allow_pickle=False) as table:
        texts = bytes(table["texts"]).decode("utf-8").split("\n")
        rows = {text: row for row, text in enumerate(texts)}
        return str(table["version"]), rows, table["vectors"]


@dataclass(frozen=True)
class EncoderEntry:
    """An entry of the catalogue of encoders."""

    about: str
    kind: Literal["bundled", "minilm", "clip"]
    hub_id: str = ""
    sizes: tuple[int, int] | None = None
    file: str = ""


_CATALOGUE = msgspec.convert(read_toml(_DATA / "encoders.toml"), dict[str, EncoderEntry])
ENCODERS: Registry[EncoderEntry] = Registry("encoder", _CATALOGUE)


def encoder_names(pattern: str = "*") -> tuple[str, ...]:
    """Return names of the text encoders that match a shell pattern, the default first."""
    return ENCODERS.names(pattern)


def get_encoder(name: str, weights: str | Path | None = None, *, half: bool = False) -> Encoder:
    """Return a text encoder by name; its files are located or downloaded, but not yet loaded.

    Args:
        name: one of :func:`encoder_names`.
        weights: a folder, weight file or hub id in place of the catalogue's. A CLIP encoder
            refuses weights whose width or projection do not fit its name; RN101, ViT-B/32 and
            ViT-B/16 have equal sizes and cannot be distinguished.
        half: let CLIP use half precision on a GPU, as OpenAI's package does.
    """
    name = ENCODERS.resolve(name)
    entry = ENCODERS[name]
    if entry.kind == "bundled":
        if weights is not None:
            raise UsageError(
                f"Encoder {name!r} is a table and takes no weights. Got "
                f"{format_value(str(weights))}; choose another encoder for these weights."
            )
        return BundledEncoder(name)
    place = weights or cached_weights(entry) or entry.hub_id
    files = locate_encoder(name, place, _remedy(entry))
    if entry.kind == "minilm":
        return MiniLMEncoder(name, files)
    activation = "quick_gelu" if weights is None else None  # as in OpenAI's models
    return ClipEncoder(name, files, sizes=entry.sizes, activation=activation, half=half)


def encoder_status(name: str) -> tuple[bool, str]:
    """Return whether an encoder can run here without a network, and a note about it.

    Torch is not imported and no connection is made.
    """
    entry = ENCODERS[name]
    if entry.kind == "bundled":
        return True, f"{entry.about}; comes with edgecil."
    missing = missing_packages(PACKAGES)
    if missing:
        requires = f"{entry.about}; requires {' and '.join(missing)}"
        return False, f"{requires}: run pip install 'edgecil[clip]'."
    folder = cached_weights(entry)
    if folder is not None:
        return True, f"{entry.about}; weights in {folder}."
    missing_weights = PrerequisiteError(
        f"{entry.about}; its weights are not here: with a network the first use downloads them, "
        f"else {_remedy(entry)}."
    )
    return False, str(missing_weights)


def cached_weights(entry: EncoderEntry) -> Path | None:
    """Return weights in MiniLM's package, in the cache of the hub, or of OpenAI's package."""
    package = installed_minilm() if entry.kind == "minilm" else None
    if package is not None:
        return package
    snapshot = cached_snapshot(entry.hub_id, WEIGHTS)
    if snapshot is not None:
        return snapshot
    openai_file = home_directory() / ".cache" / "clip" / entry.file
    return openai_file if openai_file.is_file() else None


def _remedy(entry: EncoderEntry) -> str:
    download = (
        f"run hf download {entry.hub_id} where there is a network and give the folder it prints "
        "as `weights`"
    )
    return f"run {INSTALL}, or {download}" if entry.kind == "minilm" else download


def text_similarity(
    classes: ClassList,
    *,
    encoder: str | Encoder = DEFAULT_ENCODER,
    template: str = TEMPLATE,
    captions: Mapping[str, str] | Sequence[str] | None = None,
    weights: str | Path | None = None,
    half: bool = False,
) -> SimilarityMatrix:
    """Return the cosine similarity (N, N) of classes, by their words in a template or by captions.

    Args:
        classes: N classes, N >= 2.
        encoder: the name of an encoder, or an encoder.
        template: a text with `{name}` (the class's words) or `{label}` (the raw label as the
            dataset spells it) once; "{name}" alone is the bare name.
        captions: one per class (see :func:`check_captions`); they replace template and name.
        weights: where the named encoder's weights are (see :func:`get_encoder`).
        half: let CLIP use half precision on a GPU; the similarities then have half precision, too.
    """
    if captions is None:
        texts = fill_template(template, classes)
    else:
        texts = check_captions(classes, captions)
    if isinstance(encoder, str):
        encoder = get_encoder(encoder, weights, half=half)
    elif weights is not None:
        raise UsageError(
            "`weights` are used with the name of an encoder; the given encoder has its own."
        )
    # As CLIP's tokenizer does; here for every encoder.
    texts = tuple(straighten_apostrophes(text) for text in texts)
    is_table = isinstance(encoder, BundledEncoder)
    vectors = encoder.encode(texts) if is_table else encode_cached(encoder, texts)
    source = {
        "encoder": encoder.name,
        "template": template if captions is None else "captions",
        "version": encoder.version,
    }
    if isinstance(encoder, ClipEncoder) and encoder.half:
        single = vectors.astype(np.float32)  # sums of products are rounded once
        return SimilarityMatrix(classes.labels, (single @ single.T).astype(np.float16), source)
    return SimilarityMatrix.of_vectors(vectors, classes.labels, source)


def fill_template(template: str, classes: ClassList) -> tuple[str, ...]:
    """Return a template's text for each of N classes.

    >>> classes = ClassList("pets", ("house_cat, Felis catus", "dog"))
    >>> fill_template("a photo of a {name}.", classes)
    ('a photo of a house cat.', 'a photo of a dog.')
    >>> fill_template("{label}", classes)
    ('house_cat, Felis catus', 'dog')
    """
    for field, texts in (("{name}", classes.words), ("{label}", classes.labels)):
        before_and_after = template.split(field)
        has_braces = not {"{", "}"}.isdisjoint("".join(before_and_after))
        if len(before_and_after) == 2 and not has_braces:
            return tuple(text.join(before_and_after) for text in texts)
    raise UsageError(
        "A template must contain {name} or {label} exactly once and no other braces, like "
        f"{TEMPLATE!r}. Got {format_value(template)} instead."
    )


def encode_cached(encoder: Encoder, texts: Sequence[str]) -> NDArray[np.float64]:
    """Return `encoder.encode(texts)`, shape (n, d), computed once for these weights and texts.

    A damaged file in the cache is computed again; a cache that cannot be written gives a warning.
    """
    description = json.dumps([encoder.name, encoder.version, list(texts)])
    key = hashlib.sha256(description.encode("utf-8")).hexdigest()
    path = cache_directory() / "embeddings" / f"{key}.npz"
    try:
        arrays, _ = read_npz(path, ("vectors",))
        cached: NDArray[np.float64] = arrays["vectors"]
        return cached
    except (DataError, KeyError):
        vectors = encoder.encode(texts)
    try:
        with replace_file(path, private=True) as file:
            np.savez(file, vectors=vectors)
    except EdgecilError as error:
        _log.warning("Embeddings are computed but not cached. %s", error)
    return vectors
