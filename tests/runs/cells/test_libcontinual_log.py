"""Logs of LibContinual."""

from __future__ import annotations

import pytest

from edgecil.errors import DataError
from edgecil.runs.cells.forms import read_tables

SETTINGS = """\
{'backbone': {'kwargs': {'num_classes': 4}, 'name': 'resnet18'},
 'classifier': {'kwargs': {'feat_dim': 512}, 'name': 'LwF'},
 'dataset': 'cifar100',
 'device_ids': 0,
 'seed': 1993,
 'task_num': 2}
"""


def section(title: str) -> str:
    return f"================{title}================\n"


def results(total: str, per_task: str) -> str:
    return (
        f" * [Batch] Last Average Acc: {total} (Best: 99.99)\n"
        f" * [Task] Last Average Acc: {total} (Best: 99.99)\n"
        " * Forgetting: 0.000 (Best: inf)\n"
        f" * Per-Task Acc: {per_task}\n"
    )


def log(*rows: tuple[str, str]) -> str:
    text = SETTINGS
    for task, row in enumerate(rows):
        text += section(f"Task {task} Start!") + section(f"Task {task} Training!")
        text += section("Validation on test set") + results("11.11", "[11.0]")
        text += section(f"Test 1/1 of Task {task}!") + results("22.22", "[22.0]")
        text += section(f"Result of Task {task} Testing!") + results(*row)
    return text


def tables_of(folder, text: str):
    path = folder / "run.log"
    path.write_text(text)
    return read_tables(path)


def test_results_after_each_task_are_the_matrix_and_the_curve(tmp_path) -> None:
    (table,) = tables_of(tmp_path, log(("90.50", "[90.5]"), ("60.25", "[40.  80.5]")))
    assert table.header == ("after task", "task", "accuracy", "accuracy of all classes")
    assert table.rows == ((0, 0, 90.5, 90.5), (1, 0, 40.0, 60.25), (1, 1, 80.5, 60.25))
    names = ("method", "dataset", "seed", "task_count", "unit")
    assert [table.facts[name] for name in names] == ["LwF", "cifar100", 1993, 2, "%"]


def test_tests_of_an_older_version_are_results(tmp_path) -> None:
    text = section("Task 0 Start!") + section("Test 1/1 of Task 0!")
    text += " * Average Acc (Best Average Acc) : 90.50 (90.50)\n * Per-Task Acc : [90.5]\n"
    (table,) = tables_of(tmp_path, text)
    assert table.rows == ((0, 0, 90.5, 90.5),)


def test_a_second_start_is_a_second_run(tmp_path) -> None:
    text = log(("90.50", "[90.5]")) + log(("80.50", "[80.5]"), ("50.25", "[30.0, 70.5]"))
    first, second = tables_of(tmp_path, text)
    assert first.facts["seed"] == second.facts["seed"] == 1993
    assert (first.rows[-1], second.rows[-1]) == ((0, 0, 90.5, 90.5), (1, 1, 70.5, 50.25))


def test_settings_are_not_executed(tmp_path) -> None:
    text = log(("90.50", "[90.5]")).replace("'LwF'", "__import__('os').getcwd()")
    (table,) = tables_of(tmp_path, text)
    assert table.facts == {"unit": "%"}


@pytest.mark.parametrize("rows", [(), (("?", "[" * 100_000),), (("?", "[" + "x" * 100_000),)])
def test_a_log_without_results_is_refused(tmp_path, rows) -> None:
    text = section("Task 0 Start!") + log(*rows).replace("22.22", "?").replace("[22.0]", "?")
    with pytest.raises(DataError, match="has no accuracies"):
        tables_of(tmp_path, text)
