"""Class similarity from images: the mean feature vector of each class."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from edgecil.errors import UsageError
from edgecil.io.arrays import Floats
from edgecil.similarity.matrix import SimilarityMatrix, numbered_names


def prototype_similarity(
    features: ArrayLike, labels: ArrayLike, names: Sequence[str] | None = None
) -> SimilarityMatrix:
    """Return the cosines of the class means of any features.

    Each sample counts by its direction: it is scaled to unit length before the mean, as nearest-
    mean classifiers do (iCaRL, Rebuffi et al. 2017), so that a few long vectors cannot decide a
    class. A zero sample stays zero.

    Args:
        features: (n, d) finite numbers, one row per sample.
        labels: (n,) integers in 0..N-1, every class at least once.
        names: N class names in label order; without them N is the largest label + 1.
    """
    rows = np.asarray(features, dtype=np.float64)
    ids = np.asarray(labels)
    if rows.ndim != 2 or 0 in rows.shape:
        raise UsageError(f"Features must be an (n, d) array. Got shape {rows.shape} instead.")
    if ids.shape != (len(rows),):
        raise UsageError(
            f"Labels must be one per feature row, {len(rows)}. Got shape {ids.shape} instead."
        )
    if not np.issubdtype(ids.dtype, np.integer):
        raise UsageError(f"Labels must be integers. Got {ids.dtype} instead.")
    if not np.isfinite(rows).all():
        sample = int(np.argwhere(~np.isfinite(rows))[0][0])
        raise UsageError(f"Features must be finite, but sample {sample} has NaN or infinite ones.")
    listed = numbered_names(max(0, int(ids.max()) + 1)) if names is None else tuple(names)
    if ids.min() < 0 or ids.max() >= len(listed):
        wrong = int(ids.min()) if ids.min() < 0 else int(ids.max())
        raise UsageError(f"Labels must lie in 0..{len(listed) - 1}. Got {wrong}.")
    counts = np.bincount(ids, minlength=len(listed))
    if not counts.all():
        empty = int(counts.argmin())
        raise UsageError(
            f"{int((counts == 0).sum())} of {len(listed)} classes have no sample, class {empty} "
            f"({listed[empty]!r}) first; every class needs at least one."
        )
    order = np.argsort(ids, kind="stable")
    units = directions(rows)[order]
    sums = np.add.reduceat(units, np.cumsum(counts) - counts)
    source = {"encoder": "class means", "samples": str(len(rows))}
    return SimilarityMatrix.of_vectors(sums / counts[:, None], listed, source)


def directions(rows: Floats) -> Floats:
    """Return rows (n, d) scaled to unit length; a zero row stays zero."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    scaled: Floats = rows / np.where(lengths > 0, lengths, 1.0)
    return scaled
