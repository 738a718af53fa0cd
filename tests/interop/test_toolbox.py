"""Miniatures of PyCIL and PILOT, trained from end to end."""

from __future__ import annotations

import ast
import json
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from edgecil.errors import DataError, EdgecilWarning, UsageError
from edgecil.experiments import Experiment, TrainingFailedError
from edgecil.interop import run_toolbox
from edgecil.interop.toolbox import read_settings
from edgecil.sequences import ClassSequence
from tests.grouped import ordered
from tests.interop.miniature import write_config, write_toolbox

KINDS = ["pycil", "pilot"]


@pytest.fixture
def config() -> Path:
    """The config file of a miniature PyCIL in the folder `box`."""
    return write_toolbox(Path("box"), "pycil")


def train(config: Path, **options: Any) -> Experiment:
    defaults = {"config": config, "classes": 4, "protocol": "random", "budget": 2, "out": "out"}
    return run_toolbox("box", **ordered(**(defaults | options)))


def contents() -> dict[str, bytes]:
    """Every file of the checkout."""
    return {str(path): path.read_bytes() for path in Path("box").rglob("*") if path.is_file()}


def change(file: str, old: str, new: str) -> None:
    """Change a module of the checkout."""
    path = Path("box", file)
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def logs() -> dict[ClassSequence, str]:
    """The toolbox's output, by the sequence that it trained."""
    texts = {}
    for file in Path("out/trainings").glob("*/*/order.json"):
        tasks = json.loads(file.read_text(encoding="utf-8"))["tasks"]
        texts[ClassSequence(tasks)] = (file.parent / "log.txt").read_text(encoding="utf-8")
    return texts


def curve(log: str, name: str) -> list[float]:
    """The last curve that the toolbox itself printed."""
    curves = re.findall(rf"{name} top1 curve: (\[.*\])", log)
    return ast.literal_eval(curves[-1])


@pytest.mark.parametrize("kind", KINDS)
def test_the_toolbox_trains_the_order_and_its_accuracies_come_back(kind) -> None:
    config = write_toolbox(Path("box"), kind)
    before = contents()
    results = train(config, protocol="latin", budget=3).results()
    assert contents() == before, "nothing of the checkout is changed"
    printed = logs()
    assert len(printed) == len(results) == 3
    for run in results:
        for index, task in enumerate(run.sequence.tasks):
            assert f"task {index} saw {list(task)}" in printed[run.sequence]
        totals = [sum(8 + class_ % 3 for class_ in task) for task in run.sequence.tasks]
        matrix = run.matrix()
        after_both = np.average(matrix[1], weights=totals)
        assert curve(printed[run.sequence], "CNN") == pytest.approx(
            [matrix[0, 0], after_both], abs=0.005
        )
        assert run.metric("last") == pytest.approx(after_both)
        assert run.classifiers == ("head",)
    assert len({run.accuracy for run in results}) == 3


def test_both_classifiers_come_back_where_there_are_exemplars(config) -> None:
    for run in train(config, set={"memory_size": 20, "drift": 2.0}).results():
        assert run.classifiers == ("head", "nme")
        assert run.metric(classifier="nme") > run.metric(classifier="head"), "means do not drift"
        for classifier, name in (("head", "CNN"), ("nme", "NME")):
            logged = curve(logs()[run.sequence], name)
            assert run.metric("last", classifier) == pytest.approx(logged[-1], abs=0.005)


def test_counts_are_kept_when_the_toolbox_fails_after_its_last_task() -> None:
    """PyCIL's table has a column per task and gets an entry per ten classes: three for two."""
    config = write_toolbox(Path("box"), "pycil", classes=24)
    [run] = train(config, classes=24, sizes=(12, 12), budget=1).results()
    [log] = logs().values()
    assert "Traceback" in log
    assert run.metric("last") == pytest.approx(curve(log, "CNN")[-1], abs=0.005)


def test_a_failure_before_the_last_task_is_one(config) -> None:
    fail = "def after_task(self):\n        assert self._cur_task < 1, 'no room'\n"
    change("models/base.py", "def after_task(self):\n", fail)
    assert len(train(config, budget=1, sizes=(2, 2)).results()) == 1, "all tasks were tested"
    with pytest.raises(TrainingFailedError, match="AssertionError: no room"):
        train(config, budget=1, sizes=(2, 1, 1), overwrite=True)


