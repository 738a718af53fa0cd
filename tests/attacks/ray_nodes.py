"""A Ray cluster of two nodes on this machine."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from edgecil.experiments.experiment import Experiment


@contextlib.contextmanager
def cluster(head: dict[str, Any] | None = None, **second: Any) -> Iterator[Any]:
    """Two raylets with one processor each, unless the second one has other options.

    With options of the head there is no second one.
    """
    cluster_utils = pytest.importorskip("ray.cluster_utils")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    options = {"num_cpus": 1, "include_dashboard": False, **(head or {})}
    nodes = cluster_utils.Cluster(initialize_head=True, head_node_args=options)
    try:
        if head is None:
            nodes.add_node(**{"num_cpus": 1, **second})
            nodes.wait_for_nodes()
        yield nodes
    finally:
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
                started = (entry / "cmdline").read_bytes().startswith(b"ray::train")
                if started and int(status[1]) in raylets:
                    workers.append(int(entry.name))
    return workers
