"""Whole runs on a real Ray cluster of two nodes that end, stop, shrink or lie. By `make attack`."""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from edgecil.cli.main import main
from tests.attacks.ray_nodes import cluster, counts, training_workers
from tests.toys import save_toy, toy_vit
from tests.training.test_resume import finished, started, wait_for

pytestmark = [
    pytest.mark.attack,
    pytest.mark.timeout(1200),
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(not Path("/proc").is_dir(), reason="processes are found in /proc"),
]

NODES = 12

# Learns the first task at once, and any later one when the file of the gate is gone.
GATED = """
import os, time
import torch


class Gated:
    def __init__(self, gate=""):
        self.gate, self.means = gate, {}

    def fit_task(self, images, labels, classes):
        while self.means and os.path.exists(self.gate):
            time.sleep(0.02)
        for class_ in classes:
            mean = images[labels == class_].flatten(1).float().mean(0)
            self.means[class_] = mean + 40 * torch.randn(mean.shape)

    def predict(self, images):
        distances = torch.cdist(images.flatten(1).float(), torch.stack(list(self.means.values())))
        return torch.tensor(list(self.means))[distances.argmin(1)]

    def state_dict(self):
        return {"classes": list(self.means), "means": list(self.means.values())}

    def load_state_dict(self, state):
        self.means = dict(zip(state["classes"], state["means"]))
"""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    (folder / "gated.py").write_text(GATED, encoding="utf-8")
    return save_toy(folder / "toy.npz")


@pytest.fixture
def gate(data: Path) -> Iterator[Path]:
    """A gate that is closed: no run can end before it is opened."""
    path = data.with_name("gate")
    path.touch()
    yield path
    path.unlink(missing_ok=True)


