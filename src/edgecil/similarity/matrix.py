"""Pairwise class similarity."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from edgecil.classes import words_of
from edgecil.errors import UsageError, name_some
from edgecil.io.arrays import Floats, Ints
from edgecil.io.notebook import html_figure, html_table, new_axes, save_figure

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

_MOST_NAMED = 20  # classes that a figure names
_FIGURE = (4.2, 3.6)  # inches
_MOST_DRAWN = 300  # classes of a figure in a notebook


def check_similarity(similarity: object) -> None:
    """Refuse an object that is not a similarity, such as the name of a dataset."""
    if not isinstance(similarity, SimilarityMatrix):
        value = type(similarity).__name__
        call = "edgecil.SimilarityMatrix.of(…)"
        if isinstance(similarity, str):
            value = f"{similarity!r}, a str"
            call = f"edgecil.build_similarity(dataset={similarity!r})"
        raise UsageError(f"`similarity` must be a similarity of classes. Got {value}; use {call}.")


def numbered_names(count: int) -> tuple[str, ...]:
    """Return names for classes without names: class 0, class 1 and so on."""
    return tuple(f"class {index}" for index in range(count))


@dataclass(frozen=True)
class ClassPair:
    """Two classes."""

    classes: tuple[str, str]
    similarity: float


@dataclass(frozen=True)
class SimilaritySummary:
    """A similarity in numbers.

    Attributes:
        classes: number of classes.
        source: encoder, template and the like.
        mean: over all pairs of classes.
        std: population standard deviation over all pairs.
        out: the file in which it was saved; None if it was not saved.
        most_similar: pairs in descending order.
        least_similar: pairs in ascending order.
    """

    classes: int
    source: dict[str, str]
    mean: float
    std: float
    out: Path | None
    most_similar: list[ClassPair]
    least_similar: list[ClassPair]


@dataclass(frozen=True, eq=False, repr=False)
class SimilarityMatrix:
    """A symmetric matrix of class similarities.

    Attributes:
        names: N class names, in label order.
        values: (N, N) finite, symmetric; the diagonal carries no information and is stored as 0.
        source: where it comes from (encoder, template, version).
    """

    names: tuple[str, ...]
    values: Floats
    source: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        values = check_matrix(self.values)
        if len(self.names) != len(values):
            raise UsageError(
                f"The similarity matrix is {len(values)} x {len(values)} but {len(self.names)} "
                "class names were given; give one name per row."
            )
        object.__setattr__(self, "names", tuple(self.names))
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "source", dict(self.source))

    @classmethod
    def of(cls, values: ArrayLike, names: Sequence[str] | None = None) -> SimilarityMatrix:
        """Return a matrix from any (N, N) array; classes without names are numbered."""
        matrix = check_matrix(values)
        return cls(numbered_names(len(matrix)) if names is None else tuple(names), matrix)

    @classmethod
    def of_vectors(
        cls,
        vectors: ArrayLike,
        names: Sequence[str] | None = None,
        source: Mapping[str, str] | None = None,
    ) -> SimilarityMatrix:
        """Return the cosines of class vectors, any finite (N, d) array without a zero row."""
        rows = np.array(vectors, dtype=np.float64)
        if rows.ndim != 2 or rows.shape[1] == 0 or len(rows) < 2:
            raise UsageError(
                "Class vectors must be an (N, d) array with N >= 2. "
                f"Got shape {rows.shape} instead."
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
        class_names = numbered_names(len(rows)) if names is None else tuple(names)
        return cls(class_names, np.clip(rows @ rows.T, -1.0, 1.0), source or {})

    def __len__(self) -> int:
        return len(self.names)

    def take(self, ids: Ints) -> SimilarityMatrix:
        """Return the similarity among the classes `ids`, in that order."""
        names = tuple(self.names[index] for index in ids)
        return SimilarityMatrix(names, self.submatrix(ids), self.source)

    def submatrix(self, ids: Ints) -> Floats:
        """Return the similarities among the classes `ids`, shape (n, n)."""
        return self.values[np.ix_(ids, ids)]

    def to_groups(self, group: Ints, count: int) -> Floats:
        """Return the summed similarity of classes to groups, (N, count).

        Args:
            group: (N,) of each class, in [0, count).
            count: number of groups.
        """
        return self.values @ np.eye(count)[group]

    def row_sums(self) -> Floats:
        """Return the total similarity of each class to all others, shape (N,)."""
        sums: Floats = self.values.sum(axis=1)
        return sums

    def deviation_sum(self) -> float:
        """Return the sum over ordered pairs of the squared deviation from the mean similarity."""
        pairs = self.pairs()
        total = 2.0 * float(np.sum((pairs - pairs.mean()) ** 2))
        rounding = 4.0 * np.finfo(np.float64).eps * float(np.abs(pairs).max())
        return total if total > 2.0 * len(pairs) * rounding**2 else 0.0

    def centred_spectrum(self) -> Floats:
        """Return the N - 1 eigenvalues, ascending, on vectors that sum to zero."""
        count = len(self)
        mean = self.row_sums() / count
        centred = self.values - mean[:, None] - mean[None, :] + mean.mean()
        below_all = 2.0 * np.abs(centred).sum(axis=1).max()
        return np.linalg.eigvalsh(centred - below_all / count)[1:]

    def sort_keys(self, colours: Ints) -> Floats:
        """Return similarities of each class to the others, sorted within their colours, (N, N)."""
        if colours.any():
            colours_of_others = np.broadcast_to(colours, self.values.shape)
            order = np.lexsort((self.values, colours_of_others))
        else:
            order = self.values.argsort(axis=1)
        return np.take_along_axis(self.values, order, axis=1)

    def twins(self, ids: Ints) -> Ints:
        """Return groups, shape (n,), of classes that are equally similar to every third class."""
        group = np.full(len(ids), -1)
        while (group < 0).any():
            leader = int(np.argmin(group))
            differ = self.values[ids] != self.values[ids[leader]]
            differ[:, ids[leader]] = False
            differ[np.arange(len(ids)), ids] = False
            group[(group < 0) & ~differ.any(axis=1)] = group.max() + 1
        return group

    def pairs(self) -> Floats:
        """Return the N (N - 1) / 2 similarities above the diagonal, row by row."""
        return self.values[np.triu_indices(len(self), 1)]

    def summary(self, *, pairs: int = 5, path: Path | None = None) -> SimilaritySummary:
        """Return mean, standard deviation and the `pairs` most and least similar pairs of classes.

        Args:
            pairs: number of pairs of each kind.
            path: where the matrix was saved, for the summary.
        """
        values = self.pairs()
        rows, columns = np.triu_indices(len(self), 1)
        ordered = []
        for pair in np.argsort(-values, kind="stable"):
            classes = self.names[rows[pair]], self.names[columns[pair]]
            ordered.append(ClassPair(classes, float(values[pair])))
        # With few classes the two lists must not share a pair.
        most = min(pairs, (len(ordered) + 1) // 2)
        least = min(pairs, len(ordered) - most)
        return SimilaritySummary(
            classes=len(self),
            source=dict(self.source),
            mean=float(values.mean()),
            std=float(values.std()),
            out=path,
            most_similar=ordered[:most],
            least_similar=ordered[::-1][:least],
        )

    def __repr__(self) -> str:
        source = ", ".join(f"{key} {value}" for key, value in self.source.items())
        return f"<SimilarityMatrix of {len(self)} classes{': ' if source else ''}{source}>"

    def _repr_html_(self) -> str:
        summary = self.summary(pairs=3)
        rows = [("classes", "similarity")]
        for pair in (*summary.most_similar, *reversed(summary.least_similar)):
            rows.append((" – ".join(pair.classes), f"{pair.similarity:.3f}"))
        page = f"<p>{html.escape(repr(self)[1:-1])}</p>{html_table(rows)}"
        if len(self) <= _MOST_DRAWN:
            page += html_figure(lambda axes: self.plot(ax=axes), "similarity of classes", _FIGURE)
        return page

    def to_pandas(self) -> pandas.DataFrame:
        """Return a DataFrame with the classes as rows and columns."""
        import pandas

        return pandas.DataFrame(self.values, index=self.names, columns=self.names)

    def plot(self, path: str | Path | None = None, *, ax: Axes | None = None) -> Axes:
        """Draw the matrix; darker is more similar, and the diagonal is empty.

        Args:
            path: the file to save the figure to, such as `figure.png` or `figure.pdf`.
            ax: the axes to draw on; new ones by default.
        """
        axes = new_axes(_FIGURE) if ax is None else ax
        values = self.values.copy()
        np.fill_diagonal(values, np.nan)
        image = axes.imshow(values, cmap="Blues")
        axes.figure.colorbar(image, ax=axes, label="similarity")
        if len(self) <= _MOST_NAMED:
            axes.set_xticks(range(len(self)), self.names, rotation=90)
            axes.set_yticks(range(len(self)), self.names)
        else:
            axes.set_xlabel("class")
            axes.set_ylabel("class")
        if path is not None:
            save_figure(axes, path)
        return axes


Similarity: TypeAlias = SimilarityMatrix


def group_similarity(similarity: Similarity, group: Ints, count: int) -> Floats:
    """Return the summed similarity between the classes of groups, c ≠ c', (count, count)."""
    return np.eye(count)[group].T @ similarity.to_groups(group, count)


