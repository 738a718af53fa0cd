"""`edgecil toolbox` on miniatures of PyCIL and PILOT, end to end."""

from __future__ import annotations

import ast
import hashlib
import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from edgecil.engine.store import Store
from tests.cli.conftest import Answer, Cli
from tests.interop.miniature import write_config, write_toolbox

KINDS = ["pycil", "pilot"]
EVERYTHING = ("--classes", 4, "--eval", "enumerate", "--out", "out", "--workers", 2)


@pytest.fixture
def config() -> Path:
    """The config file of a miniature PyCIL in the folder `box`."""
    return write_toolbox(Path("box"), "pycil")


def drive(cli: Cli, config: Path, *more: object) -> Answer:
    asked = ("--config", config, "--classes", 4, "--eval", "random", "--runs", 2, "--out", "out")
    return cli("toolbox", "box", *asked, *more)


def contents(folder: str = "box") -> dict[str, str]:
    """Every file of the checkout with its hash."""
    return {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in Path(folder).rglob("*")
        if path.is_file()
    }


def logs() -> dict[tuple[int, ...], str]:
    """What the toolbox said, by the order it was told to train."""
    found = {}
    for folder in Path("out/trainings").iterdir():
        order = json.loads((folder / "order.json").read_text())["order"]
        found[tuple(order)] = (folder / "log.txt").read_text()
    return found


def curve(log: str, name: str) -> list[float]:
    """The last curve that the toolbox itself printed."""
    curves = re.findall(rf"{name} top1 curve: (\[.*\])", log)
    return ast.literal_eval(curves[-1])


@pytest.mark.parametrize("kind", KINDS)
def test_the_toolbox_trains_the_tasks_asked_for_and_its_own_accuracies_come_back(
    cli: Cli, kind
) -> None:
    config = write_toolbox(Path("box"), kind)
    answer = drive(cli, config, "--eval", "latin", "--runs", 3, "--json").json
    assert (answer["method"], answer["found"]) == ("drifting", 3)
    said = logs()
    assert len(said) == 3
    for row in answer["sequences"]:
        order = tuple(class_ for task in row["tasks"] for class_ in task)
        for index, task in enumerate(row["tasks"]):
            assert f"task {index} saw {task}" in said[order]
        totals = [sum(8 + class_ % 3 for class_ in task) for task in row["tasks"]]
        after_both = np.average(row["matrix"][1], weights=totals)
        assert curve(said[order], "CNN") == pytest.approx(
            [row["matrix"][0][0], after_both], abs=0.005
        )
        assert row["a_last"] == pytest.approx(after_both)
        assert row["classifiers"].keys() == {"head"}
    assert len({row["accuracy"] for row in answer["sequences"]}) == 3


def test_both_classifiers_come_back_where_there_are_exemplars(cli: Cli, config) -> None:
    answer = drive(cli, config, "--set", "memory_size=20", "--json").json
    said = logs()
    store = Store("out")
    runs = store.runs()
    store.close()
    for row in answer["sequences"]:
        order = tuple(class_ for task in row["tasks"] for class_ in task)
        assert list(row["classifiers"]) == ["head", "nme"]
        assert row["classifiers"]["nme"] > row["classifiers"]["head"], "means do not go astray"
        found = runs["drifting", 0, tuple(map(tuple, row["tasks"]))]
        for classifier, name in (("head", "CNN"), ("nme", "NME")):
            logged = curve(said[order], name)
            assert found.classifier(classifier).last == pytest.approx(logged[-1], abs=0.005)


def test_the_checkout_stays_as_it_was(cli: Cli, config) -> None:
    before = contents()
    assert drive(cli, config).code == 0
    assert contents() == before
    assert list(Path("out").glob("trainings/*/checkout/logs/drifting/*.log"))


