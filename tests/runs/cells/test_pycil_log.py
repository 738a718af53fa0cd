"""Logs of PyCIL and its relatives."""

from __future__ import annotations

import pytest

from edgecil.errors import DataError
from edgecil.runs.cells.forms import read_tables
from edgecil.runs.cells.pycil_log import is_balanced

SETTINGS = {
    "config": "exps/er.json",
    "dataset": "cifar100",
    "init_cls": 2,
    "increment": 2,
    "model_name": "er",
    "memory_size": 20,
    "seed": 7,
}
ORDER = "[3, 1, 0, 2]"
RESULTS = (
    "CNN: {'total': 90.5, '00-01': 90.5, 'old': 0, 'new': 90.5}",
    "CNN: {'total': 60.25, '00-01': 40.0, '02-03': np.float64(80.5), 'old': 40.0, 'new': 80.5}",
)


def log(*messages: str, **changes: object) -> str:
    settings = [f"{name}: {value}" for name, value in {**SETTINGS, **changes}.items()]
    lines = [*settings, *messages]
    return "".join(f"2024-01-01 10:00:00,123 [trainer.py] => {line}\n" for line in lines)


def tables_of(folder, text: str):
    path = folder / "run.log"
    path.write_text(text, encoding="utf-8")
    return read_tables(path)


def test_a_log_gives_its_matrix_its_curve_and_its_settings(tmp_path) -> None:
    (table,) = tables_of(tmp_path, log(ORDER, *RESULTS))
    assert table.header == ("after task", "task", "accuracy", "accuracy of all classes")
    assert table.rows == ((0, 0, 90.5, 90.5), (1, 0, 40.0, 60.25), (1, 1, 80.5, 60.25))
    assert table.roles == {
        "after task": "step", "task": "task", "accuracy": "metric",
        "accuracy of all classes": "curve",
    }  # fmt: skip
    assert table.facts["method"] == "er"
    assert table.facts["seed"] == "7"
    assert table.facts["class_order"] == "3 1 0 2"
    assert table.facts["task_sizes"] == "2 2"
    assert table.facts["memory_size"] == "20"
    assert table.facts["unit"] == "%"


def test_classifiers_are_tables_apart(tmp_path) -> None:
    nearest = [line.replace("CNN", "NME").replace("60.25", "61.0") for line in RESULTS]
    messages = [line for pair in zip(RESULTS, nearest, strict=True) for line in pair]
    tables = tables_of(tmp_path, log(ORDER, *messages))
    assert [table.facts["classifier"] for table in tables] == ["CNN", "NME"]
    assert [table.rows[-1][-1] for table in tables] == [60.25, 61.0]


def test_a_restarted_run_is_a_later_table_with_the_same_facts(tmp_path) -> None:
    tables = tables_of(tmp_path, log(ORDER, RESULTS[0]) + log(ORDER, *RESULTS))
    first, second = tables
    assert (first.place, second.place) == ("run 1", "run 2")
    assert first.facts == second.facts
    assert (len(first.rows), len(second.rows)) == (1, 3)


def test_seeds_of_one_file_are_runs_apart(tmp_path) -> None:
    tables = tables_of(tmp_path, log(ORDER, *RESULTS) + log("[0, 1, 2, 3]", *RESULTS, seed=8))
    assert [table.facts["seed"] for table in tables] == ["7", "8"]
    assert [table.facts["class_order"] for table in tables] == ["3 1 0 2", "0 1 2 3"]


def test_groups_across_tasks_leave_the_curve(tmp_path) -> None:
    message = "CNN: {'total': 60.25, '00-02': 40.0, '03-03': 80.5}"
    (table,) = tables_of(tmp_path, log(ORDER, RESULTS[0], message))
    assert table.header == ("after task", "accuracy of all classes")
    assert table.rows == ((0, 90.5), (1, 60.25))


def test_a_log_with_curves_alone_is_read(tmp_path) -> None:
    curves = ["CNN top1 curve: [90.5]", "CNN top1 curve: [90.5, 60.25]"]
    (table,) = tables_of(tmp_path, log(*curves))
    assert table.rows == ((0, 90.5), (1, 60.25))
    assert "class_order" not in table.facts
    assert "task_sizes" not in table.facts


@pytest.mark.parametrize(
    "message",
    [
        "CNN: {'total': __import__('os').getcwd()}",
        "CNN: {'total': 190.5}",
        "CNN: {'total': " + "[" * 3000 + "}",
        "CNN top1 curve: [exit()]",
    ],
)
def test_a_hostile_result_is_one_sentence(tmp_path, message) -> None:
    with pytest.raises(DataError, match=r"has a (result|curve) that is no"):
        tables_of(tmp_path, log(ORDER, message))


def test_a_log_without_results_is_one_sentence(tmp_path) -> None:
    with pytest.raises(DataError, match="has no accuracies"):
        tables_of(tmp_path, log(ORDER))


@pytest.mark.parametrize(
    ("dataset", "expected"),
    [("cifar100", True), ("CIFAR100_aa", True), ("imagenetr", False), ("cub", False), ("", False)],
)
def test_datasets_with_equally_many_test_images_of_each_class(dataset: str, expected: bool) -> None:
    assert is_balanced({"dataset": dataset} if dataset else {}) == expected
