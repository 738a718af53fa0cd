"""A Ray cluster of two nodes on this machine: lost workers, nodes and drivers change no result."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from edgecil.cli.main import main
from edgecil.engine.experiment import Experiment
from tests.engine.test_resume import finished, started, wait_for
from tests.toys import save_toy

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc").is_dir(), reason="processes are found in /proc"),
]


@contextlib.contextmanager
def cluster(**second: Any) -> Iterator[Any]:
    """Two raylets with one processor each, unless the second one has other options."""
    cluster_utils = pytest.importorskip("ray.cluster_utils")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    nodes = cluster_utils.Cluster(
        initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False}
    )
    try:
        nodes.add_node(**{"num_cpus": 1, **second})
        nodes.wait_for_nodes()
        yield nodes
    finally:
        sys.modules["ray"].shutdown()  # of this process, which resumed the run
        nodes.shutdown()


def counts(out: Path) -> dict[Any, Any]:
    runs = Experiment.open(out).results()
    return {run.sequence: [node.class_correct for node in run.nodes] for run in runs}


def training_workers(nodes: Any, only: Any = None) -> list[int]:
    """Processes of this cluster, or of one of its nodes, that train now, as Ray names them."""
    raylets = {
        entry.process.pid
        for node in ([only] if only else nodes.list_all_nodes())
        for entry in node.all_processes.get("raylet", [])
    }
    workers = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                status = (entry / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
                started = (entry / "cmdline").read_bytes().startswith(b"ray::_train")
                if started and int(status[1]) in raylets:
                    workers.append(int(entry.name))
    return workers


@pytest.mark.filterwarnings("ignore")
def test_a_killed_worker_a_lost_node_and_a_killed_driver(tmp_path: Path) -> None:
    data = save_toy(tmp_path / "toy.npz")

    def words(out: Path, *more: str) -> list[str]:
        text = f"run --method icarl --dataset {data} --tasks 2 --protocol enumerate --epochs 10"
        return [*text.split(), "--out", str(out), *more]

    out = tmp_path / "cluster"
    with cluster() as nodes:
        distributed = ("--executor", "ray", "--address", nodes.address, "--workers", "2")
        with started(words(out, *distributed, "--retries", "3")) as process:
            wait_for(lambda: finished(out) >= 1, process)
            wait_for(lambda: bool(training_workers(nodes)), process)
            with contextlib.suppress(ProcessLookupError, IndexError):  # it has just ended
                os.kill(training_workers(nodes)[0], signal.SIGKILL)
            done = finished(out)
            wait_for(lambda: finished(out) > done, process)
            (lost,) = [node for node in nodes.list_all_nodes() if node != nodes.head_node]
            nodes.remove_node(lost, allow_graceful=False)
            done = finished(out)
            wait_for(lambda: finished(out) > done or finished(out) >= 12, process)
            process.kill()
        before = finished(out)
        assert before >= 3
        assert main(words(out, *distributed)) == 0
    assert finished(out) == 12
    assert main(words(tmp_path / "local", "--workers", "1")) == 0
    assert counts(out) == counts(tmp_path / "local")
    assert len(counts(out)) == 6
