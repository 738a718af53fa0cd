"""What trainings ask of a Ray cluster; its GPUs are numbers that a node was started with."""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from edgecil.errors import EdgecilError, PrerequisiteError, UsageError
from edgecil.experiments.config import ExperimentConfig, Training
from edgecil.training.executors import ray
from edgecil.training.executors.ray import RayDriver, outside_working_directory, slots
from edgecil.training.loading import prepare
from tests.toys import save_toy


def test_how_many_trainings_fit_on_a_node() -> None:
    node = {"CPU": 8.0, "GPU": 2.0}
    assert [slots(node, threads, None) for threads in (1, 3, 9)] == [8, 2, 0]
    assert [slots(node, 1, share) for share in (1, 3, 8)] == [2, 6, 8]
    assert slots({"CPU": 8.0}, 1, 2) == 0


def looking_driver(
    nodes: list[Any], monkeypatch: pytest.MonkeyPatch, workers: int | None = None
) -> Any:
    monkeypatch.setattr(ray, "unreachable", lambda _: None)
    driver: Any = object.__new__(RayDriver)
    driver._ray = SimpleNamespace(nodes=lambda: nodes)
    driver._workers, driver._threads, driver._per_device = workers, 2, None
    driver._head, driver._possible = "127.0.0.1:1", time.monotonic()
    return driver


def test_the_number_of_trainings_follows_the_cluster(monkeypatch) -> None:
    """One waits, which makes an autoscaler start a node."""
    nodes: list[Any] = []
    driver, fixed = looking_driver(nodes, monkeypatch), looking_driver(nodes, monkeypatch, 7)
    counts = []
    for alive, processors in ((True, 7.0), (True, 2.0), (False, 8.0)):
        nodes.append({"Alive": alive, "Resources": {"CPU": processors}})
        driver.look()
        fixed.look()
        counts.append((driver.capacity, fixed.capacity))
    nodes.clear()
    driver.look()
    assert (counts, driver.capacity) == ([(4, 7), (5, 7), (5, 7)], 1)


def test_a_request_that_no_node_can_satisfy_ends_after_the_deadline(monkeypatch) -> None:
    nodes = [{"Alive": True, "Resources": {"CPU": 1.0}}]
    driver = looking_driver(nodes, monkeypatch, 1)
    driver.look()
    driver._possible -= ray.DEADLINE
    with pytest.raises(EdgecilError, match=r"2 processors.*resume"):
        driver.look()


def test_a_gpu_of_the_cluster_need_not_be_on_this_machine(tmp_path) -> None:
    config = ExperimentConfig(
        ("finetune",),
        str(save_toy(tmp_path / "toy.npz", train=4)),
        tasks=2,
        protocol=("random",),
        training={"device": "cuda"},
    )
    assert prepare(config, remote=True).context.environment.device == "cuda"
    with pytest.raises(UsageError, match="'cuda'"):
        prepare(config)
    with pytest.raises(UsageError, match="'cuda:1'"):
        prepare(replace(config, training=Training(device="cuda:1")), remote=True)


def test_ray_is_given_the_working_directory_only_if_python_searches_it(
    tmp_path, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path / "other")])
    with outside_working_directory():
        assert Path.cwd() == Path(sys.prefix).resolve()
    assert Path.cwd() == tmp_path.resolve()
    for entry in ("", str(tmp_path)):
        monkeypatch.setattr(sys, "path", [entry])
        with outside_working_directory():
            assert Path.cwd() == tmp_path.resolve()


def test_a_machine_without_shared_memory_is_told_before_ray_starts(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", SimpleNamespace())
    monkeypatch.setattr(ray, "_MEMORY", Path("/"))
    monkeypatch.setattr(ray.os, "access", lambda path, mode: path != Path("/"))
    private: Any = SimpleNamespace(files="/files")
    with pytest.raises(PrerequisiteError, match="requires a folder / that can be written"):
        RayDriver(b"", 1, None, 1, None, private=private)
