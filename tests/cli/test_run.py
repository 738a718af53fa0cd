from __future__ import annotations

import json
import shutil
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from edgecil.cli.progress import Progress
from edgecil.engine.store import Store
from tests.cli.conftest import Answer, Cli
from tests.engine import strange
from tests.io.language_server import serve
from tests.toys import save_toy

assert strange.Raising  # registered: a method that raises where it is told to

QUICK = ("--tasks", 2, "--eval", "enumerate", "--epochs", 2, "--workers", 1)


@pytest.fixture
def toy() -> Path:
    """A dataset of four classes in the working directory."""
    return save_toy(Path("toy.npz"))


def run(cli: Cli, toy: Path, method: str, *more: object) -> Answer:
    return cli("run", "--method", method, "--dataset", toy, "--out", "out", *QUICK, *more)


def test_the_answer_for_programs(cli: Cli, toy: Path) -> None:
    answer = run(cli, toy, "icarl", "--json").json
    assert (answer["method"], answer["protocol"]) == ("icarl", "enumerate")
    assert len(answer["sequences"]) == 6
    for row in answer["sequences"]:
        assert row.keys() >= {"label", "tasks", "accuracy", "a_avg", "forgetting", "matrix"}
        assert sorted(class_ for task in row["tasks"] for class_ in task) == [0, 1, 2, 3]
        assert [len(line) for line in row["matrix"]] == [1, 2]
        assert row["accuracy"] == pytest.approx(np.mean(row["matrix"][1]))
        assert row["forgetting"] == pytest.approx(row["matrix"][0][0] - row["matrix"][1][0])
        assert row["a_avg"] == pytest.approx((row["matrix"][0][0] + row["accuracy"]) / 2)
        assert row["classifiers"]["nme"] == row["accuracy"]
        assert "head" in row["classifiers"]
    assert len({str(row["tasks"]) for row in answer["sequences"]}) == 6
    found = [row["accuracy"] for row in answer["sequences"]]
    statistics = {name: answer[name] for name in ("mean", "std", "min", "max")}
    assert statistics == {
        "mean": pytest.approx(np.mean(found)),
        "std": pytest.approx(np.std(found)),
        "min": min(found),
        "max": max(found),
    }


def test_several_methods_and_protocols(cli: Cli, toy: Path) -> None:
    more = ("--eval", "random,latin", "--runs", 2, "--json")
    answer = run(cli, toy, "finetune,instant", *more).json
    assert [(table["method"], table["protocol"]) for table in answer["results"]] == [
        ("finetune", "random"),
        ("finetune", "latin"),
        ("instant", "random"),
        ("instant", "latin"),
    ]
    assert all(len(table["sequences"]) == 2 for table in answer["results"])
    assert [row["label"] for row in answer["results"][0]["sequences"]] == ["seed-0", "seed-42"]


def test_people_see_a_table_and_what_was_done(cli: Cli, toy: Path) -> None:
    answer = run(cli, toy, "instant")
    assert answer.code == 0
    assert "mean A(O)" in answer.out
    assert "12 task trainings now, 0 from before; kept in out" in answer.out
    assert "0 task trainings now, 12 from before" in run(cli, toy, "instant").out


def test_seeds_that_draw_the_same_order_are_announced(cli: Cli, toy: Path) -> None:
    answer = run(cli, toy, "instant", "--eval", "random", "--runs", 7)
    assert answer.err.count("\n") == 1
    assert answer.err.startswith("The 7 runs of random have ")
    assert "are the same" in answer.err
    assert run(cli, toy, "instant", "--eval", "latin").err == ""


