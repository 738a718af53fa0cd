"""Text logs of Avalanche."""

from __future__ import annotations

import pytest

from edgecil.errors import DataError
from edgecil.runs.cells.forms import read_tables

NAME = "Top1_Acc_Exp/eval_phase/test_stream/Task000/Exp00"


def log(*accuracies: tuple[str, ...]) -> str:
    lines = ["-- >> Start of training phase << --"]
    for experience, row in enumerate(accuracies):
        lines += [
            f"-- Starting training on experience {experience} (Task 0) from train stream --",
            "Epoch 0 ended.",
            "\tTop1_Acc_Epoch/train_phase/train_stream/Task000 = 0.9999",
            "-- >> Start of eval phase << --",
        ]
        lines += [f"\t{NAME}{task} = {accuracy}" for task, accuracy in enumerate(row)]
        lines.append("\tTop1_Acc_Stream/eval_phase/test_stream/Task000 = 0.5000")
    return "\n".join(lines) + "\n"


def tables_of(folder, text: str):
    path = folder / "log.txt"
    path.write_text(text)
    return read_tables(path)


def test_accuracies_of_the_test_stream_are_the_matrix(tmp_path) -> None:
    (table,) = tables_of(tmp_path, log(("0.9", "0.1"), ("0.4", "0.8")))
    assert table.header == ("after task", "task", "accuracy")
    assert table.rows == ((0, 0, 0.9), (1, 0, 0.4), (1, 1, 0.8))
    assert table.facts == {"unit": "fraction", "task_count": 2}


def test_training_the_first_experience_again_begins_a_run(tmp_path) -> None:
    text = log(("0.9", "0.1")) + log(("0.7", "0.1"), ("0.3", "0.6"))
    first, second = tables_of(tmp_path, text)
    assert first.rows == ((0, 0, 0.9), (0, 1, 0.1))
    assert second.rows == ((0, 0, 0.7), (1, 0, 0.3), (1, 1, 0.6))
    assert (first.place, second.place) == ("run 1", "run 2")


def test_the_last_test_of_an_experience_counts(tmp_path) -> None:
    text = log(("0.9", "0.1"), ("0.4", "0.8")) + f"\t{NAME}1 = 0.8500\n"
    (table,) = tables_of(tmp_path, text)
    assert table.rows[-1] == (1, 1, 0.85)


@pytest.mark.parametrize(
    "text",
    [
        log(()),
        log(("0" * 10_000 + "x",)),
        "-- >> Start of eval phase << --\n" + f"\t{NAME}0 = 0.5\n",
        "-- >> Start of training phase << --\n" + "-- Starting training on experience 0" * 5000,
    ],
)
def test_a_log_without_accuracies_is_refused(tmp_path, text) -> None:
    with pytest.raises(DataError, match="no accuracies on its test stream"):
        tables_of(tmp_path, text)
