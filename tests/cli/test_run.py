from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

import edgecil
from edgecil.cli.main import verb_parser
from edgecil.errors import EdgecilWarning
from edgecil.experiments import Experiment
from edgecil.experiments.config import GROUPS, ExperimentConfig
from edgecil.experiments.config_values import CALL_OPTIONS
from tests.cli.conftest import Answer, Cli
from tests.interop.test_toolbox_configs import ICARL
from tests.toys import save_toy
from tests.training import strange

assert strange.Raising  # registered: a method that raises on request

QUICK = ("--tasks", 2, "--protocol", "enumerate", "--epochs", 2, "--workers", 1)
NOT_IN_TOML = {"help", "help_all", "json", "debug", "config"}  # about the command line itself


@pytest.fixture
def toy() -> Path:
    """A dataset of four classes in the working directory."""
    return save_toy(Path("toy.npz"))


def run(cli: Cli, toy: Path, method: str, *more: object) -> Answer:
    return cli("run", "--method", method, "--dataset", toy, "--out", "out", *QUICK, *more)


def test_every_option_is_a_toml_key_of_the_same_name_and_conversely() -> None:
    options = {action.dest for action in verb_parser("run")._actions} - NOT_IN_TOML
    top = {field.name for field in fields(ExperimentConfig)} - GROUPS.keys()
    own = {f"{name}.{field.name}" for name, group in GROUPS.items() for field in fields(group)}
    assert options == (top | own | {*CALL_OPTIONS, "as_"}) - {"as", "objective"}


@pytest.mark.usefixtures("quick_workers")
def test_the_directory_may_be_in_the_file(cli, toy) -> None:
    text = f"method = 'instant'\ndataset = '{toy.as_posix()}'\nout = 'out'\ntasks = 2"
    lines = [f"{text}\nprotocol = 'random'"]
    Path("b.toml").write_text(
        "\n".join([*lines, "overwrite = true", "execution = { workers = 1 }"]), encoding="utf-8"
    )
    for _ in range(2):
        answer = cli("run", "--config", "b.toml", "--json").json
        assert (answer["directory"], answer["reused"]) == ("out", 0)
    assert edgecil.run(config="b.toml", overwrite=False).summary.reused > 0
    Path("c.toml").write_text(lines[0].replace("out = 'out'\n", ""), encoding="utf-8")
    answer = cli("run", "--config", "c.toml", "--workers", "1", "--json")
    directory = Path(answer.json["directory"])
    assert directory.parent == Path("runs")
    assert f"Results are stored in {directory}." in answer.err


@pytest.mark.parametrize("flag", ["--epochs", "--memory-per-class"])
def test_a_number_that_is_too_small_is_named_by_its_flag(cli, toy, flag) -> None:
    answer = run(cli, toy, "icarl", flag, -1)
    assert answer.code == 2
    assert f"{flag} must be at least" in answer.sentence


def test_the_answer_for_programs(cli, toy) -> None:
    answer = run(cli, toy, "icarl", "--json").json
    assert (answer["directory"], answer["trained"], answer["reused"]) == ("out", 12, 0)
    [part] = answer["results"]
    assert (part["method"], part["protocol"]) == ("icarl", "enumerate")
    assert (part["planned"], part["finished"]) == (6, 6)
    for row in part["runs"]:
        assert sorted(class_ for task in row["tasks"] for class_ in task) == [0, 1, 2, 3]
        assert [len(line) for line in row["matrix"]] == [1, 2]
        assert row["metrics"]["accuracy"] == pytest.approx(np.mean(row["matrix"][1]))
        assert row["metrics"].keys() >= {"last", "average", "forgetting", "bwt"}
        assert row["classifiers"].keys() == {"head", "nme"}
    assert len({str(row["tasks"]) for row in part["runs"]}) == 6
    accuracies = [row["metrics"]["accuracy"] for row in part["runs"]]
    assert part["mean"] == pytest.approx(np.mean(accuracies))
    assert part["std"] == pytest.approx(np.std(accuracies))
    assert (part["min"], part["max"]) == (min(accuracies), max(accuracies))
    assert answer["failures"] == []


def test_labels_of_the_same_order_are_noted(cli, toy) -> None:
    assert run(cli, toy, "instant", "--protocol", "random", "--budget", 6).err == ""
    answer = run(cli, toy, "instant", "--protocol", "random-legacy", "--budget", 6)
    assert answer.err.count("\n") == 1
    assert "seed-" in answer.err
    assert run(cli, toy, "instant", "--protocol", "latin").err == ""
    answer = run(
        *(cli, toy, "instant", "--protocol", "random-legacy", "--budget", 8),
        *("--until", "mean ± 0.001"),
    )
    assert answer.err.count("are the same") == 1, "once, not for every order that is added"


