from __future__ import annotations

import time
from pathlib import Path

import msgspec
import pytest

from edgecil.experiments import progress as progress_module
from edgecil.experiments.experiment import Experiment
from edgecil.experiments.plan import Node
from edgecil.experiments.progress import PROGRESS_FILE, ProgressWriter, RunProgress, read_progress
from edgecil.experiments.results import NodeResult
from edgecil.experiments.store import Store
from edgecil.sequences import ClassSequence, LabelledSequence
from tests.grouped import train

NODE, OTHER = Node("m", 0, ((0, 1),)), Node("m", 0, ((2, 3),))


def test_the_file_says_what_is_running_and_ends(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(progress_module, "_PERIOD", 0.01)
    with ProgressWriter(tmp_path, workers=2, shard="1/4") as writer:
        for node in (NODE, OTHER):
            writer.begin(node)
            progress, end = read_progress(tmp_path), time.monotonic() + 60.0
            while [task.node for task in progress.running] != [node]:
                assert time.monotonic() < end
                progress = read_progress(tmp_path)
            assert progress.alive
            assert progress.running[0].started <= progress.updated
            assert (progress.workers, progress.shard) == (2, "1/4")
            writer.end(node)
    progress = read_progress(tmp_path)
    assert (progress.alive, progress.ended, progress.running) == (False, True, ())


def test_a_process_without_news_was_killed() -> None:
    ages = (0.0, 5.0, 500.0)
    assert [RunProgress(time.time() - age, 1).alive for age in ages] == [True, True, False]


def test_a_damaged_file_and_a_device_are_no_progress(tmp_path, monkeypatch) -> None:
    assert read_progress(tmp_path) is None
    (tmp_path / PROGRESS_FILE).write_text("{")
    assert read_progress(tmp_path) is None
    (tmp_path / PROGRESS_FILE).unlink()
    (tmp_path / PROGRESS_FILE).symlink_to("/dev/zero")
    monkeypatch.setattr(Path, "read_bytes", lambda path: pytest.fail(f"{path} was read"))
    assert read_progress(tmp_path) is None


def test_status_from_another_process_while_a_run_is_under_way(toy) -> None:
    """One of two methods is measured on its first task; two of its trainings are under way."""
    there, back = ClassSequence([[0, 1], [2, 3]]), ClassSequence([[2, 3], [0, 1]])
    out = train(protocol="random", budget=1, one_seed=True, **toy).directory
    with Store(out) as store:
        (first,) = store.sequences()["random"]
        second = there if first.sequence != there else back
        store.add_sequences("random", [first, LabelledSequence("other", second)])
        for depth in (1, 2):
            node = Node("instant", 0, first.sequence.tasks[:depth])
            store.record(node, NodeResult({"nearest": (1,) * depth}, (4,) * depth, 100.0, 1))
    now = time.time()
    running = [{"method": "instant", "seed": 0, "tasks": [second.tasks[0]], "started": now - 40}]
    progress = {
        **msgspec.to_builtins(RunProgress(now, 4)),
        "running": running,
    }
    (out / PROGRESS_FILE).write_bytes(msgspec.json.encode(progress))
    status = Experiment.open(out).status()
    assert (status.alive, status.finished, status.planned, status.remaining) == (True, 1, 2, 2)
    assert [task.tasks for task in status.running] == [(second.tasks[0],)]
    assert status.seconds_left == pytest.approx(160.0, abs=20.0)
    (out / PROGRESS_FILE).unlink()
    status = Experiment.open(out).status()
    assert (status.alive, status.running) == (False, ())
    assert status.seconds_left == pytest.approx(200.0)
    with Store(out) as store:
        store.add_config({**store.configs()[0], "method": ["instant", "unborn"]})
    status = Experiment.open(out).status()
    assert status.remaining == 6
    assert status.seconds_left == pytest.approx(600.0), "as slow as the measured method"
    assert repr(status) == f"<Status of {out}: {status.finished} of {status.planned} runs>"
    lines = str(status).splitlines()
    assert len(lines) <= 5
    assert lines[1].count("#") == 40 * 2 // 8
    assert "10 min" in lines[-1]