def test_what_was_counted_is_kept_when_the_toolbox_fails_after_its_last_task(cli: Cli) -> None:
    """PyCIL's table has a column per task and gets an entry per ten classes: three for two."""
    config = write_toolbox(Path("box"), "pycil", classes=24)
    asked = ("--classes", 24, "--sizes", "12,12", "--runs", 1)
    [row] = drive(cli, config, *asked, "--json").json["sequences"]
    [log] = logs().values()
    assert "Traceback" in log
    assert "could not broadcast" in log
    assert row["a_last"] == pytest.approx(curve(log, "CNN")[-1], abs=0.005)


def test_a_failure_before_the_last_task_is_one(cli: Cli, config) -> None:
    base = Path("box/models/base.py")
    fail = "def after_task(self):\n        assert self._cur_task < 1, 'no room'\n"
    base.write_text(base.read_text().replace("def after_task(self):\n", fail))
    assert drive(cli, config, "--runs", 1, "--sizes", "2,2").code == 0, "all tasks were tested"
    answer = drive(cli, config, "--runs", 1, "--sizes", "2,1,1", "--fresh")
    assert "AssertionError: no room" in answer.err


def test_a_training_is_the_same_alone_beside_others_and_again(cli: Cli, config) -> None:
    def found(*more: object) -> dict[str, float]:
        rows = drive(cli, config, "--fresh", "--json", *more).json["sequences"]
        return {str((row["tasks"], row["seed"])): row["accuracy"] for row in rows}

    everything = found("--seeds", 2)
    assert found("--seeds", 2, "--workers", 3) == everything
    assert found("--runs", 1).items() <= everything.items()
    accuracies = list(everything.values())
    assert accuracies[::2] != accuracies[1::2], "the seed decides the drift"


def test_it_goes_on_where_it_stopped_and_refuses_another_toolbox(cli: Cli, config) -> None:
    assert "2 sequences trained now" in drive(cli, config).out
    assert "0 sequences trained now, 2 from before" in drive(cli, config).out
    assert "settings.drift: 0.6 there, 0.1 now" in drive(cli, config, "--set", "drift=0.1").err
    base = Path("box/models/base.py")
    base.write_text(base.read_text() + "# changed\n")
    assert "method drifting.toolbox" in drive(cli, config).err


def test_the_config_decides_the_tasks_unless_the_command_line_does(cli: Cli, config) -> None:
    write_config(config, "pycil", init_cls=1, increment=2)
    asked = ("--runs", 1, "--json")
    sizes = [len(task) for task in drive(cli, config, *asked).json["sequences"][0]["tasks"]]
    assert sizes == [1, 2, 1]
    answer = drive(cli, config, *asked, "--sizes", "2,1,1", "--fresh").json
    assert [len(task) for task in answer["sequences"][0]["tasks"]] == [2, 1, 1]
    assert "equal increments" in drive(cli, config, "--sizes", "1,1,2", "--fresh").sentence


def test_some_of_the_classes_take_part_under_their_own_ids(cli: Cli, tmp_path) -> None:
    config = write_toolbox(Path("box"), "pycil", classes=9)
    Path("names.txt").write_text("\n".join(f"class {id_}" for id_ in range(9)))
    asked = ("--names", "names.txt", "--classes-seed", 42, "--runs", 1)
    answer = drive(cli, config, *asked, "--json").json
    from edgecil.classes import select_classes

    ids = select_classes(9, count=4, seed=42)
    [(order, log)] = logs().items()
    assert sorted(order) == ids.tolist() != [0, 1, 2, 3]
    for index, task in enumerate(answer["sequences"][0]["tasks"]):
        assert f"task {index} saw {ids[task].tolist()}" in log


def test_another_python_may_be_given_from_where_one_is(cli: Cli, config) -> None:
    Path("env").symlink_to(Path(sys.executable).parent, target_is_directory=True)
    python = f"./env/{Path(sys.executable).name}"
    assert drive(cli, config, "--python", python, "--runs", 1).code == 0
    missing = drive(cli, config, "--python", "./none/python", "--runs", 1, "--fresh")
    assert "none/python' cannot be started: No such file" in missing.err


