"""Folders that FACIL writes for a run."""

from __future__ import annotations

import json

import pytest

from edgecil.errors import DataError
from edgecil.runs.cells.forms import read_files, read_tables

TIME = "-2024-01-02-03-04"
SETTINGS = {"approach": "lwf", "datasets": ["cifar100"], "num_tasks": 3, "seed": 5, "lamb": 1.5}
TAG = "0.800000\t0.000000\t0.000000\n0.300000\t0.700000\t0.000000\n0.100000\t0.200000\t0.600000\n"
TAW = TAG.replace("0.1", "0.5")
CONSOLE = """\
Arguments =
\tapproach: lwf
\tseed: 5
************
TAw Acc
\t 80.0%   0.0% \tAvg.: 80.0%
\t 50.0%  70.0% \tAvg.: 60.0%
************
TAg Acc
\t 80.0%   0.0% \tAvg.: 80.0%
\t 30.0%  70.0% \tAvg.: 50.0%
************
TAg Forg
\t  0.0%   0.0%
\t 50.0%   0.0% \tAvg.: 50.0%
"""


@pytest.fixture
def run_folder(tmp_path):
    folder = tmp_path / "cifar100_lwf"
    (folder / "results").mkdir(parents=True)
    for name, text in (("acc_tag", TAG), ("acc_taw", TAW), ("avg_accs_tag", "0.8\t0.5\t0.3\n")):
        (folder / "results" / f"{name}{TIME}.txt").write_text(text)
    settings = json.dumps(SETTINGS, separators=(",\n", " : "))
    (folder / f"args{TIME}.txt").write_text(settings)
    (folder / f"raw_log{TIME}.txt").write_text('{"group": "valid", "name": "loss", "value": 1}\n')
    return folder


def test_the_matrix_has_the_tasks_learned_and_the_arguments(run_folder) -> None:
    agnostic, aware = read_tables(run_folder / "results" / f"acc_tag{TIME}.txt")
    assert agnostic.header == ("after task", "task", "accuracy")
    assert agnostic.rows == (
        (0, 0, 0.8), (1, 0, 0.3), (1, 1, 0.7), (2, 0, 0.1), (2, 1, 0.2), (2, 2, 0.6),
    )  # fmt: skip
    assert agnostic.facts["scenario"] == "class-incremental"
    assert aware.facts["scenario"] == "task-incremental"
    assert aware.rows[3] == (2, 0, 0.5)
    names = ("method", "dataset", "seed", "task_count", "unit", "lamb")
    facts = [agnostic.facts[name] for name in names]
    assert facts == ["lwf", "cifar100", 5, 3, "fraction", 1.5]


def test_a_folder_gives_each_run_once(run_folder) -> None:
    files = read_files([run_folder])
    assert [table.facts["scenario"] for table in files.tables] == [
        "class-incremental",
        "task-incremental",
    ]
    assert files.left_out == {}
    assert len(files.part_of) == 4


def test_tasks_that_were_not_learned_are_left_out(run_folder) -> None:
    path = run_folder / "results" / f"acc_tag{TIME}.txt"
    path.write_text("0.8\t0.0\t0.0\n0.3\t0.7\t0.0\n0.0\t0.0\t0.0\n")
    table = read_tables(path)[0]
    assert [row[0] for row in table.rows] == [0, 1, 1]
    assert table.facts["task_count"] == 3


def test_a_console_without_its_matrices_is_read(tmp_path) -> None:
    path = tmp_path / "stdout-1.txt"
    path.write_text(CONSOLE)
    aware, agnostic = read_tables(path)
    assert agnostic.rows == ((0, 0, 80.0), (1, 0, 30.0), (1, 1, 70.0))
    assert agnostic.facts["unit"] == "%"
    assert agnostic.facts["method"] == "lwf"
    assert aware.rows[1] == (1, 0, 50.0)


@pytest.mark.parametrize(
    "arguments", ['["approach" :' + "[" * 100_000, '["approach" : 1]', "[" * 9]
)
def test_hostile_arguments_are_refused(run_folder, arguments) -> None:
    (run_folder / f"args{TIME}.txt").write_text(arguments)
    with pytest.raises(DataError, match=r"not valid JSON|no settings"):
        read_tables(run_folder / "results" / f"acc_tag{TIME}.txt")


def test_a_matrix_with_text_is_refused(run_folder) -> None:
    path = run_folder / "results" / f"acc_tag{TIME}.txt"
    path.write_text("0.8\t__import__('os')\n")
    with pytest.raises(DataError, match="no number"):
        read_tables(path)