def test_the_similarity_of_a_run_is_found_from_anywhere(
    cli: Cli, toy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = np.random.default_rng(0).random((4, 4))
    np.save("D.npy", values + values.T)
    assert run(cli, toy, "instant", "--eval", "edge", "--similarity", "D.npy").code == 0
    directory = Path("out").absolute()
    monkeypatch.chdir("/")
    assert "--similarity FILE" not in cli("analyze", directory, "--json").err


def test_a_refused_run_is_not_remembered(cli: Cli, toy: Path) -> None:
    for name, seed in (("A.npy", 0), ("B.npy", 1)):
        values = np.random.default_rng(seed).random((4, 4))
        np.save(name, values + values.T)
    assert run(cli, toy, "instant", "--eval", "edge", "--similarity", "A.npy").code == 0
    refused = run(cli, toy, "instant", "--eval", "edge", "--similarity", "B.npy")
    assert "protocol edge.easy" in refused.err
    with closing(Store(Path("out"))) as store:
        [config] = store.configs()
    assert config["similarity"] == str(Path("A.npy").absolute())


def test_the_same_sequence_alone_and_among_all(cli: Cli, toy: Path) -> None:
    everything = run(cli, toy, "icarl", "--json").json["sequences"]
    alone = cli(
        *("run", "--method", "icarl", "--dataset", toy, "--out", "other", *QUICK),
        *("--eval", "random", "--runs", 1, "--json"),
    ).json["sequences"][0]
    (among,) = [row for row in everything if row["tasks"] == alone["tasks"]]
    assert (among["matrix"], among["classifiers"]) == (alone["matrix"], alone["classifiers"])


def test_a_later_command_sees_its_own_sequences_and_seeds_only(cli: Cli, toy: Path) -> None:
    more = ("--eval", "random", "--json")
    three = run(cli, toy, "instant", *more, "--runs", 3, "--seeds", 2).json["sequences"]
    assert len(three) == 6
    one = run(cli, toy, "instant", *more, "--runs", 1).json["sequences"]
    assert [(row["label"], row["seed"]) for row in one] == [("seed-0", 0)]
    assert one[0]["accuracy"] == three[0]["accuracy"]


def test_seeds_repeat_each_sequence(cli: Cli, toy: Path) -> None:
    rows = run(cli, toy, "instant", "--seeds", 2, "--json").json["sequences"]
    assert [row["seed"] for row in rows] == [0, 1] * 6
    assert any(a["accuracy"] != b["accuracy"] for a, b in zip(rows[::2], rows[1::2], strict=True))


def test_more_methods_later(cli: Cli, toy: Path) -> None:
    assert run(cli, toy, "instant").code == 0
    answer = run(cli, toy, "instant,finetune")
    assert "12 task trainings now, 12 from before" in answer.out


def test_changed_settings_are_refused_and_shown(cli: Cli, toy: Path) -> None:
    assert run(cli, toy, "finetune").code == 0
    answer = run(cli, toy, "finetune", "--epochs", 3)
    assert answer.code == 2
    assert "method finetune.recipe.epochs: 2 stored, 3 given" in answer.err
    assert "--fresh" in answer.err
    assert run(cli, toy, "finetune", "--epochs", 3, "--fresh").code == 0


def test_changed_data_are_refused(cli: Cli, toy: Path) -> None:
    assert run(cli, toy, "instant").code == 0
    save_toy(toy, train=11)
    answer = run(cli, toy, "instant")
    assert answer.code == 2
    assert "dataset.sha256" in answer.err


def test_a_failing_method_leaves_the_others_alone(cli: Cli, toy: Path) -> None:
    trigger = Path("trigger")
    trigger.touch()
    Path("run.toml").write_text(
        f'[settings.raising]\nclasses = [0, 1]\nfile = "{trigger.resolve()}"\n'
    )
    words = ("instant,raising", "--config", "run.toml", "--json")
    answer = run(cli, toy, *words)
    assert answer.code == 1
    instant, raising = json.loads(answer.out)["results"]
    assert len(instant["sequences"]) == 6
    assert len(raising["sequences"]) == 4
    assert answer.err == (
        "edgecil: 2 of the trainings failed, the first (raising, 0 1) with ValueError: cannot "
        "learn (0, 1); the others are kept, and the same command tries again.\n"
    )
    trigger.unlink()
    repaired = run(cli, toy, *words).json["results"][1]
    assert len(repaired["sequences"]) == 6


def test_when_everything_fails_there_are_no_numbers(cli: Cli, toy: Path) -> None:
    Path("trigger").touch()
    settings = f'[settings.raising]\nclasses = [0, 1, 2, 3]\nfile = "{Path("trigger").resolve()}"\n'
    Path("run.toml").write_text(settings)
    words = ("raising", "--config", "run.toml", "--tasks", 1)
    answer = run(cli, toy, *words, "--json")
    assert answer.code == 1
    assert json.loads(answer.out) == {
        "method": "raising",
        "protocol": "enumerate",
        "sequences": [],
        "expected": 1,
        "found": 0,
        "failed": [{"label": "all-1", "seed": 0, "error": "ValueError: cannot learn (0, 1, 2, 3)"}],
        **dict.fromkeys(("mean", "std", "min", "max", "seed_std")),
    }
    assert run(cli, toy, *words).code == 1


def test_one_task_has_no_forgetting(cli: Cli, toy: Path) -> None:
    (row,) = run(cli, toy, "instant", "--tasks", 1, "--json").json["sequences"]
    assert row["forgetting"] is None


def test_the_command_line_wins_over_the_file(cli: Cli, toy: Path) -> None:
    Path("run.toml").write_text(
        f'methods = "finetune"\ndataset = "{toy}"\nbase = 2\nincrement = 1\n'
        'protocols = "latin"\nseeds = 2\n[training]\nepochs = 2\nlearning_rate = 0.01\n'
    )
    words = ("run", "--config", "run.toml", "--workers", 1, "--json")
    from_file = cli(*words, "--out", "file").json
    assert (from_file["method"], from_file["protocol"]) == ("finetune", "latin")
    assert [len(task) for task in from_file["sequences"][0]["tasks"]] == [2, 1, 1]
    assert {row["seed"] for row in from_file["sequences"]} == {0, 1}
    more = ("--tasks", 2, "--method", "ewc", "--eval", "random", "--seeds", 1, "--epochs", 1)
    answer = cli(*words, "--out", "line", *more).json
    assert (answer["method"], answer["protocol"]) == ("ewc", "random")
    assert [len(task) for task in answer["sequences"][0]["tasks"]] == [2, 2]
    assert {row["seed"] for row in answer["sequences"]} == {0}
    store = Store("line")
    assert store.identity()["method ewc"]["recipe"]["epochs"] == 1
    assert store.identity()["method ewc"]["recipe"]["learning_rate"] == 0.01
    store.close()


def test_rows_for_other_programs(cli: Cli, toy: Path) -> None:
    assert run(cli, toy, "instant,finetune", "--jsonl", "rows.jsonl").code == 0
    rows = [json.loads(line) for line in Path("rows.jsonl").read_text().splitlines()]
    assert len(rows) == 12
    assert {row["method"] for row in rows} == {"instant", "finetune"}


def test_ninety_sequences_train_195_nodes(cli: Cli) -> None:
    save_toy(Path("six.npz"), 6)
    words = ("run", "--method", "instant", "--dataset", "six.npz", "--tasks", 3, "--workers", 1)
    answer = cli(*words, "--eval", "enumerate", "--out", "out", "--json")
    assert len(answer.json["sequences"]) == 90
    store = Store("out")
    depths = [len(node.prefix) for node in store.done()]
    store.close()
    assert [depths.count(depth) for depth in (1, 2, 3)] == [15, 90, 90]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--method", "icral"), "Unknown method 'icral'. Did you mean 'icarl'"),
        (("--dataset", "nowhere.npz"), "There is no file nowhere.npz"),
        (("--tasks", "9"), "'tasks' parameter must be an int in [1, 4]"),
        (("--eval", "edgy"), "Unknown protocol 'edgy'"),
        (("--backbone", "vit"), "vit"),
        (("--recipe", "quick"), "Unknown recipe 'quick'"),
        (("--executor", "slurm"), "Unknown executor 'slurm'"),
        (("--workers", "0"), "--workers must be at least 1. Got 0"),
        (("--epochs", "0"), "epochs >= 1"),
        (("--seeds", "0"), "'seeds' must be at least 1"),
        (("--classes", "9"), "must be in [2, 4]"),
        (("--device", "warp"), "Device 'warp' cannot be used here"),
        (("--address", "here"), "--address is for --executor ray"),
        (("--config", "nowhere.toml"), "nowhere.toml"),
    ],
)
def test_bad_input_is_one_sentence(cli: Cli, toy: Path, words: Any, message: str) -> None:
    assert message in run(cli, toy, "instant", *words).sentence


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tasks = '2'", "'tasks' must be"),
        ("[settings.ewc]\nstrength = 1.0", "Settings are given for 'ewc', which is not being run"),
        ("[settings.finetune]\nstrength = 1.0", "Unknown setting of finetune 'strength'"),
        ("[training]\naugment = ['flop']", "Unknown augmentation step 'flop'"),
        ("[training]\nepoch = 3", "Unknown setting of training 'epoch'"),
    ],
)
def test_bad_files_are_one_sentence(cli: Cli, toy: Path, text: str, message: str) -> None:
    Path("run.toml").write_text(text)
    words = ("run", "--method", "finetune", "--dataset", toy, "--out", "out", "--eval", "latin")
    tasks = () if "tasks" in text else ("--tasks", 2)
    assert message in cli(*words, *tasks, "--config", "run.toml").sentence