def test_a_run_is_the_same_alone_beside_others_and_again(config) -> None:
    def accuracies(**options: Any) -> dict[Any, float]:
        results = train(config, overwrite=True, **options).results()
        return {(run.sequence, run.seed): run.accuracy for run in results}

    everything = accuracies(repeats=2)
    assert accuracies(repeats=2, workers=3) == everything
    assert accuracies(budget=1).items() <= everything.items()
    assert len(set(everything.values())) == 4, "the seed decides the drift"


def test_it_resumes_and_refuses_another_toolbox(config) -> None:
    summaries = [train(config).summary for _ in range(2)]
    assert [(one.trained, one.reused) for one in summaries if one] == [(2, 0), (0, 2)]
    with pytest.raises(UsageError, match="drift"):
        train(config, set={"drift": 0.1})
    change("models/base.py", "import numpy", "import  numpy")
    with pytest.raises(UsageError, match=r"method drifting\.toolbox"):
        train(config)


def test_the_config_decides_the_tasks_unless_they_are_given(config) -> None:
    write_config(config, "pycil", init_cls=1, increment=2)
    assert train(config, budget=1).results()[0].sequence.sizes == (1, 2, 1)
    given = train(config, budget=1, sizes=(2, 1, 1), overwrite=True)
    assert given.results()[0].sequence.sizes == (2, 1, 1)
    with pytest.raises(UsageError, match="equal increments"):
        train(config, sizes=(1, 1, 2), overwrite=True)


def test_chosen_classes_keep_their_own_ids() -> None:
    from edgecil.classes import select_classes

    config = write_toolbox(Path("box"), "pycil", classes=9)
    Path("names.txt").write_text("".join(f"class {id_}\n" for id_ in range(9)), encoding="utf-8")
    experiment = train(config, names="names.txt", classes_seed=42, budget=1)
    ids = select_classes(9, count=4, seed=42)
    [(sequence, log)] = logs().items()
    assert sorted(sequence.order) == ids.tolist() != [0, 1, 2, 3]
    for index, task in enumerate(experiment.results()[0].sequence.tasks):
        assert f"task {index} saw {ids[list(task)].tolist()}" in log


def test_another_python_may_be_given_by_a_relative_path(config) -> None:
    Path("env").symlink_to(Path(sys.executable).parent, target_is_directory=True)
    python = f"./env/{Path(sys.executable).name}"
    assert len(train(config, python=python, budget=1).results()) == 1
    with pytest.raises(UsageError, match="none/python"):
        train(config, python="./none/python", budget=1, overwrite=True)


BROKEN = {
    "another version": ("utils/data_manager.py", "_get_idata", "_find_data", "has no _get_idata"),
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
def test_a_toolbox_that_does_not_fit_is_refused_with_a_reason(
    config, file, old, new, words
) -> None:
    change(file, old, new)
    with pytest.raises(TrainingFailedError, match=words):
        train(config, budget=1)


def test_a_failure_of_another_tool_has_no_task(config) -> None:
    change("models/base.py", "def after_task(self):\n", "def after_task(self):\n        1 / 0\n")
    with pytest.raises(TrainingFailedError) as raised:
        train(config, budget=1)
    assert "task" not in str(raised.value)
    assert "All other results" not in str(raised.value)


def test_a_folder_that_is_not_a_checkout_and_a_bad_config_are_refused(config) -> None:
    Path("empty").mkdir()
    with pytest.raises(UsageError, match=r"trainer\.py"):
        run_toolbox("empty", config=config, orders={"classes": 4}, out="out")
    Path("c.json").write_text("[]", encoding="utf-8")
    with pytest.raises(DataError, match="must contain a JSON object"):
        train(Path("c.json"))
    Path("c.json").write_text('{"dataset": "mini"}', encoding="utf-8")
    with pytest.raises(UsageError, match="'model_name'"):
        train(Path("c.json"))
    with pytest.raises(UsageError, match="init_cls and increment"):
        train(config, set={"increment": 0})
    with pytest.raises(UsageError, match=r"'mini'.* 'classes'"):
        train(config, classes=None)
    with pytest.raises(UsageError, match=r"'checkout' must be the folder.*'nowhere'"):
        run_toolbox("nowhere", config=config, out="out")
    with pytest.raises(UsageError, match=r"'driftin'\. Did you mean 'drifting'"):
        train(config, set={"model_name": "driftin"})
    with pytest.warns(EdgecilWarning, match=r"'incremen'.*'increment'"):
        read_settings(config, {"incremen": 2})
