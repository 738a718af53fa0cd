"""What trainings ask of a Ray cluster; its GPUs are numbers that a node was started with."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from edgecil.engine.config import ExperimentConfig
from edgecil.engine.executors.ray_cluster import Request
from edgecil.engine.executors.ray_driver import RayDriver
from edgecil.engine.prepare import prepare
from edgecil.errors import UsageError
from tests.toys import save_toy


def test_how_many_trainings_fit_on_a_node() -> None:
    node = {"CPU": 8.0, "GPU": 2.0}
    assert [Request(threads).slots(node) for threads in (1, 3, 9)] == [8, 2, 0]
    assert [Request(1, per_device=share).slots(node) for share in (1, 3, 8)] == [2, 6, 8]
    assert Request(1, per_device=2).slots({"CPU": 8.0}) == 0
    assert Request(2, per_device=4).options == {"num_cpus": 2, "num_gpus": 0.25}


def test_the_number_of_trainings_follows_the_cluster() -> None:
    nodes = [{"Alive": True, "Resources": {"CPU": 3.0}}]
    driver = object.__new__(RayDriver)
    driver._ray = SimpleNamespace(nodes=lambda: nodes)
    driver._workers, driver._request = None, Request(1)

    def count(*, grows: bool) -> int:
        driver._grows, driver._counted = grows, 0.0
        return driver.capacity

    assert (count(grows=False), count(grows=True)) == (3, 6)
    nodes.append({"Alive": True, "Resources": {"CPU": 2.0}})
    assert driver.capacity == 6, "nodes are counted every few seconds"
    assert (count(grows=False), count(grows=True)) == (5, 10)
    nodes.clear()
    assert count(grows=True) == 1, "one that waits makes the autoscaler start a node"
    driver._workers = 7
    assert count(grows=True) == 7


def test_a_gpu_of_the_cluster_need_not_be_on_this_machine(tmp_path: Path) -> None:
    config = ExperimentConfig(
        ("finetune",), str(save_toy(tmp_path / "toy.npz", train=4)), tasks=2, device="cuda"
    )
    assert prepare(config, remote=True).context.environment.device == "cuda"
    with pytest.raises(UsageError, match="'cuda'"):
        prepare(config)
    with pytest.raises(UsageError, match="'cuda:1'"):
        prepare(replace(config, device="cuda:1"), remote=True)
