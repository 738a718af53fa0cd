"""Another program trains: every order once, failures recorded, everything resumed."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from edgecil.errors import PrerequisiteError, UsageError
from edgecil.experiments.experiment import Experiment, TrainingFailedError
from edgecil.experiments.results import Summary
from edgecil.interop import run_external
from edgecil.runs.training_seeds import repeat_of
from tests.grouped import ordered

TRAIN = """
import json, os, signal, sys
order_file, result_file, seed = sys.argv[1:4]
order = json.load(open(order_file))
assert order["seed"] == int(seed)
open("ran.txt", "a").write(json.dumps(order["tasks"]) + "\\n")
print("training on", order["order"])
first = order["order"][0]
{extra}
right = [10 * sum(task) + 1 for task in order["tasks"]]
rows = [right[: end + 1] for end in range(len(right))]
json.dump({{"correct": rows, "totals": [200] * len(rows)}}, open(result_file, "w"))
"""


def program(extra: str = "") -> str:
    """A command that trains: the right answers show which classes a task has."""
    Path("train.py").write_text(TRAIN.format(extra=extra), encoding="utf-8")
    return f"{shlex.quote(sys.executable)} train.py {{order_file}} {{result_file}} {{seed}}"


def train(command: str, **options: Any) -> Experiment:
    given = {"command": command, "out": "out", "classes": 4, "tasks": 2, "protocol": "enumerate"}
    return run_external(**ordered(**(given | options)))


def trained() -> list[str]:
    ran = Path("ran.txt")
    return ran.read_text(encoding="utf-8").splitlines() if ran.exists() else []


def test_every_order_is_trained_once_and_its_counts_come_back() -> None:
    experiment = train(program(), method="mine")
    assert len(set(trained())) == len(trained()) == 6
    assert len(experiment.results()) == 6
    for run in experiment.results():
        sums = [10 * sum(task) + 1 for task in run.sequence.tasks]
        assert run.method == "mine"
        assert run.accuracy == pytest.approx(sum(sums) / 2 / 2)
        assert run.seconds > 0
        assert run.peak_memory > 1_000_000


def test_the_same_call_trains_nothing_twice_and_another_command_is_refused() -> None:
    command = program()
    assert train(command).summary == Summary(6, 0, ())
    assert train(command).summary == Summary(0, 6, ())
    with pytest.raises(UsageError, match="command"):
        train(command + " --faster")
    assert len(trained()) == 6
    again = train(command, overwrite=True, protocol="random", budget=1).summary
    assert again == Summary(1, 0, ())


def test_repeats_train_each_order_with_further_seeds() -> None:
    experiment = train(program(), repeats=2, workers=2)
    repeats = [repeat_of(run.sequence.tasks, run.seed) for run in experiment.results()]
    assert sorted(repeats) == [0] * 6 + [1] * 6
    assert len({run.seed for run in experiment.results()}) == 12
    assert len(trained()) == 12


def test_a_failure_is_recorded_with_its_last_log_line_and_named_by_its_label() -> None:
    with pytest.raises(TrainingFailedError) as raised:
        train(program("if first == 2: raise MemoryError('CUDA out of memory')"))
    experiment = raised.value.experiment
    [failure] = experiment.failures()
    assert failure.tasks == ((2, 3), (0, 1))
    assert failure.error.endswith("last log line: MemoryError: CUDA out of memory")
    assert "training on [2, 3, 0, 1]" in failure.trace
    assert "enumerate all-6" in str(raised.value)
    assert len(experiment.results()) == 5
    assert train(program()).summary == Summary(1, 5, ())


ENDS = {
    "killed": ("os.kill(os.getpid(), signal.SIGKILL)", "SIGKILL"),
    "silent": ("os._exit(3)", "exit code 3"),
    "no result": ("sys.exit()", "no result file"),
    "no result, but a log": ("print('disk full'); sys.exit()", "last log line: disk full"),
    "half a result": ("open(result_file, 'w').write('{'); sys.exit()", "not valid"),
    "other classifiers": (
        "if order['seed'] % 2:\n"
        "    json.dump({'accuracy': {'nme': 50}}, open(result_file, 'w')); sys.exit()",
        "classifiers",
    ),
}


@pytest.mark.parametrize(("extra", "words"), ENDS.values(), ids=ENDS)
def test_however_a_program_fails_the_error_says_how(extra, words) -> None:
    with pytest.raises(TrainingFailedError, match=words):
        train(program(extra), protocol="random", budget=1, repeats=2)


def test_a_missing_program_and_a_timeout_are_failures() -> None:
    one = {"protocol": "random", "budget": 1}
    with pytest.raises(TrainingFailedError, match="no-such-program"):
        train("no-such-program {order_file} {result_file}", **one)
    slow = program("import time; time.sleep(60)")
    with pytest.raises(TrainingFailedError, match=r"stopped after 0\.5 seconds"):
        train(slow, **one, timeout=0.5, overwrite=True)


def test_chosen_classes_keep_the_ids_of_the_dataset() -> None:
    from edgecil.classes import get_classes, select_classes

    command = program("order['tasks'] = [[c % 5 for c in task] for task in order['tasks']]")
    options = {"dataset": "cifar100", "classes": 4, "classes_seed": 42, "protocol": "edge"}
    experiment = train(command, **options)
    ids = select_classes(100, count=4, seed=42)
    labels = get_classes("cifar100").labels
    assert experiment.names == tuple(labels[id_] for id_ in ids)
    for line in trained():
        assert sorted(class_ for task in json.loads(line) for class_ in task) == ids.tolist()
    assert [run.label for run in experiment.sequences()["edge"]] == ["hard", "median", "easy"]
    assert experiment.similarity().names == experiment.names, "saved with the experiment"


def test_the_described_similarity_is_saved_though_no_protocol_requires_it() -> None:
    from edgecil.classes import get_classes
    from edgecil.similarity import text_similarity

    options = {"dataset": "ham10000", "classes": None, "tasks": 7, "protocol": "latin"}
    experiment = train(program(), **options, template="{name}")
    expected = text_similarity(get_classes("ham10000"), template="{name}")
    np.testing.assert_allclose(experiment.similarity().values, expected.values)
    assert experiment.similarity().source["template"] == "{name}"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"command": "train {order_file}"}, "{result_file}"),
        ({"command": "train 'x {order_file} {result_file}"}, "cannot be parsed"),
        ({"workers": 0}, "'workers'"),
        ({"repeats": 0}, "'repeats'"),
        ({"timeout": -1.0}, "'timeout'"),
        ({"protocol": "enumrate"}, "Did you mean 'enumerate'"),
        ({"classes": None}, "classes are not specified"),
        ({"tasks": 3}, "tasks"),
    ],
)
def test_bad_arguments_are_refused_before_anything_is_trained(options, words) -> None:
    with pytest.raises(UsageError, match=words):
        train(**{"command": program(), **options})
    assert trained() == []


def test_an_attempt_has_a_folder_of_its_own() -> None:
    options: dict[str, Any] = {"protocol": "random", "budget": 1}
    with pytest.raises(TrainingFailedError):
        train(program("sys.exit(1)"), **options)
    train(program(), **options)
    folders = sorted(path.parent.name for path in Path("out").glob("trainings/*/*/order.json"))
    assert folders == ["1", "2"]
    assert len(list(Path("out").glob("trainings/*/*/result.json"))) == 1


DRIVER = """
import sys
from edgecil.interop import run_external
run_external(command=sys.argv[1], out="out",
    orders={"classes": 4, "tasks": 2, "protocol": "random", "budget": 1})