@pytest.fixture(scope="module")
def undisturbed(data: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[Any, Any]:
    out = tmp_path_factory.mktemp("undisturbed") / "run"
    assert main(words(data, out, "--workers", "1")) == 0
    results = counts(out)
    assert len({str(result) for result in results.values()}) > 3, "results must be able to differ"
    return results


def words(data: Path, out: Path, *more: str) -> list[str]:
    learner = data.with_name("gated.py")
    text = f"run --method {learner}:Gated --set Gated.gate={data.with_name('gate')}"
    text += f" --dataset {data} --tasks 2 --protocol enumerate"
    return [*text.split(), "--out", str(out), *more]


def on(nodes: Any, *more: str) -> list[str]:
    return ["--executor", "ray", "--address", nodes.address, *more]


@pytest.mark.parametrize(("gone", "workers"), [("server", ["--workers", "2"]), ("node", [])])
def test_a_killed_head_ends_the_run_with_the_way_to_resume(
    data: Path,
    undisturbed: dict[Any, Any],
    gate: Path,
    tmp_path: Path,
    gone: str,
    workers: list[str],
) -> None:
    """Ray ends the process that is connected to a node that ends, without a word."""
    out = tmp_path / "run"
    with cluster() as nodes, started(words(data, out, *on(nodes, *workers))) as process:
        wait_for(lambda: finished(out) >= 1, process)
        start = time.monotonic()
        if gone == "server":
            nodes.head_node.kill_gcs_server()
        else:
            nodes.head_node.kill_all_processes(check_alive=False, allow_graceful=False)
        _, error = process.communicate(timeout=300)
        seconds = time.monotonic() - start
    assert process.returncode == 1, error
    assert "Traceback" not in error
    (sentence,) = [line for line in error.splitlines() if line.startswith("edgecil: ")]
    assert "head of the Ray cluster" in sentence
    assert "resume" in sentence
    assert seconds < 60.0
    before = finished(out)
    assert 1 <= before < NODES
    gate.unlink()
    assert main(words(data, out, "--workers", "1")) == 0
    assert counts(out) == undisturbed
    print(f"head ({gone}) killed after {before} of {NODES} results: ended in {seconds:.0f} s")


def test_a_killed_worker_a_lost_node_and_a_killed_driver(
    data: Path, undisturbed: dict[Any, Any], gate: Path, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    with cluster() as nodes:
        (other,) = [node for node in nodes.list_all_nodes() if node != nodes.head_node]
        with started(words(data, out, *on(nodes, "--workers", "2", "--retries", "3"))) as process:
            wait_for(lambda: len(training_workers(nodes)) == 2 and finished(out) >= 2, process)
            (killed,) = training_workers(nodes, nodes.head_node)
            os.kill(killed, signal.SIGKILL)
            wait_for(lambda: bool({*training_workers(nodes, nodes.head_node)} - {killed}), process)
            nodes.remove_node(other, allow_graceful=False)
            wait_for(lambda: len(training_workers(nodes)) == 1, process)
            process.kill()
        before = finished(out)
        assert 2 <= before < NODES
        gate.unlink()
        assert main(words(data, out, *on(nodes))) == 0
    assert finished(out) == NODES
    assert counts(out) == undisturbed


@pytest.mark.usefixtures("gate")
def test_a_cluster_that_lost_its_only_large_node_ends_the_run(data: Path, tmp_path: Path) -> None:
    """What it asks for was there at the start; then it waited forever."""
    out = tmp_path / "run"
    with cluster(num_cpus=2) as nodes:
        (large,) = [node for node in nodes.list_all_nodes() if node != nodes.head_node]
        options = on(nodes, "--workers", "1", "--threads", "2", "--retries", "5")
        with started(words(data, out, *options)) as process:
            wait_for(lambda: finished(out) >= 1, process)
            nodes.remove_node(large, allow_graceful=False)
            _, error = process.communicate(timeout=600)
    assert process.returncode == 1
    assert "Traceback" not in error
    assert "2 processors" in error
    assert "resume" in error
    assert finished(out) >= 1


def test_a_node_with_other_weights_and_older_instructions_gives_the_same_rows(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """9 of 15 rows were wrong with other weights, 8 of 30 with SSE4; both are sent now."""
    caches = [hub_cache(tmp_path / name, flipped=name == "other") for name in ("own", "other")]
    monkeypatch.setenv("HF_HUB_CACHE", str(caches[0]))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(caches[0]))
    learner = ["--method", "ease", "--backbone", "us/tiny", "--protocol", "enumerate"]
    command = ["run", *learner, "--dataset", str(data), "--tasks", "2", "--epochs", "4"]
    older = {
        "HF_HUB_CACHE": str(caches[1]),
        "ATEN_CPU_CAPABILITY": "default",
        "ONEDNN_MAX_CPU_ISA": "SSE41",
        "MKL_CBWR": "SSE4_1",
    }
    with cluster(env_vars=older) as nodes:
        (other,) = [node for node in nodes.list_all_nodes() if node != nodes.head_node]
        options = [*command, "--out", str(tmp_path / "run"), *on(nodes, "--workers", "2")]
        used: set[int] = set()
        with started(options) as process:
            while process.poll() is None:
                used |= set(training_workers(nodes, other))
                time.sleep(0.01)
            _, error = process.communicate()
    assert process.returncode == 0, error
    assert used, "the lying node must have trained"
    assert main([*command, "--out", str(tmp_path / "local"), "--workers", "1"]) == 0
    assert counts(tmp_path / "run") == counts(tmp_path / "local")
    rows = sum(len(nodes) for nodes in counts(tmp_path / "run").values())
    print(f"lying node: {rows} rows, 0 different")


def hub_cache(cache: Path, *, flipped: bool) -> Path:
    """A cache of the hub with the weights `us/tiny`, of which one value may differ."""
    folder = cache / "models--us--tiny" / "snapshots" / "abc"
    folder.mkdir(parents=True)
    (folder.parents[1] / "refs").mkdir()
    (folder.parents[1] / "refs" / "main").write_text("abc", encoding="utf-8")
    source = Path(toy_vit())
    shutil.copy(source.with_suffix(".json"), folder / "model.json")
    content = bytearray(source.read_bytes())
    if flipped:
        content[-2] ^= 0x40
    (folder / "model.safetensors").write_bytes(content)
    return cache
