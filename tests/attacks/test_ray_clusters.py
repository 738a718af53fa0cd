"""Ray clusters that lie, end or cannot be reached; the long attacks run by `make attack`."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pytest

import edgecil
from edgecil.engine.executors import Job, get_executor
from edgecil.engine.plan import Node
from edgecil.errors import EdgecilError, PrerequisiteError
from tests.engine.contexts import make_context


@pytest.mark.attack
@pytest.mark.timeout(600)
def test_a_lying_node_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    from ray.cluster_utils import Cluster

    copy = tmp_path / "src" / "edgecil"
    shutil.copytree(Path(edgecil.__file__).parent, copy)
    file = copy / "methods" / "seeds.py"
    file.write_text(file.read_text() + "\n# another version\n")
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    try:
        paths = os.pathsep.join([str(copy.parent), os.environ.get("PYTHONPATH", "")])
        cluster.add_node(num_cpus=1, env_vars={"PYTHONPATH": paths})
        cluster.wait_for_nodes()
        context = make_context({"instant": {}})
        with pytest.raises(PrerequisiteError, match=r"1 of 2 nodes would give other results.*code"):
            get_executor("ray", context, workers=2, address=cluster.address)
    finally:
        cluster.shutdown()


@pytest.mark.attack
@pytest.mark.timeout(600)
def test_a_killed_head_ends_in_a_sentence(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    from ray.cluster_utils import Cluster

    trigger = tmp_path / "trigger"
    trigger.touch()
    context = make_context({"sleepy": {"classes": [0, 1], "file": str(trigger)}})
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    executor = get_executor("ray", context, workers=1, address=cluster.address)
    try:
        executor.submit(Job(Node("sleepy", 0, ((0, 1),)), None, None))
        assert executor.wait(3.0) is None
        cluster.head_node.kill_gcs_server()
        start = time.monotonic()
        with pytest.raises(EdgecilError, match=r"has ended\. Finished results are stored"):
            executor.wait(60.0)
        assert time.monotonic() - start < 30.0
    finally:
        executor.close()


@pytest.mark.slow
def test_what_cannot_work_is_said_within_seconds() -> None:
    pytest.importorskip("ray")
    context = make_context({"instant": {}})
    start = time.monotonic()
    with pytest.raises(PrerequisiteError, match="Cannot reach a Ray cluster"):
        get_executor("ray", context, workers=1, address="127.0.0.1:9")
    assert time.monotonic() - start < 20.0
