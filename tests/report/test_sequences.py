"""A figure is a real picture in the asked format, or a sentence on why not."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from matplotlib import image

from edgecil.errors import EdgecilError, UsageError
from edgecil.report import sequences as module
from edgecil.report.drawing import Cells, Line, Text
from edgecil.report.sequences import draw_sequences, sequence_scene
from edgecil.sequences import SequenceSpace, protocol, score
from edgecil.similarity import SimilarityMatrix
from tests.sequences.oracles import matrix

HEADER = {".png": b"\x89PNG\r\n\x1a\n", ".svg": b"<svg", ".pdf": b"%PDF"}
SPACE = SequenceSpace((2, 2, 2))
SIMILARITY = SimilarityMatrix.of(matrix("positive", 6))


def edge_runs(similarity=SIMILARITY, space=SPACE, name="edge", **options):
    return protocol(name, space, similarity=similarity, **options)


def pixels(path: Path) -> np.ndarray:
    return image.imread(io.BytesIO(path.read_bytes()))


@pytest.mark.parametrize("suffix", HEADER)
def test_a_figure_is_written_in_each_format(tmp_path, suffix) -> None:
    path = tmp_path / "new folder" / f"figure{suffix}"
    draw_sequences(SIMILARITY, edge_runs(), path)
    assert path.read_bytes().startswith(HEADER[suffix])
    assert path.stat().st_size > 5_000
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def marked(scene, colours):
    """The x of the vertical lines of runs."""
    lines = [mark for mark in scene.marks if isinstance(mark, Line) and mark.stroke in colours]
    return [line.points[0][0] for line in lines if line.points[0][0] == line.points[1][0]]


def matrices(scene):
    return [mark for mark in scene.marks if isinstance(mark, Cells)]


def test_every_run_is_marked_at_its_score_with_its_exact_z() -> None:
    runs = edge_runs()
    scene = sequence_scene(SIMILARITY, runs)
    scores = np.array([score(SIMILARITY, run.sequence) for run in runs])
    x = np.array(marked(scene, {"c0", "c1", "c2"}))
    np.testing.assert_allclose(np.diff(x) / np.ptp(x), np.diff(scores) / np.ptp(scores))
    every = np.array([score(SIMILARITY, sequence) for sequence in SPACE.enumerate()])
    texts = {mark.text for mark in scene.marks if isinstance(mark, Text)}
    for run, value in zip(runs, scores, strict=True):
        assert {run.label, f"z = {(value - every.mean()) / every.std():+.1f}"} <= texts


def test_a_matrix_is_shown_in_the_order_of_its_run() -> None:
    runs = edge_runs()
    for run, shown in zip(runs, matrices(sequence_scene(SIMILARITY, runs)), strict=True):
        order = list(run.sequence.order)
        expected = SIMILARITY.values[np.ix_(order, order)].copy()
        np.fill_diagonal(expected, np.nan)
        np.testing.assert_array_equal(shown.values, expected)


def test_ninety_runs_are_drawn_without_names() -> None:
    scene = sequence_scene(SIMILARITY, edge_runs(name="enumerate"))
    assert len(marked(scene, {"faint"})) == 90
    assert not any(isinstance(mark, Text) and mark.text.startswith("z") for mark in scene.marks)
    assert len(matrices(scene)) == 3


def test_too_many_classes_for_a_matrix_get_the_distribution_alone(monkeypatch) -> None:
    monkeypatch.setattr(module, "_DRAWN_CLASSES", 10)
    vectors = SimilarityMatrix.of_vectors(np.random.default_rng(0).normal(size=(12, 3)))
    space = SequenceSpace((4, 4, 4))
    assert not matrices(sequence_scene(vectors, protocol("random", space)))


@pytest.mark.parametrize("name", ["figure.jpg", "figure", "figure.png.txt"])
def test_another_suffix_is_refused_before_anything_is_drawn(tmp_path, name) -> None:
    with pytest.raises(UsageError, match=r"must end in \.png"):
        draw_sequences(SIMILARITY, edge_runs(), tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_a_path_that_cannot_be_written_is_named(tmp_path) -> None:
    (tmp_path / "file").write_text("in the way")
    path = tmp_path / "file" / "figure.png"
    with pytest.raises(EdgecilError, match=r"Cannot write .*figure\.png"):
        draw_sequences(SIMILARITY, edge_runs(), path)
