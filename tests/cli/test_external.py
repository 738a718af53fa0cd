"""`edgecil external` with programs that train well, badly, or not at all."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from edgecil.engine.store import Store
from tests.cli.conftest import Answer, Cli
from tests.io.language_server import Messages, serve

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
    """A command that trains: right answers tell which classes a task has."""
    Path("train.py").write_text(TRAIN.format(extra=extra))
    return f"{shlex.quote(sys.executable)} train.py {{order_file}} {{result_file}} {{seed}}"


def external(cli: Cli, command: str, *more: object) -> Answer:
    asked = ("--classes", 4, "--tasks", 2, "--eval", "enumerate", "--out", "out", *more)
    return cli("external", "--command", command, *asked)


def trained() -> list[str]:
    return Path("ran.txt").read_text().splitlines() if Path("ran.txt").exists() else []


def test_every_sequence_is_trained_once_with_its_own_order(cli: Cli) -> None:
    answer = external(cli, program(), "--method", "mine", "--json").json
    assert (answer["method"], answer["protocol"], answer["found"]) == ("mine", "enumerate", 6)
    assert len(set(trained())) == len(trained()) == 6
    for row in answer["sequences"]:
        sums = [10 * sum(task) + 1 for task in row["tasks"]]
        assert row["accuracy"] == pytest.approx(sum(sums) / 2 / 2)
        assert row["matrix"] == [[sums[0] / 2], [sums[0] / 2, sums[1] / 2]]
        assert row["seconds"] > 0
        assert row["peak_memory"] > 1_000_000


def test_the_same_command_does_nothing_twice_and_another_is_refused(cli: Cli) -> None:
    command = program()
    assert "6 sequences trained now, 0 from before" in external(cli, command).out
    assert "0 sequences trained now, 6 from before" in external(cli, command).out
    refused = external(cli, command + " --faster")
    assert refused.code == 2
    assert "method external.command" in refused.err
    assert len(trained()) == 6
    again = external(cli, command, "--fresh", "--eval", "random", "--runs", 1)
    assert "1 sequences trained now" in again.out


def test_seeds_repeat_each_sequence(cli: Cli) -> None:
    answer = external(cli, program(), "--seeds", 2, "--workers", 2, "--json").json
    assert [row["seed"] for row in answer["sequences"]] == [0, 1] * 6
    assert len(trained()) == 12


def test_one_failure_is_recorded_with_its_last_words_and_the_others_go_on(cli: Cli) -> None:
    command = program("if first == 2: raise MemoryError('CUDA out of memory')")
    answer = external(cli, command)
    assert answer.code == 1
    assert "1 of the trainings failed" in answer.err
    assert "exit code 1; its last words: MemoryError: CUDA out of memory" in answer.err
    assert "5 sequences trained now" in answer.out
    store = Store("out")
    [(node, (error, trace))] = store.failures().items()
    store.close()
    assert node.prefix == ((2, 3), (0, 1))
    assert "MemoryError" in error
    assert "training on [2, 3, 0, 1]" in trace
    again = external(cli, program())
    assert "1 sequences trained now, 5 from before" in again.out


ENDS = {
    "killed": ("os.kill(os.getpid(), signal.SIGKILL)", "SIGKILL (often: out of memory)"),
    "silent": ("os._exit(3)", "exit code 3"),
    "no result": ("sys.exit()", "ended well, but left no result file"),
    "no result, but words": (
        "print('disk full'); sys.exit()",
        "left no result file; its last words: disk full",
    ),
    "half a result": (
        "open(result_file, 'w').write('{'); sys.exit()",
        "result cannot be used",
    ),
}


@pytest.mark.parametrize(("extra", "words"), ENDS.values(), ids=ENDS)
def test_however_a_program_ends_it_is_told(cli: Cli, extra, words) -> None:
    asked = ("--classes", 2, "--tasks", 2, "--eval", "random", "--runs", 1, "--out", "out")
    answer = cli("external", "--command", program(extra), *asked)
    assert answer.code == 1
    assert words in answer.err


def test_a_result_of_an_earlier_attempt_is_not_taken_for_a_new_one(cli: Cli) -> None:
    external(cli, program(), "--runs", 1, "--eval", "random")
    assert len(list(Path("out").glob("trainings/*/result.json"))) == 1
    answer = external(cli, program("sys.exit()"), "--runs", 1, "--eval", "random", "--fresh")
    assert "left no result" in answer.err


def test_a_result_with_other_classifiers_than_the_first_is_a_failure(cli: Cli) -> None:
    by_classifier = (
        "if first == 2:\n"
        "    json.dump({'accuracy': {'nme': 50}}, open(result_file, 'w')); sys.exit()"
    )
    for trained_now in (5, 0):
        answer = external(cli, program(by_classifier))
        assert "1 of the trainings failed" in answer.err
        assert "has the classifiers nme where the first one has main" in answer.err
        assert f"{trained_now} sequences trained now" in answer.out


def test_a_program_that_is_not_there(cli: Cli) -> None:
    answer = external(cli, "no-such-program {order_file} {result_file}")
    assert "6 of the trainings failed" in answer.err
    assert "'no-such-program' cannot be started: No such file" in answer.err


def test_a_chosen_subset_is_named_by_the_datasets_own_ids(cli: Cli) -> None:
    asked = ("cifar100", "--classes", 4, "--classes-seed", 42, "--tasks", 2, "--eval", "edge")
    answer = cli("external", "--command", program(), *asked, "--out", "out")
    assert answer.code == 1, "the totals are too small for these ids"
    order = json.loads(next(Path("out").glob("trainings/*/order.json")).read_text())
    from edgecil.classes import select_classes

    assert sorted(order["order"]) == select_classes(100, count=4, seed=42).tolist()


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (("--command", "train {order_file}"), "must say where its {result_file} goes"),
        (("--command", "train 'x"), "--command cannot be read"),
        (("--eval", "edgy"), "Unknown protocol 'edgy'"),
        (("--workers", 0), "--workers must be at least 1"),
        (("--timeout", 0), "--timeout must be a number of seconds above 0"),
        (("--seeds", 0), "--seeds must be at least 1"),
        (("--tasks", 3), "4 classes do not divide"),
    ],
)
def test_nonsense_is_refused_before_anything_is_trained(cli: Cli, more, sentence) -> None:
    assert sentence in external(cli, program(), *more).sentence
    assert trained() == []


def test_without_classes_it_asks_for_them(cli: Cli) -> None:
    asked = ("--command", program(), "--tasks", 2, "--eval", "random", "--out", "out")
    assert "Say which classes there are" in cli("external", *asked).sentence


def test_a_training_that_takes_too_long_has_failed_and_the_others_go_on(cli: Cli) -> None:
    slow = "import time\nif first == 2: print('thinking', flush=True); time.sleep(60)"
    answer = external(cli, program(slow), "--timeout", 2, "--workers", 2)
    assert answer.code == 1
    assert "was stopped after 2 seconds; its last words: thinking" in answer.err
    assert "5 sequences trained now" in answer.out


STUBBORN = "signal.signal(signal.SIGTERM, signal.SIG_IGN)"


@pytest.mark.parametrize(
    ("number", "deaf"),
    [(signal.SIGINT, ""), (signal.SIGTERM, ""), (signal.SIGHUP, ""), (signal.SIGINT, STUBBORN)],
    ids=["Ctrl-C", "SIGTERM", "SIGHUP", "Ctrl-C with a program that is deaf to SIGTERM"],
)
def test_whoever_ends_us_ends_the_programs_too_and_keeps_what_is_finished(number, deaf) -> None:
    command = program(
        f"{deaf}\nimport time\n"
        "if first: open('pid.txt', 'w').write(str(os.getpid())); time.sleep(60)"
    )
    words = ["external", "--command", command, "--classes", "2", "--tasks", "2"]
    words += ["--eval", "enumerate", "--out", "out"]
    start = "import sys, edgecil.interop.process as p; p.GRACE = 0.2; "
    start += "from edgecil.cli.main import main; sys.exit(main())"
    edgecil = subprocess.Popen(
        [sys.executable, "-c", start, *words], stderr=subprocess.PIPE, text=True
    )
    while not (Path("pid.txt").exists() and Path("pid.txt").read_text()):
        assert edgecil.poll() is None
        time.sleep(0.02)
    edgecil.send_signal(number)
    _, err = edgecil.communicate(timeout=60)
    assert edgecil.returncode == 130
    assert "what is finished is kept in out" in err
    with pytest.raises(ProcessLookupError):
        os.kill(int(Path("pid.txt").read_text()), 0)
    store = Store("out")
    assert len(store.whole_runs()) == 1
    store.close()


def test_signals_mean_again_what_they_did(cli: Cli) -> None:
    before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGHUP)
    external(cli, program(), "--eval", "random", "--runs", 1)
    assert (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGHUP)) == before


def test_what_a_language_model_answered_is_kept_with_the_run_and_not_asked_again(
    cli: Cli, monkeypatch
) -> None:
    def answer(messages: Messages) -> str:
        hard = "as hard as possible" in messages[0]["content"]
        return "[[0, 1], [2, 3]]" if hard else "[[0, 2], [1, 3]]"

    np.save("vectors.npy", np.eye(4) + 0.1 * np.arange(4)[:, None])
    monkeypatch.setenv("EDGECIL_CACHE", str(Path("cache").absolute()))
    monkeypatch.setenv("EDGECIL_LLM_MODEL", "toy")
    asked = ("--command", program(), "--embeddings", "vectors.npy", "--tasks", 2)
    asked = ("external", *asked, "--eval", "llm-1", "--out", "out", "--json")
    with serve(answer) as server:
        monkeypatch.setenv("OPENAI_API_KEY", "secret")
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        first = cli(*asked).json
    assert len(server.requests) == 2
    kept = {path.name: path.read_text() for path in Path("out/transcripts").iterdir()}
    assert set(kept) == {"llm-1-hard.json", "llm-1-easy.json"}
    assert json.loads(kept["llm-1-hard.json"])["messages"][1]["content"] == "[[0, 1], [2, 3]]"
    assert not any("secret" in text for text in kept.values())
    store = Store("out")
    assert store.identity()["protocol llm-1"] == {"model": "toy"}
    store.close()
    shutil.rmtree("cache")
    for name in ("OPENAI_API_KEY", "EDGECIL_LLM_MODEL"):
        monkeypatch.delenv(name)
    again = cli(*asked).json
    assert again["sequences"] == first["sequences"]
    assert "set EDGECIL_LLM_MODEL" in cli(*asked, "--fresh").sentence