def check_matrix(values: ArrayLike) -> Floats:
    """Return a read-only (N, N) copy with zero diagonal, or raise an error about `values`."""
    try:
        if np.iscomplexobj(values):
            raise TypeError("complex numbers are not similarities")
        matrix = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise UsageError(f"A similarity matrix must contain numbers: {error}.") from error
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise UsageError(
            f"A similarity matrix must be square, one row and column per class. "
            f"Got shape {matrix.shape} instead."
        )
    if len(matrix) < 2:
        raise UsageError(f"A similarity matrix needs at least 2 classes. Got {len(matrix)}.")
    np.fill_diagonal(matrix, 0.0)
    if not np.isfinite(matrix).all():
        row, column = np.argwhere(~np.isfinite(matrix))[0]
        raise UsageError(
            f"A similarity matrix must be finite, but entry ({row}, {column}) is "
            f"{matrix[row, column]}; replace NaN and infinite values."
        )
    difference = np.abs(matrix - matrix.T)
    if difference.max() > 1e-5 * max(1.0, np.abs(matrix).max()):
        row, column = np.unravel_index(difference.argmax(), matrix.shape)
        raise UsageError(
            f"A similarity matrix must be symmetric, but entry ({row}, {column}) is "
            f"{matrix[row, column]:.6g} and entry ({column}, {row}) is {matrix[column, row]:.6g}; "
            "use (D + D.T) / 2 if that is what you mean."
        )
    matrix = (matrix + matrix.T) / 2
    matrix.setflags(write=False)
    return matrix


def align(similarity: Similarity, labels: Sequence[str], what: str) -> Similarity:
    """Return the similarity of classes in label order, matched by their names.

    Args:
        similarity: of these classes, perhaps among others. Without names it must have no others;
            its rows are then taken in label order, and its source says so.
        labels: of the classes.
        what: the similarity in an error message.
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
        return replace(similarity, names=tuple(labels), source=source)
    row_of_name = {words_of(name): row for row, name in enumerate(similarity.names)}
    if len(row_of_name) < len(similarity):
        names = [words_of(name) for name in similarity.names]
        repeated = next(name for name in names if names.count(name) > 1)
        raise UsageError(f"{what} has more than one class {repeated!r}; names must differ.")
    missing = [label for label in labels if words_of(label) not in row_of_name]
    if missing:
        raise UsageError(
            f"{what} has no class {missing[0]!r}, but {name_some(list(similarity.names))}; its "
            "names must be those of the classes."
        )
    rows = [row_of_name[words_of(label)] for label in labels]
    return similarity.take(np.array(rows))
