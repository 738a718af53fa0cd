"""How a class-incremental learner really behaves, over the orders in which classes may arrive.

>>> import edgecil
>>> similarity = edgecil.text_similarity(edgecil.get_classes("cifar100"))
>>> space = edgecil.SequenceSpace.equal(100, 10)
>>> runs = edgecil.protocol("edge", space, similarity=similarity)
>>> [run.label for run in runs]
['hard', 'median', 'easy']
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from edgecil.classes import (
        ClassList,
        dataset_names,
        get_classes,
        read_classes,
        register_classes,
    )
    from edgecil.errors import EdgecilError
    from edgecil.interop import export
    from edgecil.sequences import (
        ClassSequence,
        LabelledSequence,
        Objective,
        SequenceSpace,
        compare_similarities,
        find_optimum,
        profile,
        protocol,
        score,
    )
    from edgecil.similarity import (
        Embeddings,
        SimilarityMatrix,
        prototype_embeddings,
        read_similarity,
        save_similarity,
        text_similarity,
    )

_HOME = {
    "edgecil.classes": (
        "ClassList",
        "dataset_names",
        "get_classes",
        "read_classes",
        "register_classes",
    ),
    "edgecil.errors": ("EdgecilError",),
    "edgecil.interop": ("export",),
    "edgecil.sequences": (
        "ClassSequence",
        "LabelledSequence",
        "Objective",
        "SequenceSpace",
        "compare_similarities",
        "find_optimum",
        "profile",
        "protocol",
        "score",
    ),
    "edgecil.similarity": (
        "Embeddings",
        "SimilarityMatrix",
        "prototype_embeddings",
        "read_similarity",
        "save_similarity",
        "text_similarity",
    ),
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}

__all__ = [
    "ClassList",
    "ClassSequence",
    "EdgecilError",
    "Embeddings",
    "LabelledSequence",
    "Objective",
    "SequenceSpace",
    "SimilarityMatrix",
    "compare_similarities",
    "dataset_names",
    "export",
    "find_optimum",
    "get_classes",
    "profile",
    "protocol",
    "prototype_embeddings",
    "read_classes",
    "read_similarity",
    "register_classes",
    "save_similarity",
    "score",
    "text_similarity",
]


def __getattr__(name: str) -> Any:
    """Load a public name from its station when it is first asked for."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'edgecil' has no attribute {name!r}")
    return getattr(import_module(_MODULE_OF[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
