from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.cli.conftest import Cli


def test_a_matrix_agrees_with_itself(cli: Cli, matrix: Path) -> None:
    answer = cli("agree", matrix, matrix, "--tasks", 3, "--json").json
    assert answer["mae"] == 0.0
    assert answer["spearman"] == pytest.approx(1.0)
    assert answer["p_value"] < 0.01
    for goal in ("hard", "easy"):
        assert answer["csg"][goal] == {"position": 1.0, "matched": 1.0}


def test_people_see_it_too(cli: Cli, matrix: Path) -> None:
    answer = cli("agree", matrix, matrix, "--tasks", 3)
    assert (answer.code, answer.err) == (0, "")
    for words in ("mean absolute error", "Spearman", "CSG hard", "1.00 matched"):
        assert words in answer.out


def test_a_constant_matrix_has_no_rank_correlation(cli: Cli, matrix: Path) -> None:
    np.save("flat.npy", np.ones((12, 12)))
    assert cli("agree", "flat.npy", matrix, "--tasks", 3, "--json").json["spearman"] is None
    assert "n/a" in cli("agree", "flat.npy", matrix, "--tasks", 3).out


def test_matrices_of_other_classes_are_refused(cli: Cli, matrix: Path) -> None:
    values = np.load(matrix)
    np.save("nine.npy", values[:9, :9])
    answer = cli("agree", matrix, "nine.npy", "--tasks", 3)
    assert answer.code == 2
    assert "12 and 9 classes" in answer.sentence
    names = np.array([f"c{index}" for index in range(12)])
    np.savez("a.npz", values=values, names=names)
    np.savez("b.npz", values=values, names=names[::-1])
    answer = cli("agree", "a.npz", "b.npz", "--tasks", 3)
    assert answer.code == 2
    assert "label 0 is 'c0' in A and 'c11' in B" in answer.sentence
    assert cli("agree", "a.npz", matrix, "--tasks", 3).code == 0


@pytest.mark.parametrize("other", ["missing.npy", "asymmetric.npy"])
def test_a_bad_second_matrix_is_told(cli: Cli, matrix: Path, other: str) -> None:
    np.save("asymmetric.npy", np.arange(144.0).reshape(12, 12))
    assert cli("agree", matrix, other, "--tasks", 3).sentence
