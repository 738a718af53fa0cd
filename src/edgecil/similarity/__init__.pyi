from .build import (
    SimilaritySource as SimilaritySource,
    build_similarity as build_similarity,
    choose_similarity as choose_similarity,
    find_classes as find_classes,
)
from .captions import (
    bundled_captions as bundled_captions,
    check_captions as check_captions,
    read_captions as read_captions,
)
from .clip import ClipEncoder as ClipEncoder
from .images import (
    PIXELS as PIXELS,
    image_similarity as image_similarity,
)
from .matrix import (
    Similarity as Similarity,
    SimilarityMatrix as SimilarityMatrix,
    align as align,
)
from .similarity_files import (
    read_embeddings as read_embeddings,
    read_similarity as read_similarity,
    save_similarity as save_similarity,
)
from .text import (
    DEFAULT_ENCODER as DEFAULT_ENCODER,
    TEMPLATE as TEMPLATE,
    Encoder as Encoder,
    encoder_names as encoder_names,
    encoder_status as encoder_status,
    get_encoder as get_encoder,
    text_similarity as text_similarity,
)