"""


def test_programs_and_their_children_die_with_a_killed_driver() -> None:
    with driven() as (driver, pids):
        driver.kill()
        wait_until(lambda: not any(is_alive(pid) for pid in pids))


@pytest.mark.skipif(sys.platform != "linux", reason="a signal that only Linux has")
def test_a_program_dies_with_its_guard() -> None:
    """Which an administrator, or the system without memory, may kill."""
    with driven() as (_, (own, _, guard)):
        os.kill(guard, signal.SIGKILL)
        wait_until(lambda: not is_alive(own))


@contextmanager
def driven() -> Iterator[tuple[subprocess.Popen[bytes], list[int]]]:
    """A driver whose program sleeps; the numbers of that process, its child and its parent."""
    spawn = (
        "import subprocess, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        "open('pids.tmp', 'w').write(f'{os.getpid()} {child.pid} {os.getppid()}')\n"
        "os.rename('pids.tmp', 'pids')\n"
        "time.sleep(60)"
    )
    driver = subprocess.Popen([sys.executable, "-c", DRIVER, program(spawn)])
    try:
        wait_until(Path("pids").exists)
        yield driver, [int(word) for word in Path("pids").read_text(encoding="utf-8").split()]
    finally:
        driver.kill()
        driver.wait()


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 300
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and was not waited for does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2]
        return "Z" not in state.split()[0]
    except FileNotFoundError:
        return False


def test_windows_is_refused_before_anything_is_written(monkeypatch, tmp_path) -> None:
    monkeypatch.setattr("edgecil.interop.external.sys.platform", "win32")
    with pytest.raises(PrerequisiteError, match="Linux"):
        run_external(command=program(), out=tmp_path / "out", orders={"classes": 4, "tasks": 2})
    assert not (tmp_path / "out").exists()