def test_a_damaged_run_directory(cli: Cli, toy: Path) -> None:
    Path("out").mkdir()
    Path("out/results.sqlite").write_bytes(b"x" * 5000)
    assert "file is not a database" in run(cli, toy, "instant").sentence
    assert run(cli, toy, "instant", "--fresh").code == 0


def test_a_run_directory_of_another_format(cli: Cli, toy: Path) -> None:
    assert run(cli, toy, "instant").code == 0
    database = sqlite3.connect("out/results.sqlite")
    database.execute("PRAGMA user_version = 99")
    database.close()
    assert "another version of edgecil (format 99" in run(cli, toy, "instant").sentence


def test_fresh_takes_away_what_a_run_made_and_nothing_else(cli: Cli, toy: Path) -> None:
    Path("out").mkdir()
    Path("out/notes.txt").write_text("mine")
    assert run(cli, toy, "instant").code == 0
    assert "12 task trainings now, 0 from before" in run(cli, toy, "instant", "--fresh").out
    assert Path("out/notes.txt").read_text() == "mine"


def test_progress_on_a_terminal(cli: Cli, toy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """How many sequences, how fast, and between which accuracies; on stderr."""
    notes: list[str] = []
    advance = Progress.advance

    def watch(self: Progress, finished: Any) -> None:
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
        advance(self, finished)
        notes.append(self._bar.tasks[0].fields["note"])

    start = Progress.start

    def start_on_terminal(self: Progress, *arguments: Any) -> None:
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
        start(self, *arguments)

    monkeypatch.setattr(Progress, "start", start_on_terminal)
    monkeypatch.setattr(Progress, "advance", watch)
    answer = run(cli, toy, "instant", "--json")
    assert len(answer.json["sequences"]) == 6
    assert len(notes) == 12
    assert "6/6 sequences, instant A(O) " in notes[-1]
    assert "per minute" in notes[-1]


def test_a_config_of_pycil_is_read_and_the_command_line_wins(cli: Cli, toy: Path) -> None:
    config = {
        "prefix": "reproduce",
        "dataset": str(toy),
        "memory_size": 8,
        "memory_per_class": 20,
        "fixed_memory": False,
        "shuffle": True,
        "init_cls": 3,
        "increment": 1,
        "model_name": "icarl",
        "convnet_type": "resnet32",
        "device": ["0"],
        "seed": [1993],
        "T": 3.0,
        "lamda": 1,
    }
    Path("icarl.json").write_text(json.dumps(config))
    more = ("--backbone", "resnet-tiny", "--device", "cpu", "--epochs", 1, "--workers", 1)
    words = ("run", "--config", "icarl.json", "--eval", "random", "--runs", 1, "--out", "out")
    answer = cli(*words, *more, "--json")
    [row] = answer.json["sequences"]
    assert [len(task) for task in row["tasks"]] == [3, 1]
    assert "icarl.json: keys that edgecil has no setting for: lamda." in answer.err
    assert "prefix, shuffle, seed do nothing here" in answer.err
    with closing(Store("out")) as store:
        method, environment = store.identity()["method icarl"], store.identity()["setting"]
    assert method["memory"] == {"total": 8, "per_class": None}
    assert method["temperature"] == 3.0
    assert method["recipe"]["epochs"] == 1
    assert (environment["backbone"], environment["device"]) == ("resnet-tiny", "cpu")
    config["increment"], config["init_cls"] = 3, 2
    Path("icarl.json").write_text(json.dumps(config))
    cut = cli(*words, *more, "--classes", 3, "--fresh", "--json").json["sequences"]
    assert [len(task) for task in cut[0]["tasks"]] == [2, 1], "the last task takes what is left"


def test_a_resumed_run_asks_no_language_model_again(cli: Cli, toy: Path, monkeypatch) -> None:
    np.save("d.npy", np.corrcoef(np.random.default_rng(0).normal(size=(4, 8))))
    monkeypatch.setenv("EDGECIL_CACHE", str(Path("cache").absolute()))
    monkeypatch.setenv("EDGECIL_LLM_MODEL", "toy")
    more = ("--eval", "llm-1", "--similarity", "d.npy", "--json")
    with serve(lambda messages: "[[0, 1], [2, 3]]") as server:
        monkeypatch.setenv("OPENAI_API_KEY", "k")
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        first = run(cli, toy, "instant", *more).json
    assert json.loads(Path("out/transcripts/llm-1-hard.json").read_text())["model"] == "toy"
    shutil.rmtree("cache")
    monkeypatch.delenv("EDGECIL_LLM_MODEL")
    assert run(cli, toy, "instant", *more).json["sequences"] == first["sequences"]
    assert "set EDGECIL_LLM_MODEL" in run(cli, toy, "instant", *more, "--fresh").sentence