def test_a_later_command_shows_every_training_and_hides_no_order(cli, toy) -> None:
    more = ("--protocol", "random", "--json")
    [three] = run(cli, toy, "instant", *more, "--budget", 3, "--repeats", 2).json["results"]
    assert len(three["runs"]) == 6
    [one] = run(cli, toy, "instant", *more, "--budget", 1).json["results"]
    assert one == three


def test_a_failing_method_leaves_the_others_alone(cli, toy) -> None:
    trigger = Path("trigger")
    trigger.touch()
    more = ("--set", "raising.classes=[0, 1]", "--set", f"raising.file={trigger.resolve()}")
    answer = run(cli, toy, "instant,raising", *more, "--json")
    assert answer.code == 1
    assert answer.err.startswith("edgecil: ")
    printed = json.loads(answer.out)
    instant, raising = printed["results"]
    assert (instant["finished"], raising["finished"], raising["planned"]) == (6, 4, 6)
    tasks = [failure["tasks"] for failure in printed["failures"]]
    assert sorted(tasks) == [[[0, 1]], [[2, 3], [0, 1]]]
    assert not cli("status", "out", "--json").json["complete"]
    assert cli("status", "out").code == 0
    trigger.unlink()
    assert run(cli, toy, "instant,raising", *more, "--json").json["trained"] == 3
    assert cli("status", "out", "--json").json["complete"]


def test_a_config_of_pycil_is_read_and_the_command_line_wins(cli, toy) -> None:
    config = {**ICARL, "dataset": str(toy), "memory_size": 8, "init_cls": 3, "increment": 1}
    config |= {"T": 3.0, "lamda": 1}
    Path("icarl.json").write_text(json.dumps(config))
    more = ("--backbone", "resnet-tiny", "--device", "cpu", "--epochs", 1, "--workers", 1)
    words = ("run", "--config", "icarl.json", "--protocol", "random", "--budget", 1, "--out", "out")
    with pytest.warns(EdgecilWarning) as remarks:
        answer = cli(*words, *more, "--json")
    assert any("lamda" in str(remark.message) for remark in remarks)
    [row] = answer.json["results"][0]["runs"]
    assert [len(task) for task in row["tasks"]] == [3, 1]
    method = Experiment.open("out").identity["method icarl"]
    assert method["memory"] == {"total": 8, "per_class": None}
    assert (method["temperature"], method["schedule"]["epochs"]) == (3.0, 1)


def test_check_prints_the_plan_and_writes_nothing(cli, toy) -> None:
    words = (toy, "--method", "instant", "--out", "out", *QUICK)
    answer = cli("check", *words, "--json").json
    assert not Path("out").exists()
    assert answer["ready"]
    assert answer["methods"][0]["runs"] == 6
    assert "To train: 12 tasks" in cli("check", *words).out
    lacking = cli("check", "cub200", "--method", "l2p", "--tasks", 10)
    assert lacking.code == 1, "so that `check && run` trains nothing"
    assert "MISSING dataset cub200" in lacking.out
    assert "--root" in lacking.out


def test_usage_and_switches_beat_a_config_file() -> None:
    parser = verb_parser("run")
    usage = parser.format_help().splitlines()[0]
    assert usage == "usage: edgecil run [DATASET] --method A,B,… [options]"
    assert vars(parser.parse_args(["--no-overwrite"])) == {"overwrite": False}


def test_a_learner_that_has_not_learned_is_named_with_the_option_that_mends_it(cli) -> None:
    rng = np.random.default_rng(0)
    labels = np.arange(40) % 4
    vectors = (4.0 * np.eye(4)[labels] + rng.normal(size=(40, 4))).astype(np.float32)
    np.savez("blobs.npz", X_train=vectors, y_train=labels, X_test=vectors + 0.1, y_test=labels)
    command = ("run", "blobs.npz", "--tasks", 2, "--protocol", "random:1", "--workers", 1)
    slow = ("--backbone", "mlp", "--steps", 2, "--schedule", "learning_rate=1e-6")
    answer = cli(*command, "--method", "naive,acil", *slow, "--out", "slow")
    assert "naive has not learned its first task" in answer.out
    assert "(--steps 8)" in answer.out
    assert "acil has not learned" not in answer.out
    answer = cli(*command, "--method", "naive", "--backbone", "mlp", "--out", "trained")
    assert "has not learned" not in answer.out
