from __future__ import annotations

import time
from typing import Any

import pytest

import edgecil
from edgecil.errors import UsageError
from edgecil.experiments.plan import Node, Plan
from edgecil.experiments.status import TimeLeft, elapsed_seconds, expected_seconds
from edgecil.io.device import _PORTABLE_KERNELS, kernel_variables
from edgecil.methods.simplecil import SimpleCIL
from edgecil.sequences import SequenceSpace
from edgecil.training.check import Check
from edgecil.training.requirements import describe_counts
from tests.grouped import grouped, train

PATIENT = 600.0  # seconds: the default is too short on a machine with many other processes
FIRST, SECOND, THIRD = (Node("m", 0, tuple((label,) for label in range(n))) for n in (1, 2, 3))


def test_the_expected_time_is_the_mean_at_the_same_place() -> None:
    other = Node("m", 1, ((4,),))
    measured = {FIRST: 2.0, other: 4.0, SECOND: 5.0}
    expected = expected_seconds([Node("m", 2, ((7,),)), THIRD], measured)
    assert list(expected.values()) == pytest.approx([3.0, 7.0])
    assert expected_seconds([SECOND], {FIRST: 2.0}) == {SECOND: 2.0}
    assert expected_seconds([THIRD], {FIRST: 4.0, SECOND: 1.0}) == {THIRD: 1.0}, "not below"
    unmeasured = Node("n", 0, ((1,),))
    slowest = {**measured, Node("slow", 0, ((0,),)): 9.0}
    assert expected_seconds([unmeasured], slowest) == {unmeasured: 9.0}
    assert expected_seconds([unmeasured], {}) == {}


def test_time_is_shared_by_workers_but_not_below_the_longest_sequence() -> None:
    plan = Plan(["m"], lambda _: [0], SequenceSpace.equal(6, 3).enumerate())
    expected = dict.fromkeys(plan, 2.0)
    times = [elapsed_seconds(expected, workers) for workers in (1, 10, 1000)]
    assert times == [390.0, 39.0, 6.0]
    assert elapsed_seconds({}, 2) == 0.0


@pytest.mark.parametrize("workers", [1, 4])
def test_the_time_left_is_that_of_the_trainings_left(workers: int) -> None:
    plan = list(Plan(["m", "n"], lambda _: [0], SequenceSpace.equal(6, 3).enumerate()))
    left = TimeLeft(plan, {}, workers=workers)
    assert left.seconds is None
    measured: dict[Node, float] = {}
    for number, node in enumerate(plan):
        seconds = float(len(node.prefix)) + number % 3
        measured[node] = seconds
        left.end(node, seconds)
        expected = expected_seconds(plan[number + 1 :], measured)
        assert left.seconds == pytest.approx(elapsed_seconds(expected, workers), rel=0.2)
    assert left.seconds == 0.0
    resumed = TimeLeft(plan[5:], dict(list(measured.items())[:5]))
    resumed.end(plan[5], None)
    fewer = expected_seconds(plan[6:], dict(list(measured.items())[:5]))
    assert resumed.seconds == pytest.approx(sum(fewer.values()))


@pytest.fixture
def options(toy: dict[str, Any]) -> dict[str, Any]:
    return {**toy, "protocol": "enumerate"}


def check(**options: Any) -> Check:
    return edgecil.check(**grouped(**options))


def test_a_check_counts_what_a_run_then_trains(options) -> None:
    both = {**options, "method": ("instant", "raising"), "workers": 2}
    plan = check(**both)
    assert not options["out"].exists(), "a check writes nothing"
    assert plan.problems == ()
    assert [(part.tasks, part.stored) for part in plan.methods] == [(12, 0), (12, 0)]
    assert (plan.workers, plan.orders) == (2, {"enumerate": 6})
    train(**options)
    plan = check(**both)
    assert [(part.method, part.tasks, part.stored) for part in plan.methods] == [
        ("instant", 12, 12),
        ("raising", 12, 0),
    ]
    assert plan.methods[0].seconds == 0.0
    assert repr(plan) == "<Check: 24 task trainings, 0 problems>"
    again = check(repeats=3, **options)
    assert again.methods[0].stored == 12
    assert again.seconds is not None
    assert 0.0 < again.seconds < 60.0
    assert [part.tasks for part in check(shard="1/2", **both).methods] == [6, 6]
    other = {**options, "tasks": 4}
    (problem,) = check(**other).problems
    assert "sizes: [2, 2] stored" in problem.about
    assert check(overwrite=True, **other).methods[0].stored == 0


