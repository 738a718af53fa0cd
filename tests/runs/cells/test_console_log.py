"""Console output in common words."""

from __future__ import annotations

import pytest

from edgecil.errors import DataError
from edgecil.runs.cells.cell_table import CellTable
from edgecil.runs.cells.forms import read_tables

MATRIX = ((0, 0, 90.5), (1, 0, 40.0), (1, 1, 80.0))


def tables_of(folder, text: str) -> list[CellTable]:
    path = folder / "out.log"
    path.write_text(text, encoding="utf-8")
    return read_tables(path)


def only_table(folder, text: str) -> CellTable:
    (table,) = tables_of(folder, text)
    assert table.form == "console log"
    return table


@pytest.mark.parametrize(
    "text",
    [
        "Training on Task 1\nAccuracy on Task 1: 90.5%\n\nTraining on Task 2\nEvaluating...\n"
        "Accuracy on Task 1: 40.0%\nAccuracy on Task 2: 80.0%\n",
        "[01:13] task=0 epoch=0 train_loss=0.5\n[01:14] task=0 epoch=END acc_task0=90.5\n"
        "[01:15] task=1 epoch=END time_sec=3.1 acc_task0=40.0 acc_task1=80.0\n",
        "Task 1 accuracy: 90.5\nTask 1 accuracy: 40\nTask 2 accuracy: 80\n",
        "2024-01-02 03:04:05,678 - INFO - [Task 0] test acc = 90.5\n"
        "2024-01-02 03:04:06,678 - INFO - [Task 0] test acc = 40.0, [Task 1] test acc = 80.0\n",
        " Precision on test-set:\n - Task 1: 90.5\n=> average precision: 90.5\n"
        " Precision on test-set:\n - Task 1: 40.0\n - Task 2: 80.0\n",
        ">>> Test on task  0 : loss=1.4 | TAw acc= 99.9%, forg= 0%| TAg acc= 90.5%, forg= 0 <<<\n"
        ">>> Test on task  0 : loss=1.4 | TAw acc= 98.9%, forg= 0%| TAg acc= 40.0%, forg= 0 <<<\n"
        ">>> Test on task  1 : loss=1.4 | TAw acc= 97.9%, forg= 0%| TAg acc= 80.0%, forg= 0 <<<\n",
        "*** Task 1/2 ***\nTask 1 baseline accuracy: 10.0\naccuracy of task 1: 90.5\n"
        "train accuracy of task 1: 99.0\n*** Task 2/2 ***\n"
        "accuracy of task 1: 40\naccuracy of task 2: 80\n",
    ],
)
def test_accuracies_by_task_grow_into_a_matrix(tmp_path, text) -> None:
    table = only_table(tmp_path, text)
    assert table.header == ("after task", "task", "accuracy")
    assert table.rows == MATRIX
    assert (table.facts["unit"], table.facts["task_count"]) == ("%", 2)


def test_tests_of_all_tasks_are_ordered_by_the_tasks_that_are_trained(tmp_path) -> None:
    text = ""
    for task, row in enumerate(("0.9 0.1", "0.8 0.2", "0.4 0.7")):
        trained = min(task, 1)  # task 1 is tested twice
        first, second = row.split()
        text += f"=== Training task {trained} ===\nacc of task 0 = {first}\n"
        text += f"acc of task 1 = {second}\n"
    table = only_table(tmp_path, text)
    assert table.rows == ((0, 0, 0.9), (1, 0, 0.4), (1, 1, 0.7))
    assert table.facts["unit"] == "fraction"


def test_settings_are_facts_and_a_first_task_begins_a_run(tmp_path) -> None:
    text = ""
    for seed in (1, 2):
        text += f"Namespace(method='er', seed={seed}, lr=0.1, device=device(type='cpu'))\n"
        text += "Accuracy on task 1: 90.5\nAccuracy on task 1: 40\nAccuracy on task 2: 80\n"
    first, second = tables_of(tmp_path, text)
    assert first.rows == second.rows == MATRIX
    assert (first.facts["method"], first.facts["lr"]) == ("er", "0.1")
    assert (first.facts["seed"], second.facts["seed"]) == ("1", "2")
    assert (first.place, second.place) == ("run 1", "run 2")


@pytest.mark.parametrize(
    "text",
    [
        "[Average accuracy till task1]\tAcc@1: 90.5\tAcc@5: 99.0\tLoss: 0.5\n"
        "[Average accuracy till task2]\tAcc@1: 60.25\tAcc@5: 98.0\tForgetting: 40.5\n",
        "[Average accuracy till task1] Acc@task: 79.0 Acc@1: 90.5 Acc@5: 88.0\n"
        "[Average accuracy till task2] Acc@task: 79.0 Acc@1: 60.25 Acc@5: 88.0\n",
        "Accuracy for 1 task(s): \t [Class-IL]: 90.5 % \t [Task-IL]: 99.5 %\n"
        "Accuracy for 2 task(s): \t [Class-IL]: 60.25 % \t [Task-IL]: 91.5 %\n",
        "Average accuracy after task 1: 90.5%\nAverage accuracy after task 2: 60.25%\n",
    ],
)
def test_averages_after_each_task_are_a_curve(tmp_path, text) -> None:
    table = only_table(tmp_path, text)
    assert table.header == ("after task", "mean accuracy of tasks")
    assert table.rows == ((0, 90.5), (1, 60.25))
    assert table.facts["unit"] == "%"


