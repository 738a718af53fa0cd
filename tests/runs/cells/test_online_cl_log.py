"""Logs of online-continual-learning."""

from __future__ import annotations

import pytest

from edgecil.errors import DataError
from edgecil.runs.cells.forms import read_tables

SETTINGS = "Namespace(agent='ER', data='cifar100', num_runs=2, seed=0)\n"


def log(*runs: tuple[str, ...]) -> str:
    text = SETTINGS
    for number, vectors in enumerate(runs):
        for task, vector in enumerate(vectors):
            text += f"-----------run {number} training batch {task}-------------\n"
            text += "size: (5000, 32, 32, 3), (5000,)\n==>>> it: 1, running train acc: 0.325\n"
            text += vector + "\n"
        text += f"-----------run {number}-----------avg_end_acc 0.5-----------train time 60.0\n"
    return text


def tables_of(folder, text: str):
    path = folder / "out.log"
    path.write_text(text)
    return read_tables(path)


def test_every_run_has_its_matrix_and_its_number(tmp_path) -> None:
    text = log(("[0.9 0. ]", "[0.4\n 0.8]"), ("[0.8 0. ]", "[0.3 0.7]"))
    first, second = tables_of(tmp_path, text)
    assert first.rows == ((0, 0, 0.9), (1, 0, 0.4), (1, 1, 0.8))
    assert second.rows == ((0, 0, 0.8), (1, 0, 0.3), (1, 1, 0.7))
    names = ("method", "dataset", "base_seed", "seed", "unit", "task_count")
    assert [first.facts[name] for name in names] == ["ER", "cifar100", "0", 0, "fraction", 2]
    assert second.facts["seed"] == 1


def test_a_run_that_is_started_again_is_another(tmp_path) -> None:
    first, second = tables_of(tmp_path, log(("[0.9 0. ]",)) + log(("[0.8 0. ]", "[0.3 0.7]")))
    assert (len(first.rows), len(second.rows)) == (1, 3)


@pytest.mark.parametrize("vector", ["", "[" * 10_000, "[0.9 0.8", "[__import__('os')]"])
def test_a_log_without_accuracies_is_refused(tmp_path, vector) -> None:
    with pytest.raises(DataError, match="no accuracies"):
        tables_of(tmp_path, log((vector,)))


def test_numbers_must_be_numbers(tmp_path) -> None:
    with pytest.raises(DataError, match="no numbers"):
        tables_of(tmp_path, log(("[0.9 1-1e+]",)))