def test_everything_that_is_missing_is_listed_and_the_work_is_planned_without_it(
    tmp_path, monkeypatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (tmp_path / "clip").mkdir()
    (tmp_path / "clip" / "ViT-B-16.pt").touch()
    checked = edgecil.check(
        dataset="cub200",
        method=["l2p", "icarl"],
        tasks=10,
        protocol=["random", "edge", "optimal"],
        similarity={"encoder": "clip-vit-b-16"},
        training={"device": "cuda", "set": {"icarl": {"backbone": "resnet18"}}},
        execution={"workers": 1},
    )
    missing = {it.name: it.about for it in checked.problems}
    assert list(missing) == [
        "dataset cub200",
        "encoder clip-vit-b-16",
        "tokenizer of CLIP",
        "device",
        "backbone vit-b16-in21k",
    ]
    assert "'root'" in missing["dataset cub200"]
    assert "ViT-B-16.pt" in missing["encoder clip-vit-b-16"]
    assert checked.orders == {"random": 3, "edge": 3, "optimal": 3}
    assert [(part.runs, part.tasks) for part in checked.methods] == [(9, 90), (9, 90)]
    assert checked.states == 9
    assert checked.disk is not None
    assert checked.disk > 9 * 4 * 11e6, "nine states of a ResNet-18"
    assert checked.seconds is None


def test_the_split_is_compared_with_the_published_ones() -> None:
    assert "official split" in describe_counts("cub200", 5_994, 5_794)
    assert "PILOT's split" in describe_counts("cub200", 9_430, 2_358)
    assert "another split" in describe_counts("cub200", 9_430, 2_357)
    assert "split" not in describe_counts("mine", 6, 2)
    held_out = describe_counts("imagenet-r", 24_000, 6_000, ["It has no official split."])
    assert "PILOT" not in held_out, "as many images, but others"


def test_an_experiment_file_may_stand_for_its_options(tmp_path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('method = "finetune"\ndataset = "cub200"\ntasks = 10\n')
    assert edgecil.check(dataset=file) == edgecil.check(config=file)
    assert edgecil.check(dataset=str(file), tasks=20).methods[0].tasks == 100


def test_a_trial_that_fails_says_why(options, tmp_path) -> None:
    (tmp_path / "strike").touch()
    settings = {"raising": {"classes": (0, 1), "file": str(tmp_path / "strike")}}
    plan = check(**{**options, "method": "raising", "set": settings})
    assert plan.seconds is None
    assert plan.methods[0].unknown == "a trial failed with ValueError: cannot learn (0, 1)"


def test_a_network_and_a_similarity_that_a_run_refuses_are_problems(options, tmp_path) -> None:
    (problem,) = check(**{**options, "method": "l2p", "backbone": "resnet-tiny"}).problems
    assert problem.name == "methods"
    file = tmp_path / "distances.csv"
    file.write_text("0,1,1,1\n1,0,1,1\n1,1,0,1\n1,1,1,0\n")
    probes = {**options, "protocol": "probes", "similarity": str(file)}
    (problem,) = check(**probes).problems
    assert problem.name == f"similarity {file}"
    with pytest.raises(UsageError, match="'budget' of 2"):
        check(**{**probes, "protocol": "probes:5"})


@pytest.mark.slow
def test_a_trial_measures_what_is_not_stored(options, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("edgecil.training.check._SECONDS", PATIENT)
    one = {**options, "method": "icarl", "epochs": 6, "protocol": "random"}
    ratios: list[float] = []
    while not any(1 / 4 < ratio < 4 for ratio in ratios):
        assert len(ratios) < 4, ratios  # a machine that is busy now and then has four chances
        one["out"] = tmp_path / f"out-{len(ratios)}"
        plan = check(**one)
        assert plan.seconds is not None
        assert plan.disk is not None
        assert plan.disk > 50_000, "a state has the weights of a network"
        start = time.perf_counter()
        train(**one)
        ratios.append((time.perf_counter() - start) / plan.seconds)


def test_a_check_with_a_goal_is_for_as_many_random_orders_as_it_may_need(options) -> None:
    del options["protocol"]
    assert check(until="mean ± 0.5", **options).orders == {"random": 6}
    assert check(until="instant > 5", budget=2, **options).orders == {"random": 2}


def test_a_check_uses_the_kernels_of_a_run(options, monkeypatch) -> None:
    """On a processor with AVX-512, stored results seemed to be of another processor."""
    for name in _PORTABLE_KERNELS:
        monkeypatch.delenv(name, raising=False)
    check(**options)
    assert kernel_variables() == _PORTABLE_KERNELS


def test_all_orders_of_an_order_free_learner_take_its_scores_once(toy, monkeypatch) -> None:
    scores = SimpleCIL.scores

    def slow_scores(learner: SimpleCIL, scenario: Any) -> Any:
        time.sleep(0.5)
        return scores(learner, scenario)

    monkeypatch.setattr(SimpleCIL, "scores", slow_scores)
    options = {**toy, "protocol": "enumerate", "method": "simplecil"}
    seconds = check(**options).seconds
    assert seconds is not None
    assert 0.5 <= seconds < 6 * 0.5
    train(**options)
    assert [(part.tasks, part.stored) for part in check(**options).methods] == [(12, 12)]
