"""CSV files of Avalanche."""

from __future__ import annotations

import pytest

from edgecil.errors import DataError
from edgecil.runs.cells.forms import read_files, read_tables

HEADER = "eval_exp,training_exp,eval_accuracy,eval_loss,forgetting\n"
PAIRS = "0,0,0.9000,0.5,0\n1,0,0.0100,3.5,0\n0,1,0.4000,1.5,0.5000\n1,1,0.8000,0.4,0\n"
COLUMN = "Top1_Acc_Exp/eval_phase/test_stream/Exp00"
ROWS = ("0,.9,.3,", "1,.9,.01,.01", "2,.4,.2,.01", "3,.4,.1,.8")


def read_csv(folder, text: str):
    path = folder / "eval_results.csv"
    path.write_text(text)
    (table,) = read_tables(path)
    return table


def all_metrics(*rows: str) -> str:
    header = f",{COLUMN}0,Loss_Stream/eval_phase/test_stream,{COLUMN}1"
    return "\n".join([header, *rows, ""])


def test_a_row_for_each_pair_gives_the_matrix_of_tasks_learned(tmp_path) -> None:
    table = read_csv(tmp_path, HEADER + PAIRS)
    assert table.header == ("after task", "task", "accuracy")
    assert table.rows == ((0, 0, 0.9), (1, 0, 0.4), (1, 1, 0.8))
    assert table.roles == {"after task": "step", "task": "task", "accuracy": "metric"}
    assert table.facts == {"unit": "fraction", "task_count": 2}


def test_joint_training_has_one_step_and_all_tasks(tmp_path) -> None:
    table = read_csv(tmp_path, HEADER + "0,0,0.9,0,0\n1,0,0.8,0,0\n")
    assert table.rows == ((0, 0, 0.9), (0, 1, 0.8))


def test_the_table_of_all_metrics_gives_the_same_matrix(tmp_path) -> None:
    table = read_csv(tmp_path, all_metrics(*ROWS))
    assert table.rows == ((0, 0, 0.9), (1, 0, 0.4), (1, 1, 0.8))


def test_tests_before_training_are_no_step(tmp_path) -> None:
    table = read_csv(tmp_path, all_metrics("0,.1,.3,", "1,.1,.01,.1", *ROWS))
    assert table.rows == ((0, 0, 0.9), (1, 0, 0.4), (1, 1, 0.8))


def test_tests_at_unknown_times_leave_the_last_accuracies(tmp_path) -> None:
    table = read_csv(tmp_path, all_metrics(*ROWS, "4,.5,.1,.7"))
    assert table.rows == ((1, 0, 0.5), (1, 1, 0.7))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEADER, "ended before the first test"),
        (HEADER + "0,0,0.9,0,0\n1,0\n", "Row 3"),
        (HEADER + f"{'9' * 5000},0,0.9,0,0\n", "has the experience"),
        (HEADER + '=cmd(),0,0.9,0,"0\n', "has the experience"),
    ],
)
def test_a_hostile_file_is_refused(tmp_path, text, message) -> None:
    with pytest.raises(DataError, match=message):
        read_csv(tmp_path, text)


def test_a_file_with_processed_results_belongs_to_the_run_beside_it(tmp_path) -> None:
    results = tmp_path / "eval_results.csv"
    results.write_text("eval_exp,training_exp,eval_accuracy\n0,0,0.9\n1,0,0.7\n")
    further = tmp_path / "eval_results_ext.csv"
    further.write_text("eval_exp,training_exp,eval_accuracy\n0,0,0.9\n0,1,0.9\n1,1,0.7\n")
    assert [table.source for table in read_tables(further)] == [str(results)]
    result = read_files([tmp_path])
    assert len(result.tables) == 1
    assert list(result.part_of) == [further]
