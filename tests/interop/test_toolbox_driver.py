"""The driver inside a toolbox: what it trains is what was asked for, or it refuses."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from edgecil.interop import toolbox_driver
from tests.interop.miniature import fork_toolbox, write_toolbox

TASKS = [[0, 3], [1, 2]]


def drive(root: Path, tasks: list[list[int]] = TASKS, seed: int = 0) -> tuple[Any, str]:
    """The result file's content (None without one), and all that the program printed."""
    config = json.loads((root / "exps" / "drifting.json").read_text(encoding="utf-8"))
    sizes = [len(task) for task in tasks]
    settings = {**config, "device": [-1], "init_cls": sizes[0], "increment": sizes[-1]}
    order = [class_ for task in tasks for class_ in task]
    folder = root.parent / "training"
    folder.mkdir(exist_ok=True)
    (folder / "order.json").write_text(
        json.dumps({"order": order, "tasks": tasks, "seed": seed}), encoding="utf-8"
    )
    files = [str(folder / f"{name}.json") for name in ("order", "result")]
    given = [str(root), str(root.parent / "data"), json.dumps(settings), *files]
    done = subprocess.run(
        [sys.executable, toolbox_driver.__file__, *given],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    result = folder / "result.json"
    read = json.loads(result.read_text(encoding="utf-8")) if result.exists() else None
    assert (read is None) == (done.returncode != 0)
    return read, done.stdout + done.stderr


@pytest.fixture(params=["pycil", "pilot"])
def root(request, tmp_path) -> Path:
    write_toolbox(tmp_path / "box", request.param)
    return tmp_path / "box"


@pytest.mark.parametrize("tasks", [TASKS, [[2, 3], [0, 1]]])
def test_the_authors_fork_trains_the_order_and_counts_as_the_original(root, tasks) -> None:
    original, said = drive(root, tasks)
    for index, task in enumerate(tasks):
        assert f"task {index} saw {sorted(task)}" in said
    fork_toolbox(root)
    (root.parent / "training" / "result.json").unlink()
    forked, said = drive(root, tasks)
    for index, task in enumerate(tasks):
        assert f"task {index} saw {sorted(task)}" in said
    assert forked == original
    assert forked["totals"] == [sum(8 + class_ % 3 for class_ in task) for task in tasks]


def test_the_fork_takes_some_of_the_classes_too(tmp_path) -> None:
    write_toolbox(tmp_path / "box", "pilot", classes=9)
    fork_toolbox(tmp_path / "box")
    result, said = drive(tmp_path / "box", [[1, 7], [4, 8]])
    assert "task 0 saw [1, 7]" in said
    assert "task 1 saw [4, 8]" in said
    assert result["totals"] == [9 + 9, 9 + 10]


MODEL = '    model = factory.get_model(args["model_name"], args)\n'
REORDER = """    data_manager._class_order = [0, 2, 1, 3]
    data_manager._train_targets = np.array([0, 1, 2, 3])[data_manager._train_targets][::-1]
"""
SWAP = "        data_manager._test_targets = 3 - data_manager._test_targets\n"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (MODEL, MODEL + REORDER, "class order"),
        ("        model.after_task()\n", SWAP, "other labels"),
        ("in seed_list:", "in seed_list * 3:", "several class orders"),
    ],
    ids=["before training", "between tasks", "a loop over orders"],
)
def test_a_trainer_that_does_not_keep_the_order_is_refused(root, old, new, words) -> None:
    trainer = root / "trainer.py"
    text = trainer.read_text(encoding="utf-8")
    assert old in text
    trainer.write_text(text.replace(old, new), encoding="utf-8")
    result, said = drive(root)
    assert result is None
    assert words in said
