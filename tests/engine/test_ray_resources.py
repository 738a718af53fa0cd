"""What trainings ask of a Ray cluster; its GPUs are numbers that a node was started with."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from edgecil.engine.config import ExperimentConfig
from edgecil.engine.executors import Job, get_executor
from edgecil.engine.executors.ray import RayExecutor
from edgecil.engine.executors.ray_cluster import Request
from edgecil.engine.plan import Node
from edgecil.engine.prepare import prepare
from edgecil.errors import PrerequisiteError, UsageError
from tests.engine import fake_gpu
from tests.engine.contexts import make_context
from tests.toys import save_toy


def test_how_many_trainings_fit_on_a_node() -> None:
    node = {"CPU": 8.0, "GPU": 2.0}
    assert [Request(threads).slots(node) for threads in (1, 3, 9)] == [8, 2, 0]
    assert [Request(1, per_device=share).slots(node) for share in (1, 3, 8)] == [2, 6, 8]
    assert Request(1, per_device=2).slots({"CPU": 8.0}) == 0
    assert Request(2, per_device=4).options == {"num_cpus": 2, "num_gpus": 0.25}


def test_the_number_of_trainings_follows_the_cluster() -> None:
    nodes = [{"Alive": True, "Resources": {"CPU": 3.0}}]
    executor = object.__new__(RayExecutor)
    executor._ray = SimpleNamespace(nodes=lambda: nodes)
    executor._workers, executor._request = None, Request(1)
    executor._head = SimpleNamespace(is_reachable=lambda: True)  # type: ignore[assignment]

    def count(*, grows: bool) -> int:
        executor._grows, executor._counted = grows, 0.0
        return executor.capacity

    assert (count(grows=False), count(grows=True)) == (3, 6)
    nodes.append({"Alive": True, "Resources": {"CPU": 2.0}})
    assert executor.capacity == 6, "nodes are counted every few seconds"
    assert (count(grows=False), count(grows=True)) == (5, 10)
    nodes.clear()
    assert count(grows=True) == 1, "one that waits makes the autoscaler start a node"
    executor._workers = 7
    assert count(grows=True) == 7


def test_a_gpu_of_the_cluster_need_not_be_on_this_machine(tmp_path: Path) -> None:
    config = ExperimentConfig(
        ("finetune",), str(save_toy(tmp_path / "toy.npz", train=4)), tasks=2, device="cuda"
    )
    assert prepare(config, remote=True).context.environment.device == "cuda"
    with pytest.raises(UsageError, match="Device 'cuda' cannot be used"):
        prepare(config)
    with pytest.raises(UsageError, match="Device 'cuda:1' cannot be used"):
        prepare(replace(config, device="cuda:1"), remote=True)


@contextmanager
def cluster(**resources: Any) -> Iterator[str]:
    """One node; its address."""
    cluster_utils = pytest.importorskip("ray.cluster_utils")
    nodes = cluster_utils.Cluster(
        initialize_head=True, head_node_args={"include_dashboard": False, **resources}
    )
    try:
        yield nodes.address
    finally:
        nodes.shutdown()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_trainings_share_a_gpu_of_a_cluster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two on one GPU at the same time, although this process has none."""
    asked = "edgecil.engine.executors.ray._gpu_type"
    context = make_context({"visible-gpu": {"folder": str(tmp_path), "together": 2}})
    on_gpu = replace(context, environment=replace(context.environment, device="cuda"))
    monkeypatch.setenv(fake_gpu.VARIABLE, "1")  # for the nodes: this module is imported already
    with cluster(num_cpus=2, num_gpus=1) as address:
        monkeypatch.setattr(asked, fake_gpu.unusable_gpu)
        with pytest.raises(PrerequisiteError, match="offers a GPU that torch cannot use"):
            get_executor("ray", on_gpu, workers=None, address=address)
        monkeypatch.setattr(asked, fake_gpu.gpu_type)
        executor = get_executor("ray", on_gpu, workers=None, address=address, per_device=2)
        with closing(executor):
            assert (executor.capacity, executor.identity) == (2, {"gpu": fake_gpu.GPU})
            for class_ in range(2):
                executor.submit(Job(Node("visible-gpu", 0, ((class_,),)), None, None))
            outcomes = [executor.wait() for _ in range(2)]
        executor.close()
        assert not sys.modules["ray"].is_initialized(), "closing again starts no private cluster"
    assert all(it is not None and it.outcome.error is None for it in outcomes), outcomes
    used = [path.read_text(encoding="utf-8") for path in tmp_path.iterdir()]
    assert sorted(used) == ["0", "0"]
