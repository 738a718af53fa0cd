"""Where sequences lie among all others, and the similarity matrix in their orders."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from edgecil.report.figures.canvas import check_figure_path, drawing, new_figure, save_figure
from edgecil.sequences import (
    LabelledSequence,
    ScoredSequence,
    SequenceSpace,
    moments,
    sample_scores,
    score,
)
from edgecil.sequences.objective import adjacent
from edgecil.similarity.matrix import Similarity

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's colours, which colour-blind readers can tell apart.
_COLOURS = {"hard": "#D55E00", "median": "#009E73", "easy": "#0072B2"}
_OTHER = "#56565C"
_RANDOM_SEQUENCES = 20_000
_DRAWN_CLASSES = 2000
_NAMED_RUNS = 12

_Labelled = LabelledSequence | ScoredSequence


def draw_sequences(
    similarity: Similarity,
    runs: Sequence[_Labelled],
    path: str | Path,
) -> None:
    """Draw where the runs lie among all sequences, and the similarity matrix in their orders.

    Args:
        similarity: over N classes.
        runs: labelled sequences with the same task sizes; up to three of them get a matrix.
        path: a .png, .svg or .pdf file.
    """
    path = check_figure_path(path)
    space = SequenceSpace(runs[0].sequence.sizes)
    scores = np.array([score(similarity, run.sequence) for run in runs])
    shown = _ends_and_middle(scores) if len(similarity) <= _DRAWN_CLASSES else []
    with drawing():
        figure = new_figure(6.2 if shown else 3.2, width=9.0)
        rows = 2 if shown else 1
        grid = figure.add_gridspec(rows, max(len(shown), 1), height_ratios=[1.0, 1.5][:rows])
        _draw_distribution(figure.add_subplot(grid[0, :]), similarity, space, runs, scores)
        if shown:
            panels = [figure.add_subplot(grid[1, i]) for i in range(len(shown))]
            _draw_matrices(figure, panels, similarity, [runs[index] for index in shown])
    save_figure(figure, path)


def _colour(label: str) -> str:
    """The colour of a label such as `hard` or `edge/hard`."""
    return _COLOURS.get(label.rpartition("/")[2], _OTHER)


def _ends_and_middle(scores: np.ndarray) -> list[int]:
    """Indices of the lowest, middle and highest score, in the order of the runs."""
    order = np.argsort(scores, kind="stable").tolist()
    return sorted({order[0], order[len(order) // 2], order[-1]})


def _draw_distribution(
    axes: Axes,
    similarity: Similarity,
    space: SequenceSpace,
    runs: Sequence[_Labelled],
    scores: np.ndarray,
) -> None:
    exact = moments(similarity, space, adjacent(space))
    if len(similarity) <= _DRAWN_CLASSES:
        sample = sample_scores(similarity, space, _RANDOM_SEQUENCES, np.random.default_rng(0))
        axes.hist(sample, bins=60, color="#C9C9CF", label=f"{len(sample):,} random sequences")
    else:
        axes.axvspan(
            exact.mean - 3 * exact.std,
            exact.mean + 3 * exact.std,
            color="#C9C9CF",
            label="random sequences, mean ± 3 std",
        )
    axes.set_yticks([])
    top = axes.get_ylim()[1]
    for index, (run, value) in enumerate(zip(runs, scores, strict=True)):
        colour = _colour(run.label)
        axes.axvline(value, color=colour, linewidth=2.0 if len(runs) <= _NAMED_RUNS else 0.6)
        if len(runs) <= _NAMED_RUNS:
            axes.annotate(
                f"{run.label}\nz = {exact.z(float(value)):+.1f}",
                (float(value), top * (0.97 - 0.22 * (index % 3))),
                xytext=(5, 0),
                textcoords="offset points",
                color=colour,
                va="top",
                fontsize=10,
                bbox={"facecolor": "white", "alpha": 0.75, "edgecolor": "none", "pad": 1.0},
            )
    axes.margins(x=0.12)
    axes.set_xlabel("score S: similarity between neighbouring tasks")
    axes.set_title(
        f"{space.classes} classes, {space.tasks} tasks: $10^{{{space.log10_size:.1f}}}$ sequences",
        parse_math=True,
        loc="left",
        fontsize=12,
    )
    axes.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), frameon=False, fontsize=10)
    for side in ("left", "right", "top"):
        axes.spines[side].set_visible(False)


def _draw_matrices(
    figure: Figure, panels: list[Axes], similarity: Similarity, runs: list[_Labelled]
) -> None:
    """The similarity matrix with classes in each run's order and tasks framed."""
    everyone = np.arange(len(similarity))
    values = similarity.submatrix(everyone)
    off = values[~np.eye(len(values), dtype=bool)]
    low, high = np.percentile(off, [1.0, 99.0])
    for axes, run in zip(panels, runs, strict=True):
        order = np.array(run.sequence.order)
        shown = values[np.ix_(order, order)]
        np.fill_diagonal(shown, np.nan)
        image = axes.imshow(shown, cmap="cividis", vmin=low, vmax=high, interpolation="nearest")
        ends = np.cumsum(run.sequence.sizes)[:-1] - 0.5
        for end in ends:
            axes.axhline(end, color="white", linewidth=0.8)
            axes.axvline(end, color="white", linewidth=0.8)
        axes.set_title(run.label, color=_colour(run.label), fontsize=11)
        axes.set_xticks([])
        axes.set_yticks([])
        axes.set_xlabel("tasks →", fontsize=9)
    figure.colorbar(image, ax=panels, shrink=0.75, label="class similarity")
