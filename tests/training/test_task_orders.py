"""Experiments on orders of given tasks: trained by classes, analysed as orders of tasks."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from edgecil import analyze, check, run
from edgecil.errors import UsageError
from edgecil.interop import run_external
from edgecil.sequences import ClassSequence

TASKS = {"small": [2], "large": [0, 1, 3]}


@pytest.fixture
def options(toy: dict[str, Any]) -> dict[str, Any]:
    """Options of a run of four classes without their division into tasks."""
    return {
        "method": toy["method"],
        "dataset": toy["dataset"],
        "out": toy["out"],
        "execution": {"workers": 1},
    }


PROGRAM = """
import json, sys
order = json.load(open(sys.argv[1]))["order"]
rows = [[50.0 + 10 * order[place] - row for place in range(row + 1)] for row in range(len(order))]
json.dump({"matrix": rows}, open(sys.argv[2], "w"))
"""


def test_a_run_trains_the_classes_and_its_table_has_the_tasks(options: dict[str, Any]) -> None:
    planned = check(**options, given_tasks=TASKS, protocol="enumerate")
    assert planned.orders == {"enumerate": 2}
    experiment = run(**options, given_tasks=TASKS, protocol="enumerate")
    assert {result.sequence for result in experiment.results()} == {
        ClassSequence([[2], [0, 1, 3]]),
        ClassSequence([[0, 1, 3], [2]]),
    }
    table = experiment.table()
    assert set(table.sequences) == {ClassSequence([[0], [1]]), ClassSequence([[1], [0]])}
    assert (table.names, table.arranges, table.space.size) == (("small", "large"), "tasks", 2)
    assert table.chance is None


def test_probes_are_left_out_and_asking_for_sizes_beside_tasks_is_refused(
    options: dict[str, Any],
) -> None:
    with pytest.raises(UsageError, match="given_tasks"):
        run(**options, given_tasks=TASKS, tasks=2)
    assert check(**options, given_tasks={"a": [0], "b": [1], "c": [2, 3]}).orders == {"random": 3}


def test_another_program_trains_named_tasks(tmp_path: Path) -> None:
    program = tmp_path / "train.py"
    program.write_text(PROGRAM, encoding="utf-8")
    command = [sys.executable, str(program), "{order_file}", "{result_file}"]
    orders = {"given_tasks": json.dumps(["news", "reviews", "questions"]), "budget": 3}
    experiment = run_external(command=command, out=tmp_path / "out", orders=orders, progress=False)
    table = experiment.table()
    assert (table.names, table.arranges) == (("news", "reviews", "questions"), "tasks")
    assert len(table.sequences) == 3
    method = analyze(experiment).datasets[0].methods["external"]
    assert method.claims.mean.value == pytest.approx(58.0)