def test_a_crash_and_a_kill_are_recorded_and_the_others_go_on(cli: Cli, config) -> None:
    lethal = ("--set", "raise_on=2", "--set", "die_on=1")
    answer = cli("toolbox", "box", "--config", config, *lethal, *EVERYTHING)
    assert answer.code == 1
    assert "3 of the trainings failed" in answer.err
    assert "3 sequences trained now" in answer.out
    store = Store("out")
    errors = {node.prefix: error for node, (error, _) in store.failures().items()}
    store.close()
    assert "CUDA out of memory: tried to allocate 2 GiB" in errors[(2, 3), (0, 1)]
    assert "SIGKILL" in errors[(1, 2), (0, 3)]
    assert "SIGKILL" in errors[(1, 3), (0, 2)]


BROKEN = {
    "a missing dependency": ("trainer.py", "import copy", "import copy, timm9", "No module named"),
    "another version": ("utils/data_manager.py", "_get_idata", "_find_data", "has no _get_idata"),
    "another order": (
        "utils/data_manager.py",
        "order = idata.class_order",
        "order = sorted(idata.class_order)",
        "did not keep the class order",
    ),
    "another evaluation": (
        "models/base.py",
        "return cnn_accy, nme_accy",
        "return dict(cnn_accy), nme_accy",
        "did not test after each of 2 tasks",
    ),
    "no such dataset": ("utils/data_manager.py", '"mini"', '"maxi"', "Unknown dataset mini"),
    "too few classes": (
        "utils/data.py",
        "arange(4), [",
        "arange(4) % 3, [",
        "no images of class 3",
    ),
}


@pytest.mark.parametrize(("file", "old", "new", "words"), BROKEN.values(), ids=BROKEN)
def test_a_toolbox_that_does_not_fit_says_why(cli: Cli, config, file, old, new, words) -> None:
    path = Path("box", file)
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    answer = drive(cli, config, "--runs", 1)
    assert answer.code == 1
    assert "1 of the trainings failed" in answer.err
    assert words in answer.err


def test_what_is_no_checkout_and_what_is_no_config(cli: Cli, config) -> None:
    Path("empty").mkdir()
    asked = ("--config", config, "--classes", 4, "--out", "out")
    assert (
        "no checkout of PyCIL or PILOT: it has no trainer.py"
        in cli("toolbox", "empty", *asked).sentence
    )
    Path("c.json").write_text("[]")
    assert "must hold a JSON object" in drive(cli, Path("c.json")).sentence
    Path("c.json").write_text('{"dataset": "mini"}')
    assert "must name the 'model_name'" in drive(cli, Path("c.json")).sentence
    assert "--set takes KEY=VALUE" in drive(cli, config, "--set", "device").sentence
    assert "'init_cls' and 'increment'" in drive(cli, config, "--set", "increment=0").sentence
    assert (
        "Say which classes there are"
        in cli("toolbox", "box", "--config", config, "--eval", "random", "--out", "out").sentence
    )


def test_changes_that_have_no_effect_are_refused_and_new_keys_named(cli: Cli, config) -> None:
    for key in ("seed", "shuffle"):
        refused = drive(cli, config, "--set", f"{key}=1").sentence
        assert f"--set {key} has no effect: the protocol chooses the class orders" in refused
    answer = drive(cli, config, "--set", "memory_sise=20", "--runs", 1)
    assert "Unknown key of box/exps/drifting.json 'memory_sise'. Did you mean" in answer.err
    assert "'memory_size'" in answer.err
    assert answer.code == 0


def test_a_known_dataset_brings_its_names_and_its_similarity(cli: Cli, config) -> None:
    write_config(config, "pycil", dataset="cifar224")
    answer = drive(cli, config, "--eval", "edge", "--runs", 3)
    assert "3 of the trainings failed" in answer.err, "the miniature knows no such dataset"
    store = Store("out")
    settings = store.identity()
    assert [run.label for run in store.sequences()["edge"]] == ["hard", "median", "easy"]
    store.close()
    assert settings["dataset"]["classes"] == ["apple", "aquarium_fish", "baby", "bear"]
