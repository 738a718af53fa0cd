from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from edgecil.errors import EdgecilError
from edgecil.methods import ease as task_cache
from edgecil.methods.ease import compute_once
from edgecil.methods.schedule import Schedule
from edgecil.methods.task import PastDataError, Scenario, Task
from tests.toys import same, toy_dataset, toy_environment

DATASET = toy_dataset(train=3)
SCENARIO = Scenario(DATASET)
ENVIRONMENT = toy_environment(DATASET)


class Counter:
    """Computes a result from a task, and counts its calls."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self, task: Task) -> dict[str, Any]:
        self.times += 1
        noise = torch.rand(2, generator=task.generator("noise"))
        return {"labels": task.labels, "seen": list(task.seen), "noise": noise}


def make(
    tasks: tuple[tuple[int, ...], ...],
    counter: Counter,
    shared: Path | None,
    *,
    kind: tuple[object, ...] = ("toy",),
    scenario: Scenario = SCENARIO,
    seed: int = 0,
    **settings: object,
) -> dict:
    environment = replace(ENVIRONMENT, shared=None if shared is None else str(shared), **settings)
    with scenario.task(tasks, seed) as task:
        return compute_once(kind, task, environment, counter)


def test_it_is_shown_the_task_as_if_it_were_the_first() -> None:
    made = make(((0, 1), (2, 3), (4, 5)), Counter(), None)
    assert made["seen"] == [4, 5]
    assert made["labels"].unique().tolist() == [0, 1]


@pytest.mark.parametrize("sharing", [False, True])
def test_it_is_the_same_whatever_came_before(sharing, tmp_path) -> None:
    counter, place = Counter(), tmp_path if sharing else None
    early = make(((4, 5),), counter, place)
    late = make(((0, 1), (2, 3), (4, 5)), counter, place)
    other = make(((4, 3),), counter, place)
    assert torch.equal(early["noise"], late["noise"])
    assert not torch.equal(early["noise"], other["noise"])
    assert counter.times == (2 if sharing else 3)


def test_two_that_need_it_at_once_make_it_once(tmp_path) -> None:
    counter = Counter()
    threads = [
        threading.Thread(target=make, args=(((first, 1), (4, 5)), counter, tmp_path))
        for first in (0, 2, 3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counter.times == 1


def test_everything_that_determines_a_result_is_in_its_key(tmp_path) -> None:
    counter = Counter()
    others: list[dict[str, Any]] = [
        {},
        {"kind": ("another",)},
        {"kind": ("toy", Schedule(epochs=2))},
        {"kind": ("toy", Schedule(epochs=3))},
        {"scenario": Scenario(toy_dataset(train=3, contrast=20))},
        {"scenario": Scenario(toy_dataset(train=4))},
        {"seed": 1},
        {"precision": "bfloat16"},
    ]
    for times, other in enumerate(others, start=1):
        make(((4, 5),), counter, tmp_path, **other)
        assert counter.times == times
    for other in others:
        make(((0, 1), (4, 5)), counter, tmp_path, **other)
    assert counter.times == len(others)


def test_another_version_computes_results_again(tmp_path, monkeypatch) -> None:
    counter = Counter()
    make(((4, 5),), counter, tmp_path)
    monkeypatch.setattr(task_cache, "CACHE_VERSION", task_cache.CACHE_VERSION + 1)
    make(((4, 5),), counter, tmp_path)
    assert counter.times == 2


def test_a_damaged_result_is_computed_again(tmp_path) -> None:
    counter = Counter()
    expected = make(((4, 5),), counter, tmp_path)
    (file,) = (tmp_path / "tasks").glob("*.pt")
    whole = file.read_bytes()
    noise = whole.index(expected["noise"].numpy().tobytes())
    flipped = whole[:noise] + bytes([whole[noise] ^ 1]) + whole[noise + 1 :]
    for damaged in (b"", b"not a result", whole[:-100], flipped):
        times = counter.times
        file.write_bytes(damaged)
        assert same(make(((4, 5),), counter, tmp_path), expected)
        assert counter.times == times + 1
        assert same(make(((4, 5),), counter, tmp_path), expected)
        assert counter.times == times + 1


def test_a_place_that_cannot_be_used_is_named(tmp_path) -> None:
    (tmp_path / "tasks").write_text("a file")
    with pytest.raises(EdgecilError, match=r"^Cannot use .*tasks: "):
        make(((4, 5),), Counter(), tmp_path)


def test_a_task_alone_ends_with_the_task() -> None:
    with SCENARIO.task(((0, 1), (2, 3)), 0) as task:
        alone = task.alone()
        assert torch.equal(alone.inputs, task.inputs)
    with pytest.raises(PastDataError):
        _ = alone.inputs