def test_a_printed_matrix_has_its_line_above_as_caption(tmp_path) -> None:
    text = "done\nAccuracy matrix:\n[[0.9 0. ]\n [0.4 nan]]\nAverage accuracy: 0.6\n"
    table = only_table(tmp_path, text)
    assert table.header == ("index 1", "index 2", "value")
    assert table.rows == ((0, 0, 0.9), (0, 1, 0.0), (1, 0, 0.4), (1, 1, None))
    assert table.caption == "Accuracy matrix:"


def test_metrics_of_each_run_are_a_row(tmp_path) -> None:
    text = "".join(
        f"EXPERIMENT: Lambda=100, Seed={seed}\nepoch 3: acc=0.1\n"
        f"Final Metrics:\n  avg_accuracy    +60.25\n  Forgetting (%): {seed}.5 ± 0.25\n"
        for seed in (1, 2)
    )
    first, second = tables_of(tmp_path, text)
    assert first.header == ("avg_accuracy", "Forgetting (%)")
    assert first.rows == (("+60.25", "1.5 ± 0.25"),)
    assert first.facts == {"Lambda": "100", "seed": "1"}
    assert second.facts == {"Lambda": "100", "seed": "2"}


def test_metrics_that_are_repeated_are_rows_with_the_line_above(tmp_path) -> None:
    text = "λ = 0.5\n------\n r1_acc: 0.96\n r2_acc: 0.92\n\nλ = 1.0\n r1_acc: 0.97\n r2_acc: 0.5\n"
    table = only_table(tmp_path, text)
    assert table.header == ("index", "section", "r1_acc", "r2_acc")
    assert table.rows == ((0, "λ = 0.5", "0.96", "0.92"), (1, "λ = 1.0", "0.97", "0.5"))
    assert table.roles == {"index": "index"}


def test_lists_of_accuracies_have_the_line_above_as_title(tmp_path) -> None:
    text = "CIFAR100-3stages\n83.92, 74.85, 70.77\nTiny-3stages\n65.6, 55.95, 54.56\n"
    first, second = tables_of(tmp_path, text)
    assert first.header == ("index", "value")
    assert first.rows == ((0, 83.92), (1, 74.85), (2, 70.77))
    assert (first.facts, second.facts) == (
        {"section": "CIFAR100-3stages"},
        {"section": "Tiny-3stages"},
    )


def test_the_longest_of_growing_lists_is_kept_and_other_lists_are_none(tmp_path) -> None:
    text = "milestones: [60, 70, 80]\nacc list: [77, 72, 68]\nacc list: [77, 72, 68, 64.5]\nbye\n"
    table = only_table(tmp_path, text)
    assert table.rows == ((0, 77.0), (1, 72.0), (2, 68.0), (3, 64.5))


def test_lines_of_pairs_are_rows(tmp_path) -> None:
    text = "K=1 sigma=0.0: train_acc=1.0 acc=0.49 (22s)\nK=10 lr=0.2: acc=0.43 (69s)\n"
    table = only_table(tmp_path, text.replace("train_acc=1.0 ", "").replace("acc", "cell_acc"))
    assert table.form == "console log"
    assert "0.49" in table.rows[0]


@pytest.mark.parametrize(
    "text",
    [
        "Traceback (most recent call last):\n  File 'main.py', line 1\nKeyError: 'x'\n",
        "epoch 1 train acc: 0.9\nepoch 2 train acc: 0.95\n",
        "Task 1 Task 2 " * 300,
        "[[" * 2000 + "]]" * 2000,
        "acc" * 1600 + "\n" + "task " * 900 + "\n" + "=" * 4000,
        "{'a': " * 900,
        "Namespace(" + "a" * 4000,
        "accuracy: " + "9" * 4000,
    ],
)
def test_a_log_without_results_is_refused(tmp_path, text) -> None:
    with pytest.raises(DataError, match="names no results"):
        tables_of(tmp_path, text)


def test_programs_in_settings_are_not_run(tmp_path) -> None:
    text = "{'method': __import__('os').system('true'), 'a': 1, 'b': 2, 'c': 3, 'd': 4}\n"
    table = only_table(tmp_path, text + "Average accuracy: 60.5%\n")
    assert table.facts == {}
    assert table.rows == (("60.5%",),)
