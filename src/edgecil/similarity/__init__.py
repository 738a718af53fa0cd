"""Names, captions or images in; pairwise class similarity out."""

from edgecil.similarity.captions import bundled_captions, check_captions, read_captions
from edgecil.similarity.clip import ClipEncoder, load_clip
from edgecil.similarity.encoders import (
    DEFAULT_ENCODER,
    Encoder,
    EncoderStatus,
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
from edgecil.similarity.matrix import Embeddings, Similarity, SimilarityMatrix
from edgecil.similarity.prototypes import prototype_embeddings
from edgecil.similarity.text import TEMPLATE, text_embeddings, text_similarity

__all__ = [
    "DEFAULT_ENCODER",
    "TEMPLATE",
    "ClipEncoder",
    "Embeddings",
    "Encoder",
    "EncoderStatus",
    "Similarity",
    "SimilarityMatrix",
    "bundled_captions",
    "check_captions",
    "encoder_names",
    "encoder_status",
    "get_encoder",
    "load_clip",
    "prototype_embeddings",
    "read_captions",
    "read_embeddings",
    "read_features",
    "read_similarity",
    "save_similarity",
    "text_embeddings",
    "text_similarity",
]
