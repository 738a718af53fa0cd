"""Class similarity from text: an encoder applied to class names in a template, or to captions."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from edgecil.classes import ClassList
from edgecil.errors import DataError, EdgecilError, UsageError, shown
from edgecil.io.arrays import read_npz
from edgecil.io.files import cache_directory, replace_file
from edgecil.similarity.captions import check_captions
from edgecil.similarity.clip import ClipEncoder
from edgecil.similarity.encoders import DEFAULT_ENCODER, BundledEncoder, Encoder, get_encoder
from edgecil.similarity.matrix import SimilarityMatrix

TEMPLATE = "a photo of a {name}."

_log = logging.getLogger(__name__)


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
        half: let CLIP use half precision on a GPU; the similarities then have it, too.
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
    bundled = isinstance(encoder, BundledEncoder)
    vectors = encoder.encode(texts) if bundled else encode_cached(encoder, texts)
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
        around = template.split(field)
        if len(around) == 2 and not any(brace in part for part in around for brace in "{}"):
            return tuple(text.join(around) for text in texts)
    raise UsageError(
        "A template must contain {name} or {label} exactly once and no other braces, like "
        f"{TEMPLATE!r}. Got {shown(template)} instead."
    )


def encode_cached(encoder: Encoder, texts: Sequence[str]) -> NDArray[np.float64]:
    """`encoder.encode(texts)`, shape (n, d), computed once for these weights and texts.

    A damaged file in the cache is computed again; a cache that cannot be written gives a warning.
    """
    asked = json.dumps([encoder.name, encoder.version, list(texts)])
    key = hashlib.sha256(asked.encode("utf-8")).hexdigest()
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
