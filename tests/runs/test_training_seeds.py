"""A training seed belongs to an order and a repeat."""

from __future__ import annotations

from typing import Any

import pytest

from edgecil.errors import UsageError
from edgecil.experiments.experiment import Experiment
from edgecil.runs.training_seeds import repeat_of, training_seed
from edgecil.sequences.space import SequenceSpace
from tests.grouped import train
from tests.toys import save_toy


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    dataset = save_toy(tmp_path_factory.mktemp("data") / "toy.npz", train=4)
    return {"method": "finetune", "dataset": dataset, "tasks": 2, "epochs": 1, "workers": 1}


def seeds(experiment: Experiment) -> dict[Any, list[int]]:
    by_order: dict[Any, list[int]] = {}
    for result in experiment.results():
        by_order.setdefault(result.sequence.tasks, []).append(result.seed)
    return {tasks: sorted(some) for tasks, some in by_order.items()}


def test_seeds_of_orders_differ_and_are_small_integers() -> None:
    orders = [sequence.tasks for sequence in SequenceSpace.equal(6, 3).enumerate()]
    drawn = {training_seed(tasks, repeat) for tasks in orders for repeat in (0, 1)}
    assert len(drawn) == 180
    assert max(drawn) < 2**31


@pytest.mark.parametrize("repeat", [0, 1, 999])
def test_the_repeat_is_read_from_the_seed(repeat) -> None:
    tasks = ((0, 1), (2, 3))
    assert repeat_of(tasks, training_seed(tasks, repeat)) == repeat
    assert repeat_of(tasks, training_seed(tasks, repeat, shared=True)) == repeat


def test_an_order_has_the_same_seed_in_every_protocol(toy, tmp_path) -> None:
    random = seeds(train(**toy, out=tmp_path / "a", protocol="random", budget=4, repeats=2))
    latin = seeds(train(**toy, out=tmp_path / "b", protocol="latin", budget=2, first_seed=1))
    assert all(some == [training_seed(tasks, r) for r in (0, 1)] for tasks, some in random.items())
    assert all(some == [training_seed(tasks, 1)] for tasks, some in latin.items())


def test_one_seed_serves_all_orders_if_asked_or_enumerated(toy, tmp_path) -> None:
    asked = train(**toy, out=tmp_path / "a", protocol="random", budget=2, one_seed=True)
    every = train(**toy, out=tmp_path / "b", protocol=["random", "enumerate"], budget=2)
    assert {seed for some in seeds(asked).values() for seed in some} == {0}
    assert {seed for some in seeds(every).values() for seed in some} == {0}


def test_a_directory_has_one_kind_of_seeds(toy, tmp_path) -> None:
    train(**toy, out=tmp_path / "a", protocol="random", budget=2)
    with pytest.raises(UsageError, match="training seeds"):
        train(**toy, out=tmp_path / "a", protocol="random", budget=2, one_seed=True)


def test_missing_repeats_are_those_of_their_orders(toy, tmp_path) -> None:
    options = {**toy, "out": tmp_path / "a", "protocol": "random", "budget": 3}
    experiment = train(**options, repeats=2)
    rows = experiment.to_pandas()
    assert len(rows) == 6
    assert not rows["accuracy"].isna().any()
    status = experiment.status()
    assert [(part.planned, part.finished) for part in status.parts] == [(6, 6)]
