"""Pairwise class similarity from names, captions or images."""

from edgecil.similarity.build import build_similarity, choose_similarity, find_classes
from edgecil.similarity.captions import bundled_captions, check_captions, read_captions
from edgecil.similarity.clip import ClipEncoder, load_clip
from edgecil.similarity.encoders import (
    DEFAULT_ENCODER,
    Encoder,
    encoder_names,
    encoder_status,
    get_encoder,
)
from edgecil.similarity.files import (
    read_embeddings,
    read_features,
    read_similarity,
    save_similarity,
)
from edgecil.similarity.images import PIXELS, image_similarity, prototype_similarity
from edgecil.similarity.matrix import Similarity, SimilarityMatrix, align
from edgecil.similarity.options import SimilaritySource
from edgecil.similarity.text import TEMPLATE, text_similarity

__all__ = [
    "DEFAULT_ENCODER",
    "PIXELS",
    "TEMPLATE",
    "ClipEncoder",
    "Encoder",
    "Similarity",
    "SimilarityMatrix",
    "SimilaritySource",
    "align",
    "build_similarity",
    "bundled_captions",
    "check_captions",
    "choose_similarity",
    "encoder_names",
    "encoder_status",
    "find_classes",
    "get_encoder",
    "image_similarity",
    "load_clip",
    "prototype_similarity",
    "read_captions",
    "read_embeddings",
    "read_features",
    "read_similarity",
    "save_similarity",
    "text_similarity",
]
