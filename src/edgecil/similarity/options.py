"""Where the similarity of the classes comes from, as options."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from edgecil.errors import UsageError
from edgecil.options import Options, option
from edgecil.similarity.files import read_embeddings, read_similarity
from edgecil.similarity.matrix import SimilarityMatrix
from edgecil.similarity.text import DEFAULT_ENCODER, TEMPLATE

FILES = ("file", "embeddings")
TEXTS = ("names", "encoder", "template", "captions", "weights", "encoder_half")


@dataclass(frozen=True)
class SimilaritySource(Options):
    """Where the similarity of the classes comes from: a file, or texts and an encoder."""

    file: str | None = option(
        "file with a similarity matrix, in place of an encoder (.npz, .npy or .csv)",
        metavar="FILE",
        flag="similarity",
    )
    embeddings: str | None = option(
        "file with class vectors, in place of an encoder (.npy or .npz)", metavar="FILE"
    )
    names: str | tuple[str, ...] | None = option(
        "file with class names for the similarity (.txt, .csv or .json); in Python also a list",
        metavar="FILE",
    )
    encoder: str = option("text encoder of the class similarity", DEFAULT_ENCODER)
    template: str = option(
        "text around class names (`{name}`) or around the labels of the dataset (`{label}`)",
        TEMPLATE,
        metavar="TEXT",
    )
    captions: str | None = option(
        "file with captions to encode in place of names (.json, .csv or .txt), or `bundled`",
        metavar="FILE",
    )
    weights: str | None = option(
        "weights of the encoder: a folder, a file or a hub id", metavar="PATH"
    )
    encoder_half: bool = option(
        "let CLIP use half precision on a GPU, as OpenAI's package does", False
    )

    @classmethod
    def given(cls, given: Any) -> dict[str, Any]:
        """Return the options that were given; a path alone is that of the file."""
        return super().given({"file": given} if isinstance(given, (str, os.PathLike)) else given)

    def read(self) -> SimilarityMatrix | None:
        """Return the similarity in the file, or of its class vectors; None if there is no file."""
        if self.file is not None:
            return read_similarity(self.file)
        return None if self.embeddings is None else read_embeddings(self.embeddings)

    def __post_init__(self) -> None:
        super().__post_init__()
        given = self.changed()
        files = [name for name in FILES if name in given]
        if len(files) > 1:
            raise UsageError("Give either a similarity `file` or `embeddings`, not both.")
        for name in TEXTS:
            if files and name in given:
                raise UsageError(
                    f"`{name}` cannot be combined with a similarity from a file (`{files[0]}`); "
                    "leave one of them out."
                )
