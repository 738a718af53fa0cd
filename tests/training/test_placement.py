"""Jobs and devices; the devices are fakes, or the processor under several names."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

import edgecil
from edgecil.errors import UsageError
from edgecil.experiments.plan import Node
from edgecil.experiments.store import Store
from edgecil.methods.task import Scenario
from edgecil.training.executors import placement
from edgecil.training.executors.local import WorkerPool
from edgecil.training.executors.placement import Placement, expand_devices, place
from edgecil.training.node_training import train_node
from edgecil.training.scheduler import execute
from tests.grouped import grouped
from tests.toys import save_toy
from tests.training.contexts import ORDERS, make_context, plan_of
from tests.training.fake_gpu import on_processor

GB = 2**30


def two(**options: Any) -> Placement:
    room = {"cuda:0": 8 * GB, "cuda:1": 24 * GB}
    return Placement(tuple(room), most=6, free=room.__getitem__, **options)


def fill(placing: Placement, count: int) -> list[str | None]:
    running: Counter[str] = Counter()
    chosen = []
    for _ in range(count):
        device = placing.choose(running)
        chosen.append(device)
        if device is not None:
            running[device] += 1
    return chosen


def test_jobs_go_to_the_device_with_the_fewest_and_then_to_the_larger_one() -> None:
    placing = two(per_device=2)
    assert placing.capacity == 4
    assert fill(placing, 5) == ["cuda:1", "cuda:0", "cuda:1", "cuda:0", None]
    assert placing.choose({"cuda:1": 2}) == "cuda:0"
    assert placing.choose({"cuda:0": 1}) == "cuda:1"
    placing.learn("cuda:0", 7 * GB)
    assert placing.limits == {"cuda:0": 2, "cuda:1": 2}, "a given number is kept"


def test_a_gpu_starts_with_one_job_whose_memory_determines_the_number() -> None:
    placing = two()
    assert placing.limits == {"cuda:0": 1, "cuda:1": 1}
    placing.learn("cuda:0", 3 * GB)
    assert placing.limits == {"cuda:0": 2, "cuda:1": 1}, "2.06 of 3.5 GB fit into 90 % of 8 GB"
    placing.learn("cuda:1", 3 * GB)
    assert placing.limits == {"cuda:0": 2, "cuda:1": 6}, "6.2 fit"
    placing.learn("cuda:0", GB)
    assert placing.limits["cuda:0"] == 2, "the largest job counts"
    placing.learn("cuda:0", 4 * GB)
    assert placing.limits["cuda:0"] == 1, "later tasks need more"
    small = two()
    small.learn("cuda:0", 100 * GB)
    assert small.limits["cuda:0"] == 1
    processor = Placement(("cpu",), most=8, free=lambda name: 10 * GB)
    assert processor.capacity == 8, "a processor starts with all cores"
    processor.learn("cpu", 2 * GB)
    assert processor.capacity == 4


def test_a_context_is_assumed_until_a_process_alone_on_its_gpu_shows_it() -> None:
    placing = two()
    placing.learn("cuda:0", GB)
    assert placing.limits["cuda:0"] == 4, "4.8 of 1.5 GB fit into 90 % of 8 GB"
    placing.learn("cuda:0", GB, room=int(7.9 * GB))
    assert placing.limits["cuda:0"] == 6, "6.5 of 1.1 GB fit"
    placing.learn("cuda:0", GB, room=6 * GB)
    assert placing.limits == {"cuda:0": 2, "cuda:1": 1}, "2.4 of 3 GB fit, on this card alone"
    placing.learn("cuda:0", GB, room=9 * GB)
    assert placing.limits["cuda:0"] == 2, "another program has freed memory, which shows nothing"


def test_a_worker_measures_what_torch_can_have_of_its_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    context = make_context({"instant": {}})
    context = replace(context, environment=replace(context.environment, device="cuda"))
    monkeypatch.setattr(Scenario, "on", on_processor)
    for name, value in {
        "reset_peak_memory_stats": None,
        "max_memory_reserved": 3 * GB,
        "memory_reserved": 2 * GB,
        "mem_get_info": (5 * GB, 8 * GB),
    }.items():
        monkeypatch.setattr(torch.cuda, name, lambda value=value: value)
    outcome, _ = train_node(context, Node("instant", 0, ((0, 1),)), None, keep=False)
    assert (outcome.memory, outcome.room) == (3 * GB, 7 * GB), "its context has 1 of 8 GB"


@pytest.mark.parametrize("per_device", [None, 3])
def test_running_out_of_memory_lowers_the_number_of_that_card_for_good(
    per_device: int | None,
) -> None:
    placing = two(per_device=per_device)
    for device in placing.devices:
        placing.learn(device, GB)
    before = placing.limits["cuda:1"]
    assert placing.lower("cuda:0", 3)
    assert placing.limits == {"cuda:0": 2, "cuda:1": before}
    placing.learn("cuda:0", GB)
    assert placing.limits["cuda:0"] == 2
    assert not placing.lower("cuda:0", 1), "alone there is nobody to make room"
    assert placing.limits["cuda:0"] == 2
    placing.learn("cuda:1", 12 * GB)
    assert placing.limits["cuda:1"] == (3 if per_device else 1), "the other card is still measured"


@pytest.mark.slow
@pytest.mark.usefixtures("quick_workers")
def test_a_task_without_memory_is_repeated_with_fewer_jobs_beside_it(tmp_path: Path) -> None:
    placing = Placement(("cpu:0",), most=2, per_device=2)
    lock = tmp_path / "lock"
    pool = WorkerPool(make_context({"crowded": {"file": str(lock)}}), placing)
    with Store(tmp_path / "run") as store:
        summary = execute(plan_of("crowded"), store, pool)
    assert (summary.trained, summary.failed) == (12, ())
    assert placing.limits == {"cpu:0": 1}


@pytest.mark.slow
@pytest.mark.usefixtures("quick_workers")
def test_a_task_that_needs_more_than_a_whole_device_fails(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    lock.touch()
    placing = Placement(("cpu",), most=1, per_device=1)
    pool = WorkerPool(make_context({"crowded": {"file": str(lock)}}), placing)
    with Store(tmp_path / "run") as store:
        summary = execute(plan_of("crowded", sequences=ORDERS[:1]), store, pool)
        (failure,) = store.failures().values()
    assert summary.trained == 0
    assert failure[0].startswith("OutOfMemoryError")


def test_what_a_user_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(placement, "cores", lambda: 12)
    monkeypatch.setattr(placement, "choose_device", lambda name: name)
    monkeypatch.setattr(placement, "free_on", lambda name: GB)
    default: dict[str, Any] = {"workers": None, "per_device": None, "threads": 1}
    assert place(None, **default).limits == {"cpu": 12}
    assert place(None, **{**default, "threads": 5}).limits == {"cpu": 2}
    three = place(("cuda:1", "cuda:3"), **{**default, "workers": 3})
    assert (three.limits, three.capacity) == ({"cuda:1": 2, "cuda:3": 2}, 3)
    assert fill(three, 4).count(None) == 1
    one = place(("cuda:1", "cuda:3"), **{**default, "workers": 1})
    assert fill(one, 2).count(None) == 1
    assert place(("cuda",), **{**default, "per_device": 2}).limits == {"cuda": 2}
    with pytest.raises(UsageError, match="not both"):
        place(None, workers=2, per_device=2, threads=1)


def test_all_gpus_and_one_that_does_not_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    for devices, message in ((("all",), "no GPU"), (("cpu", "cuda:7"), "Device 'cuda:7'")):
        with pytest.raises(UsageError, match=message):
            expand_devices(devices)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert expand_devices(("all",)) == ("cuda:0", "cuda:1")
    assert expand_devices(("cpu",)) == ("cpu",)


def test_devices_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    dataset = save_toy(tmp_path / "toy.npz", train=4)
    for given, message in (
        ({"devices": "cuda:0,cuda:1", "device": "cpu"}, "'devices' are GPUs"),
        ({"devices": "cuda:0"}, "Device 'cuda:0'"),
        ({"devices": ["cpu"], "executor": "ray"}, "which assigns GPUs itself"),
    ):
        options = {
            "method": "finetune",
            "dataset": dataset,
            "tasks": 2,
            "protocol": "random",
            **given,
        }
        with pytest.raises(UsageError, match=message):
            edgecil.run(**grouped(out=tmp_path / "out", **options))
    assert not (tmp_path / "out" / "results.sqlite").exists()


@pytest.mark.slow
@pytest.mark.usefixtures("quick_workers")
def test_a_pool_uses_all_devices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The processor under two names; the jobs' memory is measured and raises the number."""
    started: list[str] = []
    begin = WorkerPool._start_jobs

    def counted(self: WorkerPool) -> None:
        begin(self)
        started.extend(worker.device for worker in self._workers)

    monkeypatch.setattr(WorkerPool, "_start_jobs", counted)
    placing = Placement(("cpu:0", "cpu:1"), most=2, per_device=1)
    pool = WorkerPool(make_context({"instant": {}}), placing)
    assert pool.capacity == 2
    with Store(tmp_path) as store:
        summary = execute(plan_of("instant"), store, pool)
    assert (summary.trained, summary.failed) == (12, ())
    assert set(started) == {"cpu:0", "cpu:1"}
