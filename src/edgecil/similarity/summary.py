"""A similarity in a few numbers, in a table and in a figure."""

from __future__ import annotations

import html
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from edgecil.io.notebook import html_figure, html_table, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from edgecil.similarity.matrix import SimilarityMatrix

_NAMED = 20  # classes up to which a figure names them
_FIGURE = (4.2, 3.6)  # inches
_DRAWN = 300  # classes up to which a notebook shows the figure


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
        out: the file in which it was saved; None if it was not.
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


def summarize(matrix: SimilarityMatrix, pairs: int, path: Path | None) -> SimilaritySummary:
    """Return the mean, standard deviation and extreme pairs of a matrix."""
    values, (rows, columns) = matrix.pairs(), np.triu_indices(len(matrix), 1)
    order = np.argsort(-values, kind="stable")
    ordered = [
        ClassPair((matrix.names[rows[pair]], matrix.names[columns[pair]]), float(values[pair]))
        for pair in order
    ]
    most = min(pairs, (len(ordered) + 1) // 2)  # with few classes the lists share no pair
    least = min(pairs, len(ordered) - most)
    return SimilaritySummary(
        classes=len(matrix),
        source=dict(matrix.source),
        mean=float(values.mean()),
        std=float(values.std()),
        out=path,
        most_similar=ordered[:most],
        least_similar=ordered[::-1][:least],
    )


def similarity_html(matrix: SimilarityMatrix) -> str:
    """Return a title, the extreme pairs as a table, and the matrix as a figure."""
    title = f"<p>{html.escape(repr(matrix)[1:-1])}</p>"
    if len(matrix) < 2:
        return title
    summary = matrix.summary(pairs=3)
    rows = [("classes", "similarity")]
    for pair in (*summary.most_similar, *reversed(summary.least_similar)):
        rows.append((" – ".join(pair.classes), f"{pair.similarity:.3f}"))
    figure = ""
    if len(matrix) <= _DRAWN:
        description = "similarity of classes"
        figure = html_figure(lambda axes: draw_similarity(matrix, axes), description, _FIGURE)
    return title + html_table(rows) + figure


def draw_similarity(matrix: SimilarityMatrix, ax: Axes | None) -> Axes:
    """Draw the matrix; its diagonal is empty."""
    axes = new_axes(_FIGURE) if ax is None else ax
    values = matrix.values.copy()
    np.fill_diagonal(values, np.nan)
    image = axes.imshow(values, cmap="Blues")
    axes.figure.colorbar(image, ax=axes, label="similarity")
    if len(matrix) <= _NAMED:
        axes.set_xticks(range(len(matrix)), matrix.names, rotation=90)
        axes.set_yticks(range(len(matrix)), matrix.names)
    else:
        axes.set_xlabel("class")
        axes.set_ylabel("class")
    return axes
