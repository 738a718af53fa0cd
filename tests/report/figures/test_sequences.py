"""A figure is a real picture in the asked format, or a sentence on why not."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from matplotlib import image
from matplotlib.figure import Figure

from edgecil.errors import EdgecilError, UsageError
from edgecil.report.figures import SUFFIXES, draw_sequences, sequences as module
from edgecil.sequences import SequenceSpace, protocol, score
from edgecil.similarity import Embeddings, SimilarityMatrix
from tests.sequences.oracles import matrix

HEADER = {".png": b"\x89PNG\r\n\x1a\n", ".svg": b"<?xml", ".pdf": b"%PDF"}
SPACE = SequenceSpace((2, 2, 2))
SIMILARITY = SimilarityMatrix.of(matrix("positive", 6))


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Figure]:
    """The figures that are saved."""
    saved: list[Figure] = []
    save = Figure.savefig

    def keep(self: Figure, *args, **options):
        saved.append(self)
        return save(self, *args, **options)

    monkeypatch.setattr(Figure, "savefig", keep)
    return saved


def edge_runs(similarity=SIMILARITY, space=SPACE, name="edge", **options):
    return protocol(name, space, similarity=similarity, **options)


def pixels(path: Path) -> np.ndarray:
    return image.imread(io.BytesIO(path.read_bytes()))


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_figure_is_written_in_each_format(tmp_path, suffix) -> None:
    path = tmp_path / "new folder" / f"figure{suffix}"
    draw_sequences(SIMILARITY, edge_runs(), path)
    assert path.read_bytes().startswith(HEADER[suffix])
    assert path.stat().st_size > 10_000
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_a_picture_has_size_and_colours(tmp_path) -> None:
    draw_sequences(SIMILARITY, edge_runs(), tmp_path / "figure.png")
    image = pixels(tmp_path / "figure.png")
    assert image.shape[0] > 800
    assert image.shape[1] > 1200
    assert len(np.unique(image[::7, ::7].reshape(-1, image.shape[2]), axis=0)) > 50


def test_every_run_is_marked_at_its_score_with_its_exact_z(tmp_path, drawn) -> None:
    runs = edge_runs()
    draw_sequences(SIMILARITY, runs, tmp_path / "figure.png")
    distribution, *panels = drawn[0].axes
    marked = [line.get_xdata()[0] for line in distribution.lines]
    np.testing.assert_allclose(marked, [score(SIMILARITY, run.sequence) for run in runs])
    every = np.array([score(SIMILARITY, sequence) for sequence in SPACE.enumerate()])
    for text, run in zip(distribution.texts, runs, strict=True):
        z = (score(SIMILARITY, run.sequence) - every.mean()) / every.std()
        assert text.get_text() == f"{run.label}\nz = {z:+.1f}"
    assert sorted(panel.get_title() for panel in panels if panel.images) == sorted(
        run.label for run in runs
    )


def test_a_matrix_is_shown_in_the_order_of_its_run(tmp_path, drawn) -> None:
    runs = edge_runs()
    draw_sequences(SIMILARITY, runs, tmp_path / "figure.png")
    panels = {panel.get_title(): panel for panel in drawn[0].axes if panel.images}
    for run in runs:
        shown = panels[run.label].images[0].get_array().filled(np.nan)
        for row, class_ in enumerate(run.sequence.order):
            for column, other in enumerate(run.sequence.order):
                if row == column:
                    assert np.isnan(shown[row, column])
                else:
                    assert shown[row, column] == SIMILARITY.values[class_, other]


def test_ninety_runs_are_drawn_without_names(tmp_path, drawn) -> None:
    runs = edge_runs(name="enumerate")
    draw_sequences(SIMILARITY, runs, tmp_path / "figure.png")
    assert len(drawn[0].axes[0].lines) == 90
    assert not drawn[0].axes[0].texts
    assert sum(bool(panel.images) for panel in drawn[0].axes) == 3


@pytest.mark.parametrize("budget", [1, 2])
def test_fewer_runs_get_fewer_matrices(tmp_path, drawn, budget) -> None:
    runs = edge_runs(name="latin", budget=budget)
    draw_sequences(SIMILARITY, runs, tmp_path / "figure.png")
    assert sum(bool(panel.images) for panel in drawn[0].axes) == budget


@pytest.mark.parametrize("kind", ["equal", "zero", "negative"])
def test_any_similarity_can_be_drawn(tmp_path, kind) -> None:
    similarity = SimilarityMatrix.of(matrix(kind, 6))
    draw_sequences(similarity, edge_runs(similarity), tmp_path / "figure.png")
    assert pixels(tmp_path / "figure.png").size


def test_two_classes_can_be_drawn(tmp_path) -> None:
    similarity, space = SimilarityMatrix.of(matrix("positive", 2)), SequenceSpace((1, 1))
    draw_sequences(similarity, edge_runs(similarity, space), tmp_path / "figure.png")
    assert pixels(tmp_path / "figure.png").size


def test_too_many_classes_for_a_matrix_get_the_distribution_alone(
    tmp_path, drawn, monkeypatch
) -> None:
    monkeypatch.setattr(module, "_DRAWN_CLASSES", 10)
    monkeypatch.setattr(Embeddings, "submatrix", None)
    vectors = Embeddings.of(np.random.default_rng(0).normal(size=(12, 3)))
    space = SequenceSpace((4, 4, 4))
    draw_sequences(vectors, protocol("random", space), tmp_path / "figure.png")
    assert not any(panel.images for panel in drawn[0].axes)


@pytest.mark.parametrize("name", ["figure.jpg", "figure", "figure.png.txt"])
def test_another_suffix_is_refused_before_anything_is_drawn(tmp_path, name) -> None:
    with pytest.raises(UsageError, match=r"must end in \.png"):
        draw_sequences(SIMILARITY, edge_runs(), tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_a_path_that_cannot_be_written_is_named(tmp_path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    path = tmp_path / "file" / "figure.png"
    with pytest.raises(EdgecilError, match=r"Cannot write .*figure\.png"):
        draw_sequences(SIMILARITY, edge_runs(), path)
