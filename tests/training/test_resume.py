"""A real `edgecil run`, stopped in every way there is, ends with the results it would have had."""

from __future__ import annotations

import contextlib
import os
import re
import resource
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from edgecil.cli.main import main
from edgecil.experiments.store import Store
from tests.attacks.conftest import attack_rng, strength
from tests.toys import save_toy

NODES = 12  # six orders of four classes in two tasks
EPOCHS = 8

Command = Callable[..., list[str]]


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory) -> Command:
    dataset = save_toy(tmp_path_factory.mktemp("data") / "toy.npz")

    def build(out: Path, *more: str) -> list[str]:
        words = f"run --method icarl --dataset {dataset} --tasks 2 --protocol enumerate --json"
        return [*words.split(), "--epochs", str(EPOCHS), "--out", str(out), *more]

    return build


def accuracies(out: Path) -> dict[Any, tuple[float, float]]:
    store = Store(out)
    try:
        return {
            key: (run.metric("accuracy", "nme"), run.metric("accuracy", "head"))
            for key, run in store.runs().items()
        }
    finally:
        store.close()


@pytest.fixture(scope="module")
def undisturbed(command: Command, tmp_path_factory: pytest.TempPathFactory) -> Any:
    out = tmp_path_factory.mktemp("undisturbed")
    assert main(command(out, "--workers", "1")) == 0
    results = accuracies(out)
    assert len(results) == 6
    assert len(set(results.values())) > 3, "results must be able to differ"
    return results


def finished(out: Path) -> int:
    """How many nodes a run that is under way has stored."""
    try:
        with contextlib.closing(
            sqlite3.connect(f"file:{out / 'results.sqlite'}?mode=ro", uri=True)
        ) as database:
            return int(database.execute("SELECT count(*) FROM nodes").fetchone()[0])
    except sqlite3.Error:
        return 0


@contextlib.contextmanager
def started(words: list[str]) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-m", "edgecil", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def wait_for(condition: Callable[[], bool], process: subprocess.Popen[str] | None = None) -> None:
    deadline = time.monotonic() + 300.0
    while not condition():
        assert time.monotonic() < deadline, "it took too long"
        if process is not None and process.poll() is not None:
            raise AssertionError(f"it ended too soon: {process.communicate()}")
        time.sleep(0.005)


def members(group: int) -> set[int]:
    """Processes of a group that are still alive."""
    alive = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                fields = (entry / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
                if int(fields[2]) == group and fields[0] != "Z":
                    alive.add(int(entry.name))
    return alive


def test_killed_at_any_moment_and_resumed(command, undisturbed, tmp_path) -> None:
    out = tmp_path / "run"
    rng = attack_rng("resume")
    moment, delay = rng.randint(1, 6), rng.uniform(0.0, 0.05)
    with started(command(out, "--workers", "2")) as process:
        wait_for(lambda: finished(out) >= moment, process)
        later = time.monotonic() + delay
        wait_for(lambda: time.monotonic() >= later)
        process.kill()
        process.wait()
        if Path("/proc").is_dir():
            wait_for(lambda: not members(process.pid))
    done = finished(out)
    assert moment <= done < NODES
    assert main(command(out, "--workers", "1")) == 0
    assert accuracies(out) == undisturbed
    assert finished(out) == NODES
    assert list((out / "states").iterdir()) == []


def test_ctrl_c_stops_cleanly_and_prints_how_to_resume(command, undisturbed, tmp_path) -> None:
    out = tmp_path / "run"
    with started(command(out, "--overwrite", "--workers", "2")) as process:
        wait_for(lambda: finished(out) >= 1, process)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does, workers included
        stdout, stderr = process.communicate(timeout=300)
    assert process.returncode == 130
    assert stdout == ""
    lines = stderr.splitlines()
    assert lines[-1] == "edgecil: Interrupted."
    (advice,) = [line for line in lines if "to resume" in line]
    assert str(out) in advice
    assert "without --overwrite" in advice, "which would delete the finished results"
    assert "Traceback" not in stderr
    before = finished(out)
    assert main(command(out, "--workers", "1")) == 0
    assert 1 <= before < NODES
    assert accuracies(out) == undisturbed


@pytest.mark.parametrize("executor", ["1", "2", "ray"])
def test_ctrl_c_is_quiet_at_every_moment(command, executor, tmp_path) -> None:
    """While modules are imported, workers start, tasks are trained and results are stored."""
    more = ["--workers", "2", "--executor", "ray"] if executor == "ray" else ["--workers", executor]
    if executor == "ray":
        pytest.importorskip("ray")
    rng = attack_rng(f"interrupts {executor}")
    for number in range(strength(3, 25)):
        out = tmp_path / f"run-{number % 3}"  # some are resumed
        with started(command(out, *more)) as process:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(rng.choice([rng.uniform(0.3, 4.0), rng.uniform(0.3, 15.0)]))
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGINT)
            _, stderr = process.communicate(timeout=300)
        assert process.returncode in (0, 130), stderr
        assert "Traceback" not in stderr, stderr
        assert "Exception" not in stderr, stderr
        if process.returncode == 130:
            assert stderr.splitlines()[-1] == "edgecil: Interrupted."
        assert not list(out.glob("ray-*"))
    assert main(command(out, "--workers", "1")) == 0
    assert len(accuracies(out)) == 6


@contextlib.contextmanager
def files_at_most(size: int) -> Iterator[None]:
    """A disk that is full: no file can grow beyond a size."""
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
        signal.signal(signal.SIGXFSZ, before)


@pytest.mark.parametrize(
    ("limit", "message"),
    [(200_000, "Cannot write .*states.*: File too large"), (30_000, "Cannot (use|write results)")],
)
def test_a_disk_that_is_full_while_saving(
    command, undisturbed, tmp_path, capfd, limit, message
) -> None:
    """First states do not fit; then, with less room, the database neither."""
    out = tmp_path / "run"
    words = command(out, "--workers", "1")
    if "states" in message:
        words.append("--keep-states")
    with files_at_most(limit):
        code = main(words)
    error = capfd.readouterr().err
    assert code == 1
    assert "Traceback" not in error
    assert re.search(message, error), error
    assert not list((out / "states").iterdir())
    assert main(words) == 0
    assert accuracies(out) == undisturbed
