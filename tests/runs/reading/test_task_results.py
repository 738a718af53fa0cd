"""Matrices and curves of runs become their metrics, by the one definition of each."""

from __future__ import annotations

import json

import numpy as np
import pytest

from edgecil.runs.cells.cell_table import CellTable
from edgecil.runs.reading import ReadingQuestion
from edgecil.runs.reading.reading import read, read_cells

MATRIX = [[90.0], [40.0, 88.0], [20.0, 30.0, 91.0]]


def log(rows, curve=(), **facts) -> CellTable:
    """Return a log with a matrix, and a curve if there is one."""
    cells = []
    for step, values in enumerate(rows):
        beside = [curve[step]] if curve else []
        cells += [(step, task, value, *beside) for task, value in enumerate(values)]
    roles = {"after task": "step", "task": "task", "accuracy": "metric", "all": "curve"}
    header = ("after task", "task", "accuracy", "all")[: 4 if curve else 3]
    facts = {"method": "er", "unit": "%", **facts}
    roles = {name: roles[name] for name in header}
    return CellTable("PyCIL log", "a.log", header, tuple(cells), facts=facts, roles=roles)


def value_of(tables, metric) -> float:
    (table,) = read_cells(tables, metric=metric).runs
    (value,) = table.values
    return float(value)


@pytest.mark.parametrize(
    ("metric", "value"),
    [
        ("accuracy", (20 + 30 + 91) / 3),
        ("last", (20 + 30 + 91) / 3),
        ("average", np.mean([90, (40 + 88) / 2, (20 + 30 + 91) / 3])),
        ("forgetting", ((90 - 20) + (88 - 30)) / 2),
        ("bwt", ((20 - 90) + (30 - 88)) / 2),
    ],
)
def test_a_matrix_has_the_metrics_of_its_run(metric, value) -> None:
    assert value_of([log(MATRIX)], metric) == pytest.approx(value)


def test_sizes_of_tasks_weigh_what_is_over_classes() -> None:
    tables = [log(MATRIX, task_sizes="2 1 1")]
    assert value_of(tables, "last") == pytest.approx((2 * 20 + 30 + 91) / 4)
    assert value_of(tables, "accuracy") == pytest.approx((20 + 30 + 91) / 3)


def test_a_curve_goes_before_what_follows_from_the_matrix() -> None:
    tables = [log(MATRIX, curve=(90.0, 60.0, 50.0))]
    assert value_of(tables, "last") == 50.0
    assert value_of(tables, "average") == pytest.approx((90 + 60 + 50) / 3)
    assert value_of(tables, "accuracy") == pytest.approx(47.0)


def test_a_declared_step_ends_the_run_there() -> None:
    (table,) = read_cells([log(MATRIX)], at=1).runs
    assert table.values.tolist() == [64.0]
    reading = read_cells([log(MATRIX)])
    assert "last of 3 tasks" in reading.line


def test_a_run_with_fewer_steps_than_tasks_has_failed() -> None:
    reading = read_cells([log(MATRIX[:2], seed=1, task_count=3), log(MATRIX, seed=2, task_count=3)])
    (table,) = reading.runs
    assert table.values.tolist() == pytest.approx([np.nan, 47.0], nan_ok=True)
    assert any("did not finish" in note for note in reading.notes)


def test_joint_training_has_one_step_of_all_tasks() -> None:
    assert value_of([log([[60.0, 70.0, 80.0]], task_count=3)], "accuracy") == 70.0


def test_of_a_restarted_log_the_later_run_counts() -> None:
    worse = [[value / 2 for value in row] for row in MATRIX]
    reading = read_cells([log(worse, seed=1), log(MATRIX, seed=1), log(worse[:1], seed=1)])
    (table,) = reading.runs
    assert table.values.tolist() == [47.0]
    assert any("the later one counts" in note for note in reading.notes)


def test_first_axes_of_tasks_are_recognised_by_the_zeros_below_the_diagonal(tmp_path) -> None:
    full = np.array([[90.0, 0, 0], [40, 88, 0], [20, 30, 91]])
    for name, array in (("a", full), ("b", full.T)):
        np.save(tmp_path / f"{name}_acc_matrix.npy", array)
        (table,) = read(tmp_path / f"{name}_acc_matrix.npy").runs
        assert table.values.tolist() == [47.0]


def test_a_matrix_for_each_seed_is_a_run_for_each(tmp_path) -> None:
    full = np.array([[90.0, 0], [40, 88]])
    np.save(tmp_path / "acc_matrix.npy", np.stack([full, full + 2, full + 4]))
    (table,) = read(tmp_path / "acc_matrix.npy").runs
    assert table.values.tolist() == [64.0, 66.0, 68.0]


def test_tasks_without_steps_are_a_question_with_two_answers(tmp_path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("method,seed,task,accuracy\ner,0,0,90\ner,0,1,70\ner,1,0,80\ner,1,1,60\n")
    with pytest.raises(ReadingQuestion) as caught:
        read(path)
    assert caught.value.options == {"columns": ["step=task", "task=task"]}
    assert read(path, columns="step=task").runs[0].values.tolist() == [70.0, 60.0]
    assert read(path, columns="task=task").runs[0].values.tolist() == [80.0, 70.0]


def test_losses_of_training_follow_the_tasks_learned(tmp_path) -> None:
    path = tmp_path / "er_seed0.csv"
    path.write_text("task,epoch,train_loss\n0,0,2.5\n0,1,0.5\n1,0,1.5\n1,1,0.75\n")
    reading = read(path)
    assert (reading.metric, reading.higher_is_better) == ("train_loss", False)
    assert reading.runs[0].values.tolist() == [0.75]


def test_a_list_of_accuracies_per_task_is_averaged(tmp_path) -> None:
    path = tmp_path / "er.json"
    path.write_text(json.dumps({"method": "er", "accuracy_per_task": [90.0, 70.0, 50.0]}))
    assert read(path).runs[0].values.tolist() == [70.0]


def test_two_axes_that_are_no_matrix_are_a_question(tmp_path) -> None:
    path = tmp_path / "er.json"
    path.write_text(json.dumps({"accuracy": [[90.0, 70.0, 50.0], [80.0, 60.0, 40.0]]}))
    with pytest.raises(ReadingQuestion) as caught:
        read(path)
    first, second, third = caught.value.options["columns"]
    assert read(path, columns=first).runs[0].values.tolist() == [50.0, 40.0]
    assert read(path, columns=second).runs[0].values.tolist() == [70.0, 60.0]
    assert read(path, columns=third).runs[0].values.tolist() == [60.0]


def test_rows_of_metrics_and_columns_of_methods_are_turned(tmp_path) -> None:
    path = tmp_path / "summary.csv"
    path.write_text("what,EWC,LwF-lossA\naccuracy,61.5,62.5\nforgetting,20.5,18.25\n")
    reading = read(path)
    assert (reading.methods, reading.metric) == (("EWC", "LwF-lossA"), "accuracy")
    assert [table.values.tolist() for table in reading.runs] == [[61.5, 62.5]]
    reading = read(path, metric="forgetting")
    assert reading.higher_is_better is False
    assert [table.values.tolist() for table in reading.runs] == [[20.5, 18.25]]
