from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from edgecil.errors import DataError, EdgecilError, UsageError
from edgecil.similarity import SimilarityMatrix, read_embeddings, read_similarity, save_similarity

VALUES = np.array([[0.0, 0.25, -0.5], [0.25, 0.0, 1.0], [-0.5, 1.0, 0.0]])
MATRIX = SimilarityMatrix(
    ("cat", "Ω, omega", "dog"), VALUES, {"encoder": "minilm", "template": "{name}", "version": "1"}
)


def test_a_saved_matrix_comes_back_whole(tmp_path: Path) -> None:
    path = tmp_path / "new" / "D.npz"
    save_similarity(MATRIX, path)
    matrix = read_similarity(path)
    np.testing.assert_array_equal(matrix.values, MATRIX.values)
    assert matrix.names == MATRIX.names
    assert matrix.source == MATRIX.source


def test_saving_elsewhere_than_npz_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"saved as .npz. Got .*D.csv"):
        save_similarity(MATRIX, tmp_path / "D.csv")


def test_plain_arrays_are_read_with_numbered_classes(tmp_path: Path) -> None:
    np.save(tmp_path / "D.npy", VALUES)
    np.savez(tmp_path / "D.npz", values=VALUES)
    for name in ("D.npy", "D.npz"):
        matrix = read_similarity(tmp_path / name)
        np.testing.assert_array_equal(matrix.values, VALUES)
        assert matrix.names == ("class 0", "class 1", "class 2")
        assert matrix.source == {"file": name}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("0,.25,-.5\n.25,0,1\n-.5,1,0\n", ("class 0", "class 1", "class 2")),
        ("cat,dog,cow\n0,.25,-.5\n.25,0,1\n-.5,1,0\n", ("cat", "dog", "cow")),
        (",cat,dog,cow\ncat,0,.25,-.5\ndog,.25,0,1\ncow,-.5,1,0", ("cat", "dog", "cow")),
        ('"cat, tom",dog,cow\r\n0,.25,-.5\r\n.25,0,1\r\n-.5,1,0\r\n', ("cat, tom", "dog", "cow")),
    ],
)
def test_csv_is_read_with_or_without_names(tmp_path, text, names) -> None:
    path = tmp_path / "D.csv"
    path.write_bytes(text.encode())
    matrix = read_similarity(path)
    np.testing.assert_array_equal(matrix.values, VALUES)
    assert matrix.names == names


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("0,1\n1\n", "rows of different lengths"),
        ("0,1\n1,x\n", "not a number"),
        ("0,1\n2,0\n", "must be symmetric"),
    ],
)
def test_a_csv_that_is_no_matrix_is_told(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "D.csv").write_text(text, encoding="utf-8")
    with pytest.raises(EdgecilError, match=message):
        read_similarity(tmp_path / "D.csv")


def test_missing_files_other_endings_and_other_arrays_are_told(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"Cannot read .*nowhere.npz"):
        read_similarity(tmp_path / "nowhere.npz")
    with pytest.raises(DataError, match=r"Cannot read .*nowhere.csv"):
        read_similarity(tmp_path / "nowhere.csv")
    with pytest.raises(UsageError, match="npz"):
        read_similarity(tmp_path / "D.txt")
    np.savez(tmp_path / "D.npz", weights=VALUES)
    with pytest.raises(DataError, match=r"'values'.*\(it has: weights\)"):
        read_similarity(tmp_path / "D.npz")
    with pytest.raises(DataError, match="no array called 'vectors'"):
        read_embeddings(tmp_path / "D.npz")


def test_a_damaged_source_is_told(tmp_path: Path) -> None:
    np.savez(tmp_path / "D.npz", values=VALUES, source=np.array("{"))
    with pytest.raises(DataError, match="damaged 'source' entry"):
        read_similarity(tmp_path / "D.npz")


def test_class_vectors_are_read_with_or_without_names(tmp_path: Path) -> None:
    vectors = np.array([[3.0, 4.0], [0.0, 2.0]])
    np.save(tmp_path / "E.npy", vectors)
    assert read_embeddings(tmp_path / "E.npy").names == ("class 0", "class 1")
    np.savez(tmp_path / "E.npz", vectors=vectors, names=np.array(["a", "b"]))
    embeddings = read_embeddings(tmp_path / "E.npz")
    assert embeddings.names == ("a", "b")
    assert embeddings.values[0, 1] == pytest.approx(0.8)
