"""Class similarity from text: a class's name in a template, or its caption, through an encoder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from edgecil.classes import ClassList
from edgecil.errors import UsageError
from edgecil.similarity.bundled import BundledEncoder
from edgecil.similarity.cache import encode_cached
from edgecil.similarity.captions import check_captions
from edgecil.similarity.encoders import DEFAULT_ENCODER, Encoder, get_encoder
from edgecil.similarity.matrix import Embeddings, SimilarityMatrix

TEMPLATE = "a photo of a {name}."


def text_embeddings(
    classes: ClassList,
    *,
    encoder: str | Encoder = DEFAULT_ENCODER,
    template: str = TEMPLATE,
    captions: Mapping[str, str] | Sequence[str] | None = None,
    weights: str | Path | None = None,
) -> Embeddings:
    """Unit vectors of N classes, from their words in a template or from captions.

    Args:
        classes: N classes, N >= 2.
        encoder: a known encoder's name, or an encoder.
        template: a text with `{name}` once; "{name}" alone is the bare name.
        captions: one per class (see :func:`check_captions`); they replace template and name.
        weights: where the named encoder's weights are (see :func:`get_encoder`).
    """
    if captions is None:
        texts = fill_template(template, classes.words)
    else:
        texts = check_captions(classes, captions)
    if isinstance(encoder, str):
        encoder = get_encoder(encoder, weights)
    elif weights is not None:
        raise UsageError("Weights go with an encoder's name; an encoder given as such has its own.")
    bundled = isinstance(encoder, BundledEncoder)
    vectors = encoder.encode(texts) if bundled else encode_cached(encoder, texts)
    source = {
        "encoder": encoder.name,
        "template": template if captions is None else "captions",
        "version": encoder.version,
    }
    return Embeddings(classes.labels, vectors, source)


def text_similarity(
    classes: ClassList,
    *,
    encoder: str | Encoder = DEFAULT_ENCODER,
    template: str = TEMPLATE,
    captions: Mapping[str, str] | Sequence[str] | None = None,
    weights: str | Path | None = None,
) -> SimilarityMatrix:
    """Cosine similarity of N classes, shape (N, N); arguments as for :func:`text_embeddings`."""
    return text_embeddings(
        classes, encoder=encoder, template=template, captions=captions, weights=weights
    ).similarity()


def fill_template(template: str, words: Sequence[str]) -> tuple[str, ...]:
    """A template's text for each of N names.

    >>> fill_template("a photo of a {name}.", ["cat", "dog"])
    ('a photo of a cat.', 'a photo of a dog.')
    """
    around = template.split("{name}")
    if len(around) != 2 or any(brace in part for part in around for brace in "{}"):
        raise UsageError(
            "A template must hold {name} exactly once and no other braces, like "
            f"{TEMPLATE!r}. Got {template!r} instead."
        )
    return tuple(word.join(around) for word in words)
