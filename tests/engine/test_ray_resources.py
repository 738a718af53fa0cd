"""What trainings ask of a Ray cluster; its GPUs are numbers that a node was started with."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from edgecil.engine.config import ExperimentConfig, Training
from edgecil.engine.executors import ray_driver
from edgecil.engine.executors.ray_driver import Request
from edgecil.engine.prepare import prepare
from edgecil.errors import EdgecilError, PrerequisiteError, UsageError
from tests.toys import save_toy


def test_how_many_trainings_fit_on_a_node() -> None:
    node = {"CPU": 8.0, "GPU": 2.0}
    assert [Request(threads).slots(node) for threads in (1, 3, 9)] == [8, 2, 0]
    assert [Request(1, per_device=share).slots(node) for share in (1, 3, 8)] == [2, 6, 8]
    assert Request(1, per_device=2).slots({"CPU": 8.0}) == 0
    assert Request(2, per_device=4).options == {"num_cpus": 2, "num_gpus": 0.25}


def looking_driver(
    nodes: list[Any], monkeypatch: pytest.MonkeyPatch, *, grows: bool, workers: int | None = None
) -> Any:
    monkeypatch.setattr(ray_driver, "unreachable", lambda _: None)
    driver: Any = object.__new__(ray_driver.RayDriver)
    driver._ray = SimpleNamespace(nodes=lambda: nodes)
    driver._workers, driver._request, driver._grows = workers, Request(2), grows
    driver.head, driver.capacity, driver._possible = "127.0.0.1:1", workers or 1, 0.0
    return driver


@pytest.mark.parametrize(("grows", "most"), [(False, (3, 4, 1)), (True, (6, 8, 1))])
def test_the_number_of_trainings_follows_the_cluster(
    monkeypatch: pytest.MonkeyPatch, grows: bool, most: tuple[int, ...]
) -> None:
    nodes = [{"Alive": True, "Resources": {"CPU": 7.0}}]
    driver = looking_driver(nodes, monkeypatch, grows=grows)
    counts = []
    for more in (None, {"Alive": True, "Resources": {"CPU": 2.0}}):
        nodes.extend([more] if more else [])
        driver.look()
        counts.append(driver.capacity)
    nodes.clear()
    driver.look()  # one that waits makes the autoscaler start a node
    assert (*counts, driver.capacity) == most
    fixed = looking_driver(nodes, monkeypatch, grows=True, workers=7)
    fixed.look()
    assert fixed.capacity == 7


def test_a_request_that_no_remaining_node_can_satisfy(monkeypatch: pytest.MonkeyPatch) -> None:
    """At the start it is an error at once; nodes that have left may come back for a while."""
    nodes = [{"Alive": True, "Resources": {"CPU": 1.0}}]
    with pytest.raises(PrerequisiteError, match="2 processors"):
        looking_driver(nodes, monkeypatch, grows=False).look()
    driver = looking_driver(nodes, monkeypatch, grows=False, workers=1)
    nodes.append({"Alive": True, "Resources": {"CPU": 2.0}})
    driver.look()
    nodes.pop()
    driver.look()
    driver._possible -= ray_driver.PATIENCE
    with pytest.raises(EdgecilError, match=r"2 processors.*resume"):
        driver.look()


def test_a_gpu_of_the_cluster_need_not_be_on_this_machine(tmp_path: Path) -> None:
    config = ExperimentConfig(
        ("finetune",),
        str(save_toy(tmp_path / "toy.npz", train=4)),
        tasks=2,
        training={"device": "cuda"},
    )
    assert prepare(config, remote=True).context.environment.device == "cuda"
    with pytest.raises(UsageError, match="'cuda'"):
        prepare(config)
    with pytest.raises(UsageError, match="'cuda:1'"):
        prepare(replace(config, training=Training(device="cuda:1")), remote=True)
