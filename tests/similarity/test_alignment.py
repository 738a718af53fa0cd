"""Everything indexed by class is matched by class name, by position only where nothing is named."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from edgecil.errors import DataError, UsageError
from edgecil.sequences import SequenceSpace
from edgecil.sequences.user_sequences import parse_sequences, sequence_texts
from edgecil.similarity import SimilarityMatrix, align, find_classes, read_similarity
from edgecil.similarity.build import choose_similarity

NAMES = ("cat", "house dog", "owl")
VALUES = np.array([[1.0, 0.9, 0.2], [0.9, 1.0, 0.3], [0.2, 0.3, 1.0]])


@pytest.mark.parametrize(
    "similarity",
    [
        SimilarityMatrix.of(VALUES, NAMES),
        SimilarityMatrix.of_vectors(np.linalg.cholesky(VALUES), NAMES),
    ],
    ids=["matrix", "embeddings"],
)
def test_rows_are_matched_by_name(similarity) -> None:
    aligned = align(similarity, ("owl", "house_dog"), "D")
    assert aligned.submatrix(np.arange(2))[0, 1] == pytest.approx(0.3)
    assert align(similarity, NAMES, "D") is similarity


def test_a_name_that_the_file_lacks_is_refused() -> None:
    with pytest.raises(UsageError, match=r"D has no class 'bee', but cat"):
        align(SimilarityMatrix.of(VALUES, NAMES), ("cat", "bee", "owl"), "D")
    with pytest.raises(UsageError, match="more than one class 'cat'"):
        align(SimilarityMatrix.of(VALUES, ("cat", "cat", "owl")), ("cat", "owl"), "D")


def test_position_counts_where_nothing_is_named_and_the_source_says_so() -> None:
    aligned = align(SimilarityMatrix.of(VALUES), NAMES, "D")
    assert aligned.names == NAMES
    assert aligned.source["classes"] == "by position"
    with pytest.raises(UsageError, match="3 classes without names, but there are 2"):
        align(SimilarityMatrix.of(VALUES), NAMES[:2], "D")


def test_rows_of_a_table_are_put_in_the_order_of_its_columns(tmp_path: Path) -> None:
    file = tmp_path / "D.csv"
    file.write_text(",cat,owl,bee\nbee,.1,.2,1\ncat,1,.5,.1\nowl,.5,1,.2\n", encoding="utf-8")
    matrix = read_similarity(file)
    assert matrix.names == ("cat", "owl", "bee")
    assert matrix.values[0].tolist() == [0.0, 0.5, 0.1]
    file.write_text(",cat,owl\ncat,1,.5\ndog,.5,1\n", encoding="utf-8")
    with pytest.raises(DataError, match="row 'dog', but no such column"):
        read_similarity(file)


def test_distances_are_told_from_similarities_by_the_diagonal(tmp_path: Path) -> None:
    for name, saved in (("D.npy", 1.0 - VALUES), ("zero.npy", VALUES * (1.0 - np.eye(3)))):
        np.save(tmp_path / name, saved)
        with pytest.raises(DataError, match="distances"):
            read_similarity(tmp_path / name)
    for name, own in (("one.npy", 1.0), ("none.npy", np.nan)):
        np.save(tmp_path / name, VALUES * (1.0 - np.eye(3)) + np.diag([own] * 3))
        assert read_similarity(tmp_path / name).values[0, 1] == 0.9


def test_names_in_another_order_than_the_datasets_are_refused() -> None:
    names = list(find_classes("eyepacs").labels)
    with pytest.raises(UsageError, match=f"{names[1]!r} at place 0, which is {names[0]!r}"):
        find_classes("eyepacs", [names[1], names[0], *names[2:]])
    assert find_classes("eyepacs", [f"eye {name}" for name in names]).labels[0].startswith("eye ")


def test_sequences_may_name_their_classes() -> None:
    (texts,) = sequence_texts([[["owl"], ["house_dog", "cat"]]]).values()
    (run,) = parse_sequences(texts, SequenceSpace((1, 2)), NAMES)
    with pytest.raises(UsageError, match="class 9,"):
        parse_sequences(["9|0 1"], SequenceSpace((1, 2)))
    assert run.sequence.tasks == ((2,), (0, 1))


def test_a_given_similarity_is_matched_to_the_classes_of_a_dataset() -> None:
    ids = [3, 1, 0, 2, *range(4, 100)]
    labels = find_classes("cifar100").labels
    values = np.random.default_rng(0).random((100, 100))
    values += values.T
    shuffled = SimilarityMatrix.of(values[np.ix_(ids, ids)], [labels[id_] for id_ in ids])
    chosen = choose_similarity(shuffled, dataset="cifar100", classes=4)
    assert chosen.names == labels[:4]
    np.testing.assert_array_equal(chosen.values, SimilarityMatrix.of(values[:4, :4]).values)
    unnamed = choose_similarity(SimilarityMatrix.of(values), dataset="cifar100", classes=4)
    assert unnamed.names == labels[:4]
    assert unnamed.source["classes"] == "by position"
    np.testing.assert_array_equal(unnamed.values, chosen.values)
