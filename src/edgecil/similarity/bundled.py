"""Embeddings that come with edgecil: MiniLM's, of the bundled class names and captions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.resources import as_file, files

import numpy as np
from numpy.typing import NDArray

from edgecil.errors import PrerequisiteError
from edgecil.similarity.minilm import INSTALL
from edgecil.similarity.pretrained import text_batches


class BundledEncoder:
    """Looks texts up in a table of all-MiniLM-L6-v2 embeddings; needs no model."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.version, self._rows, self._vectors = _table()

    def encode(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Table rows, shape (n, 384); a text that is not in the table is an error."""
        asked = [text for batch in text_batches(texts) for text in batch]
        absent = [text for text in asked if text not in self._rows]
        if absent:
            others = f" and {len(absent) - 1} more" if len(absent) > 1 else ""
            raise PrerequisiteError(
                f"The bundled MiniLM table lacks {absent[0]!r}{others}; the encoder 'minilm' "
                f"encodes any text (install it with {INSTALL})."
            )
        rows = self._vectors[[self._rows[text] for text in asked]]
        return rows.astype(np.float64)


@cache
def _table() -> tuple[str, dict[str, int], NDArray[np.float16]]:
    with (
        as_file(files("edgecil.similarity") / "data" / "minilm.npz") as path,
        np.load(path, allow_pickle=False) as table,
    ):
        texts = bytes(table["texts"]).decode("utf-8").split("\n")
        rows = {text: row for row, text in enumerate(texts)}
        return str(table["version"]), rows, table["vectors"]
