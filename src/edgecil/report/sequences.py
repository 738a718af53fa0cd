"""Where sequences lie among all others, and the similarity matrix in their orders."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from edgecil.io.files import replace_file
from edgecil.report.drawing import (
    WIDE,
    Cells,
    Entry,
    Line,
    Mark,
    Scale,
    Scene,
    Text,
    legend,
    outline,
    x_axis,
)
from edgecil.report.figure import check_figure_path, scene_file
from edgecil.sequences import (
    LabelledSequence,
    ScoredSequence,
    SequenceSpace,
    moments,
    sample_scores,
    score,
)
from edgecil.sequences.counting import count_text
from edgecil.sequences.objective import adjacent
from edgecil.similarity.matrix import Similarity

_COLOURS = {"hard": "c1", "median": "c2", "easy": "c0", "grouped": "c1", "spread": "c0"}
_RANDOM_SEQUENCES = 20_000
_BINS = 60
_DRAWN_CLASSES = 2000
_NAMED_RUNS = 12
_TOP, _BOTTOM = 60.0, 260.0  # of the distribution

_Labelled = LabelledSequence | ScoredSequence


def draw_sequences(similarity: Similarity, runs: Sequence[_Labelled], path: str | Path) -> None:
    """Draw where runs lie among all sequences, and the matrix in up to three of their orders."""
    path = check_figure_path(path)
    scene = sequence_scene(similarity, runs)
    content = scene_file(scene, "where the sequences lie among all others", path)
    with replace_file(path) as file:
        file.write(content)


def sequence_scene(similarity: Similarity, runs: Sequence[_Labelled]) -> Scene:
    """The drawing: a histogram of S over random sequences with the runs in it, and matrices."""
    space = SequenceSpace(runs[0].sequence.sizes)
    scores = np.array([score(similarity, run.sequence) for run in runs])
    exact = moments(similarity, space, adjacent(space))
    is_small = len(similarity) <= _DRAWN_CLASSES
    label = f"{_RANDOM_SEQUENCES:,} random sequences" if is_small else "random, mean ± 3 std"
    title = f"{space.classes} classes, {space.tasks} tasks: {count_text(space.size)} sequences"
    marks: list[Mark] = [Text(0.0, 16.0, title, 15.0, bold=True)]
    marks += legend([Entry(label, "truth")], WIDE - 220.0, 6.0, 220.0)[0]
    if is_small:
        rng = np.random.default_rng(0)
        heights, edges = np.histogram(
            sample_scores(similarity, space, _RANDOM_SEQUENCES, rng), _BINS
        )
    else:
        heights, edges = np.ones(1), exact.mean + 3.0 * exact.std * np.array([-1.0, 1.0])
    scale = Scale.around([*edges.tolist(), *scores.tolist()], 8.0, WIDE - 8.0, margin=0.1)
    axis = "score S: similarity between neighbouring tasks"
    marks += x_axis(scale, _BOTTOM, _BOTTOM, title=axis)
    histogram = outline(scale, edges, heights, _BOTTOM, _BOTTOM - _TOP - 20.0)
    marks.append(Line(histogram, "", fill="truth"))
    is_named = len(runs) <= _NAMED_RUNS
    for place, (run, value) in enumerate(zip(runs, scores.tolist(), strict=True)):
        at, colour = scale(value), _colour(run.label)
        marks.append(Line(((at, _TOP), (at, _BOTTOM)), colour, 2.4 if is_named else 0.8))
        if is_named:
            y = _TOP + 10.0 + 40.0 * (place % 3)
            marks.append(Text(at + 5.0, y, run.label, 13.0, colour=colour))
            marks.append(
                Text(at + 5.0, y + 15.0, f"z = {exact.z(value):+.1f}", 12.0, colour=colour)
            )
    bottom = _BOTTOM + 50.0
    if is_small:
        order = np.argsort(scores, kind="stable").tolist()
        shown = sorted({order[0], order[len(order) // 2], order[-1]})
        matrices = _draw_matrices(similarity, [runs[place] for place in shown], bottom)
        marks, bottom = [*marks, *matrices], bottom + WIDE / 3.0 + 30.0
    return Scene(WIDE, bottom, tuple(marks))


def _draw_matrices(similarity: Similarity, runs: Sequence[_Labelled], top: float) -> list[Mark]:
    """The similarity matrix with classes in each run's order, and lines between tasks."""
    values = similarity.submatrix(np.arange(len(similarity)))
    off = values[~np.eye(len(values), dtype=bool)]
    low, high = np.percentile(off, [1.0, 99.0]).tolist()
    size = WIDE / 3.0 - 30.0
    cell = size / len(values)
    marks: list[Mark] = []
    for place, run in enumerate(runs):
        left, upper = place * WIDE / 3.0 + 15.0, top + 22.0
        order = np.array(run.sequence.order)
        shown = values[np.ix_(order, order)]
        np.fill_diagonal(shown, np.nan)
        marks.append(Text(left, top + 12.0, run.label, 13.0, colour=_colour(run.label)))
        marks.append(Cells(left, upper, cell, cell, shown, low, high))
        for end in np.cumsum(run.sequence.sizes)[:-1].tolist():
            at = end * cell
            across = ((left, upper + at), (left + size, upper + at))
            down = ((left + at, upper), (left + at, upper + size))
            marks += [Line(line, "on-dark", 0.9) for line in (across, down)]
    return marks


def _colour(label: str) -> str:
    """The colour of a label such as `hard` or `edge/hard`."""
    return _COLOURS.get(label.rpartition("/")[2], "faint")
