"""Class vectors whose cosine is the similarity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from edgecil.classes import words_of
from edgecil.errors import UsageError, name_some
from edgecil.io.arrays import Floats, Ints
from edgecil.similarity.matrix import Similarity, SimilarityMatrix, numbered_names


@dataclass(frozen=True, eq=False)
class Embeddings:
    """Class vectors whose cosine is the similarity; made for tens of thousands of classes.

    Attributes:
        names: N class names, in label order.
        vectors: (N, d) finite and none zero; stored with unit length.
        source: where they come from (encoder, template, version).
    """

    names: tuple[str, ...]
    vectors: Floats
    source: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "vectors", _unit_rows(self.vectors))
        object.__setattr__(self, "names", tuple(self.names))
        object.__setattr__(self, "source", dict(self.source))
        if len(self.names) != len(self.vectors):
            raise UsageError(
                f"{len(self.vectors)} class vectors came with {len(self.names)} names; "
                "give one name per vector."
            )

    @classmethod
    def of(cls, vectors: ArrayLike, names: Sequence[str] | None = None) -> Embeddings:
        """Return embeddings from any (N, d) array; classes without names are numbered."""
        rows = _unit_rows(vectors)
        return cls(numbered_names(len(rows)) if names is None else tuple(names), rows)

    def __len__(self) -> int:
        return len(self.names)

    def similarity(self) -> SimilarityMatrix:
        """Return the full cosine similarity matrix."""
        product = self.vectors @ self.vectors.T
        return SimilarityMatrix(self.names, np.clip(product, -1.0, 1.0), self.source)

    def take(self, ids: Ints) -> Embeddings:
        """Return the embeddings of the classes `ids`, in that order."""
        return Embeddings(tuple(self.names[index] for index in ids), self.vectors[ids], self.source)

    def submatrix(self, ids: Ints) -> Floats:
        """Return cosines among the classes `ids` with zero diagonal, shape (n, n)."""
        block: Floats = self.vectors[ids] @ self.vectors[ids].T
        np.fill_diagonal(block, 0.0)
        return block

    def to_groups(self, group: Ints, count: int, rows: Ints | None = None) -> Floats:
        """Return the summed similarity of classes (`rows`, or all) to each group, (n, count)."""
        sums = np.empty((count, self.vectors.shape[1]))
        members = np.split(
            np.argsort(group, kind="stable"), np.cumsum(np.bincount(group, minlength=count))[:-1]
        )
        for index, ids in enumerate(members):
            self.vectors[ids].sum(axis=0, out=sums[index])
        chosen = np.arange(len(self)) if rows is None else rows
        product: Floats = self.vectors[chosen] @ sums.T
        product[np.arange(len(chosen)), group[chosen]] -= 1.0
        return product

    def row_sums(self) -> Floats:
        """Return the total similarity of each class to all others, shape (N,)."""
        sums: Floats = self.vectors @ self.vectors.sum(axis=0) - 1.0
        return sums

    def deviation_sum(self) -> float:
        """Sum over ordered pairs of the squared deviation from the mean similarity."""
        count = len(self)
        squares = float(np.sum((self.vectors.T @ self.vectors) ** 2)) - count
        total = squares - float(self.row_sums().sum()) ** 2 / (count * (count - 1))
        return total if total > 1e-12 * squares else 0.0

    def centred_spectrum(self) -> Floats:
        """Return the N - 1 eigenvalues, ascending, on vectors that sum to zero."""
        centred = self.vectors - self.vectors.mean(axis=0)
        gram = centred.T @ centred if len(self) > centred.shape[1] else centred @ centred.T
        top = np.linalg.eigvalsh(gram)[::-1][: len(self) - 1]
        return np.sort(np.pad(top, (0, len(self) - 1 - len(top)))) - 1.0

    def sort_keys(self, colours: Ints) -> Floats:
        """(N, d) vectors: classes that share one are interchangeable for all colours."""
        return self.vectors

    def twins(self, ids: Ints) -> Ints:
        """Return one group, shape (n,): classes that share a vector are interchangeable."""
        return np.zeros(len(ids), dtype=np.int64)


def align(similarity: Similarity, labels: Sequence[str], what: str) -> Similarity:
    """Return the similarity of classes in label order, matched by their names.

    Args:
        similarity: that covers these classes, or more. Without names it must cover them alone, and
            its rows are taken in label order, which its source says.
        labels: of the classes.
        what: names the similarity in errors.
    """
    if tuple(similarity.names) == tuple(labels):
        return similarity
    if similarity.names == numbered_names(len(similarity)):
        if len(similarity) != len(labels):
            raise UsageError(
                f"{what} covers {len(similarity)} classes without names, but there are "
                f"{len(labels)}; give one row per class, or names."
            )
        source = {**similarity.source, "classes": "by position"}
        return replace(similarity, names=tuple(labels), source=source)  # type: ignore[type-var]
    places = {words_of(name): place for place, name in enumerate(similarity.names)}
    if len(places) < len(similarity):
        names = [words_of(name) for name in similarity.names]
        twice = next(name for name in names if names.count(name) > 1)
        raise UsageError(f"{what} has more than one class {twice!r}; names must differ.")
    missing = [label for label in labels if words_of(label) not in places]
    if missing:
        raise UsageError(
            f"{what} has no class {missing[0]!r}, but {name_some(list(similarity.names))}; its "
            "names must be those of the classes."
        )
    return similarity.take(np.array([places[words_of(label)] for label in labels]))


def _unit_rows(vectors: ArrayLike) -> Floats:
    rows = np.array(vectors, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[1] == 0 or len(rows) < 2:
        raise UsageError(
            f"Class vectors must be an (N, d) array with N >= 2. Got shape {rows.shape} instead."
        )
    if not np.isfinite(rows).all():
        raise UsageError(
            f"Class vectors must be finite, but class {np.argwhere(~np.isfinite(rows))[0][0]} "
            "has NaN or infinite entries."
        )
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    if not norms.all():
        raise UsageError(
            f"Class vectors must not be zero, but that of class {int(norms.argmin())} is."
        )
    rows /= norms
    rows.setflags(write=False)
    return rows
