"""Exported files make each tool train the order, and the results come back."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from edgecil.errors import DataError, EdgecilWarning, UsageError
from edgecil.interop import export, import_logs, run_toolbox
from edgecil.interop.exports import Exported
from edgecil.interop.toolbox import pycil_tasks
from tests.cli.conftest import Cli, cli  # noqa: F401  (a fixture)
from tests.interop.miniature import source, write_config, write_toolbox

ORDERS = {"classes": 4, "tasks": 2, "protocol": "random", "budget": 2}


def run_all(exported: Exported) -> subprocess.CompletedProcess[str]:
    return subprocess.run(exported.run_all, shell=True, capture_output=True, text=True)


def library_program(step: int) -> str:
    """A program that trains with a library, which reverses orders with a step of -1."""
    text = source("library_train.py").replace("STEP", str(step))
    Path("train.py").write_text(text)
    return f"{sys.executable} {Path('train.py').absolute()}"


def mammoth(*, applies: bool = True) -> Path:
    root = Path("mammoth")
    (root / "datasets" / "utils").mkdir(parents=True)
    for folder in ("datasets", "datasets/utils"):
        (root / folder / "__init__.py").touch()
    text = source("mammoth/continual_dataset.py").replace("APPLIES", str(applies))
    (root / "datasets" / "utils" / "continual_dataset.py").write_text(text)
    (root / "main.py").write_text(source("mammoth/main.py"))
    return root


@pytest.mark.parametrize("tool", ["pycil", "pilot"])
def test_the_toolboxes_train_what_was_exported(tool: Any) -> None:
    config = write_toolbox(Path("box"), tool)
    exported = export(tool, "box", config=config, out="exps", orders=ORDERS)
    assert len(exported.runs) == 2
    assert run_all(exported).returncode == 0
    assert run_all(exported).returncode == 0  # resumes: nothing is left
    experiment = import_logs(["exps"], out="back")
    alone = run_toolbox("box", config=config, out="own", orders=ORDERS, progress=False)
    results = {run.sequence: run.accuracy for run in alone.results()}
    assert {run.sequence: run.accuracy for run in experiment.results()} == results
    assert experiment.sequences() == alone.sequences()


def test_a_toolbox_that_reorders_the_classes_fails_before_it_trains() -> None:
    config = write_toolbox(Path("box"), "pycil")
    manager = Path("box/utils/data_manager.py")
    text = manager.read_text().replace("order = idata.class_order", "order = sorted(order)")
    manager.write_text(text)
    exported = export("pycil", "box", config=config, out="exps", orders={**ORDERS, "budget": 1})
    done = run_all(exported)
    assert done.returncode == 1
    assert exported.runs[0] in done.stderr
    assert "order" in Path(f"exps/logs/{exported.runs[0]}.txt").read_text()
    with pytest.raises(DataError, match=r"run\.sh"):
        import_logs(["exps"], out="back")


def test_only_an_export_is_overwritten() -> None:
    config = write_toolbox(Path("box"), "pycil")
    export("pycil", "box", config=config, out="exps", orders=ORDERS)
    with pytest.raises(UsageError, match=r"not empty.* or 'overwrite' the export"):
        export("pycil", "box", config=config, out="exps", orders=ORDERS)
    export("pycil", "box", config=config, out="exps", orders=ORDERS, overwrite=True)
    with pytest.raises(UsageError, match="not empty"):
        export("pycil", "box", config=config, out="box", orders=ORDERS, overwrite=True)


def test_an_export_says_what_it_wrote_and_moves_to_another_machine() -> None:
    config = write_config(write_toolbox(Path("box"), "pilot"), "pilot", dataset="cifar224")
    orders = {"classes": 4, "tasks": 2, "protocol": "edge"}
    exported = export("pilot", "box", config=config, out="exps", orders=orders)
    assert "3 runs of drifting on cifar224" in str(exported)
    assert "edge: hard, median, easy" in str(exported)
    assert "minilm" in exported.notes[0]
    assert "PYTHON and CHECKOUT" in exported.notes[-1]
    script = Path("exps/run.sh").read_text()
    assert script.count(str(Path("box").absolute())) == script.count(sys.executable) == 1
    lines = [line.partition("=")[0] for line in script.splitlines()[2:4]]
    assert lines == ["PYTHON", "CHECKOUT"]


def test_many_classes_have_runs_with_short_names() -> None:
    config = write_toolbox(Path("box"), "pycil", classes=100)
    orders = [" ".join(map(str, range(100))), " ".join(map(str, range(99, -1, -1)))]
    Path("next.json").write_text(json.dumps({"next": [*orders, f"mine: {orders[0]}"]}))
    given = {"classes": 100, "tasks": 10, "sequences": "next.json"}
    exported = export("pycil", "box", config=config, out="exps", orders=given)
    assert exported.orders == "next: order-1, order-2, mine"
    assert [name.rpartition("-")[0] for name in exported.runs] == ["next-order-1", "next-order-2"]


def test_further_orders_of_next_are_trained(cli: Cli) -> None:  # noqa: F811
    config = write_toolbox(Path("box"), "pycil")
    words = ("toolbox", "box", "--config", config, "--classes", 4, "--out", "out")
    cli(*words, "--protocol", "random")
    advice = cli("next", "out", "--out", "next.json").out
    assert "add --sequences next.json to the 'edgecil toolbox' command that made out." in advice
    [first, *_] = json.loads(Path("next.json").read_text())["next"]
    results = cli(*words, "--sequences", "next.json", "--json").json["results"]
    assert [part["protocol"] for part in results] == ["random", "next"]
    assert results[1]["runs"][0]["tasks"] == [
        [int(class_) for class_ in task.split()] for task in first.split("|")
    ]
    orders = {"classes": 4, "sequences": "next.json"}
    exported = export("pycil", "box", config=config, out="exps", orders=orders)
    assert exported.orders.startswith("next: ")


def test_mammoth_trains_what_was_exported() -> None:
    root = mammoth()
    exported = export(
        "mammoth", root, out="exps", command="python main.py --model derpp", orders=ORDERS
    )
    assert run_all(exported).returncode == 0
    experiment = import_logs(["exps"], out="back")
    for run in experiment.results():
        assert run.method == "derpp"
        sums = [10.0 * sum(task) for task in run.sequence.tasks]
        assert run.matrix()[1].tolist() == sums


@pytest.mark.parametrize(
    ("applies", "sizes", "reason"), [(False, (2, 2), "labels"), (True, (3, 1), "[3, 1]")]
)
def test_mammoth_stops_if_it_does_not_follow(
    applies: bool, sizes: tuple[int, ...], reason: str
) -> None:
    orders = {"classes": 4, "sizes": sizes, "protocol": "random", "budget": 1}
    root = mammoth(applies=applies)
    exported = export("mammoth", root, out="exps", command="--model derpp", orders=orders)
    assert run_all(exported).returncode == 1
    assert reason in Path(f"exps/logs/{exported.runs[0]}.txt").read_text()


@pytest.mark.parametrize("tool", ["avalanche", "continuum"])
@pytest.mark.parametrize("step", [1, -1])
def test_libraries_get_a_scenario_that_checks_itself(tool: Any, step: int) -> None:
    command = library_program(step)
    exported = export(tool, out="exps", command=command, orders=ORDERS, method="mine")
    done = run_all(exported)
    if step == -1:
        assert done.returncode == 1
        assert "class order" in Path(f"exps/logs/{exported.runs[0]}.txt").read_text()
        return
    for run in import_logs(["exps"], out="back").results():
        assert (run.method, run.accuracy) == ("mine", 10.0 * sum(run.sequence.tasks[0]))


def test_a_result_of_another_order_is_refused_and_missing_ones_are_named() -> None:
    command = library_program(1)
    exported = export("continuum", out="exps", command=command, orders=ORDERS)
    run_all(exported)
    first, second = (Path(f"exps/results/{name}.json") for name in exported.runs)
    second.unlink()
    with pytest.warns(EdgecilWarning, match=exported.runs[1]):
        assert len(import_logs(["exps"], out="back").results()) == 1
    first.write_text(json.dumps({"accuracy": 50.0, "order": [3, 2, 1, 0]}))
    with pytest.raises(DataError, match="another class order"):
        import_logs(["exps"], out="other")


def test_what_a_tool_requires_is_asked_for() -> None:
    with pytest.raises(UsageError, match="checkout"):
        export("pycil", out="exps", orders=ORDERS)
    write_toolbox(Path("box"), "pycil")
    with pytest.raises(UsageError, match="'config' is required for pycil"):
        export("pycil", "box", out="exps", orders=ORDERS)
    Path("box/convs").mkdir()
    with pytest.raises(UsageError, match="not a checkout of pilot, but of pycil"):
        export("pilot", "box", out="exps", orders=ORDERS)
    with pytest.raises(UsageError, match=r"main\.py"):
        export("mammoth", ".", out="exps", command="--model er", orders=ORDERS)
    with pytest.raises(UsageError, match="'command'"):
        export("continuum", out="exps", orders=ORDERS)


@pytest.mark.parametrize("sizes", [(2, 1, 3), (3, 2, 1, 2), (5, 1, 4, 2)])
def test_pycil_and_pilot_know_no_irregular_increments(sizes: tuple[int, ...]) -> None:
    with pytest.raises(UsageError, match=str(sizes[1])):
        pycil_tasks(sizes)
    assert pycil_tasks((4, 3, 3, 2)) == {"init_cls": 4, "increment": 3}


def test_a_dry_run_on_the_command_line(cli: Cli) -> None:  # noqa: F811
    config = write_toolbox(Path("box"), "pycil")
    words = ("toolbox", "box", "--config", config, "--classes", 4, "--out", "out", "--dry-run")
    assert "drifting: 0 runs stored, 3 to train" in cli(*words, "--protocol", "random").out
    assert not Path("out").exists()
    assert cli(*words[:-1], "--protocol", "random").code == 0
    plan = cli(*words, "--protocol", "random", "--json").json
    assert (plan["method"], plan["stored"], plan["commands"]) == ("drifting", 3, [])
    assert plan["notes"][0].startswith("Orders: random: seed-0, ")


def test_a_dry_run_names_what_is_missing(cli: Cli) -> None:  # noqa: F811
    config = write_config(write_toolbox(Path("box"), "pycil"), "pycil", dataset="cifar100")
    words = ("toolbox", "box", "--config", config, "--classes", 4, "--protocol", "edge")
    words = (*words, "--out", "out", "--dry-run")
    assert "minilm" in cli(*words).out
    assert "There is no program" in cli(*words, "--python", "env/python").out
    trainer = Path("box/trainer.py")
    trainer.write_text(f"import torchvision\n{trainer.read_text()}")
    Path("python").write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')
    Path("python").chmod(0o755)
    assert "python lacks torchvision; give --python" in cli(*words, "--python", "./python").out
    assert f"downloads into {Path('out/data').absolute()}" in cli(*words).out
    failed = cli(*words[:-1], "--python", "./python")
    assert (failed.code, Path("out").exists()) == (2, False)
