"""`edgecil external` with programs that train well, badly, or not at all."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from edgecil.experiments import Experiment
from tests.cli.conftest import Answer, Cli
from tests.interop.test_external import is_alive, program, wait_until
from tests.paper.language_server import Messages, serve


def external(cli: Cli, command: str, *more: object) -> Answer:
    asked = ("--classes", 4, "--tasks", 2, "--protocol", "enumerate", "--out", "out", *more)
    return cli("external", "--command", command, *asked)


STUBBORN = "signal.signal(signal.SIGTERM, signal.SIG_IGN)"


@pytest.mark.parametrize(
    ("number", "deaf"),
    [(signal.SIGINT, ""), (signal.SIGTERM, ""), (signal.SIGHUP, ""), (signal.SIGINT, STUBBORN)],
    ids=["Ctrl-C", "SIGTERM", "SIGHUP", "Ctrl-C with a program that ignores SIGTERM"],
)
def test_an_interrupt_stops_the_programs_and_keeps_finished_runs(number, deaf) -> None:
    command = program(
        f"{deaf}\nimport time\n"
        "if first: open('pid.txt', 'w').write(str(os.getpid())); time.sleep(60)"
    )
    words = ["external", "--command", command, "--classes", "2", "--tasks", "2"]
    words += ["--protocol", "enumerate", "--out", "out"]
    start = "import sys, edgecil.interop.external as p; p.GRACE = 0.2; "
    start += "from edgecil.cli.main import main; sys.exit(main())"
    edgecil = subprocess.Popen(
        [sys.executable, "-c", start, *words], stderr=subprocess.PIPE, text=True
    )
    while not (Path("pid.txt").exists() and Path("pid.txt").read_text(encoding="utf-8")):
        assert edgecil.poll() is None
        time.sleep(0.02)
    edgecil.send_signal(number)
    _, err = edgecil.communicate(timeout=300)
    assert edgecil.returncode == (130 if number == signal.SIGINT else -number)
    assert ("out" in err) == (number == signal.SIGINT)
    wait_until(lambda: not is_alive(int(Path("pid.txt").read_text(encoding="utf-8"))))
    assert len(Experiment.open("out").results()) == 1


def test_a_language_models_answers_are_stored_and_not_requested_again(cli, monkeypatch) -> None:
    def answer(messages: Messages) -> str:
        hard = "as hard as possible" in messages[0]["content"]
        return "[[0, 1], [2, 3]]" if hard else "[[0, 2], [1, 3]]"

    np.save("vectors.npy", np.eye(4) + 0.1 * np.arange(4)[:, None])
    monkeypatch.setenv("EDGECIL_CACHE", str(Path("cache").absolute()))
    monkeypatch.setenv("EDGECIL_LLM_MODEL", "toy")
    asked = ("--command", program(), "--embeddings", "vectors.npy", "--tasks", 2)
    asked = ("external", *asked, "--protocol", "llm-1", "--out", "out", "--json")
    with serve(answer) as server:
        monkeypatch.setenv("OPENAI_API_KEY", "secret")
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        first = cli(*asked).json
    assert len(server.requests) == 2
    kept = {
        path.name: path.read_text(encoding="utf-8") for path in Path("out/transcripts").iterdir()
    }
    assert set(kept) == {"llm-1-hard.json", "llm-1-easy.json"}
    assert json.loads(kept["llm-1-hard.json"])["messages"][1]["content"] == "[[0, 1], [2, 3]]"
    assert not any("secret" in text for text in kept.values())
    assert Experiment.open("out").record().identity.protocols["llm-1"]["model"] == "toy"
    shutil.rmtree("cache")
    for name in ("OPENAI_API_KEY", "EDGECIL_LLM_MODEL"):
        monkeypatch.delenv(name)
    again = cli(*asked).json
    assert again["results"] == first["results"]
    assert "EDGECIL_LLM_MODEL" in cli(*asked, "--overwrite").sentence
