from __future__ import annotations

import time
import warnings
from pathlib import Path
from typing import Any

import pytest

import edgecil
from edgecil.engine.estimate import Workload, elapsed_seconds, expected_seconds
from edgecil.engine.plan import Node, Plan
from edgecil.engine.plan_run import _with_first_times
from edgecil.errors import EdgecilWarning, UsageError
from edgecil.io.device import _PORTABLE_KERNELS, kernel_variables
from edgecil.report.answer_tables import plan_tables
from edgecil.sequences import SequenceSpace
from tests.engine import strange as strange  # registers its learners
from tests.grouped import grouped
from tests.toys import save_toy

PATIENT = 600.0  # seconds: the default is too short on a machine with many other processes
FIRST, SECOND, THIRD = (Node("m", 0, tuple((label,) for label in range(n))) for n in (1, 2, 3))


def test_the_expected_time_is_the_mean_at_the_same_place() -> None:
    other = Node("m", 1, ((4,),))
    measured = {FIRST: 2.0, other: 4.0, SECOND: 5.0}
    expected = expected_seconds([Node("m", 2, ((7,),)), THIRD, Node("n", 0, ((1,),))], measured)
    assert list(expected.values()) == pytest.approx([3.0, 7.0, None])


def test_places_without_measurement_get_at_least_the_smallest_mean() -> None:
    assert expected_seconds([SECOND], {FIRST: 2.0}) == {SECOND: 2.0}
    assert expected_seconds([THIRD], {FIRST: 4.0, SECOND: 1.0}) == {THIRD: 1.0}


def test_time_is_shared_by_workers_but_not_below_the_longest_sequence() -> None:
    plan = Plan(["m"], lambda _: [0], SequenceSpace.equal(6, 3).enumerate())
    expected: dict[Node, float | None] = dict.fromkeys(plan, 2.0)
    assert elapsed_seconds(expected, 1) == 390.0
    assert elapsed_seconds(expected, 10) == 39.0
    assert elapsed_seconds(expected, 1000) == 6.0
    assert elapsed_seconds({**expected, THIRD: None}, 1) is None
    assert elapsed_seconds({}, 2) == 0.0


@pytest.fixture
def options(tmp_path: Path) -> dict[str, Any]:
    dataset = save_toy(tmp_path / "toy.npz", train=4)
    return {
        "method": ("instant", "raising"),
        "dataset": dataset,
        "tasks": 2,
        "protocol": "enumerate",
        "workers": 2,
    }


@pytest.mark.parametrize(
    ("changes", "advised"),
    [
        ({}, True),
        ({"method": "ease"}, False),
        ({"budget": 1}, False),
        ({"repeats": 2}, False),
        ({"repeats_on": 2}, False),
    ],
)
def test_repeats_are_advised_where_one_training_shows_mostly_noise(
    changes: dict[str, Any], advised: bool, tmp_path: Path
) -> None:
    options = {"method": "ranpac", "dataset": "quickdraw", "classes": 6, "tasks": 3, "budget": 3}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        edgecil.plan_run(**grouped(out=tmp_path / "out", trial_seconds=0, **{**options, **changes}))
    assert any("'repeats'" in str(warning.message) for warning in caught) == advised


def test_a_plan_counts_what_a_run_then_trains(options: dict[str, Any], tmp_path: Path) -> None:
    out = tmp_path / "out"
    plan = edgecil.plan_run(**grouped(out=out, trial_seconds=0, **options))
    assert not out.exists(), "a plan writes nothing"
    assert (plan.tasks, plan.shared, plan.stored, plan.workers) == (24, 0, 0, 2)
    assert (plan.seconds, plan.disk) == (None, None)
    assert plan.unknown == dict.fromkeys(("instant", "raising"), "nothing was measured")
    one = {**options, "method": "instant", "workers": 1}
    edgecil.run(**grouped(out=out, **one))
    plan = edgecil.plan_run(**grouped(out=out, trial_seconds=0, **options))
    assert [(part.method, part.tasks, part.stored) for part in plan.methods] == [
        ("instant", 12, 12),
        ("raising", 12, 0),
    ]
    assert [part.seconds for part in plan.methods] == [0.0, None]
    assert repr(plan) == f"<RunPlan for {out}: 24 tasks, 12 of them stored>"
    assert str(plan).splitlines()[0] == "instant: 6 runs, 12 tasks, 12 of them stored"
    again = edgecil.plan_run(**grouped(out=out, trial_seconds=0, **{**one, "repeats": 3}))
    assert again.methods[0].stored == 12
    assert again.seconds is not None
    assert 0.0 < again.seconds < 60.0
    shard = edgecil.plan_run(**grouped(out=out, trial_seconds=0, shard="1/2", **options))
    assert shard.tasks == 12
    other = {**one, "tasks": 4}
    with pytest.raises(UsageError, match=r"sizes: \[2, 2\] stored"):
        edgecil.plan_run(**grouped(out=out, trial_seconds=0, **other))
    assert (
        edgecil.plan_run(**grouped(out=out, trial_seconds=0, overwrite=True, **other)).stored == 0
    )


def test_what_tasks_cost_once_is_spread_over_all_trainings() -> None:
    plan = Plan(["m", "n"], lambda _: [0], SequenceSpace.equal(6, 3).enumerate())
    expected: dict[Node, float | None] = dict.fromkeys(plan, 2.0)
    added = _with_first_times(expected, {"m": 10.0})
    assert sum(seconds or 0.0 for seconds in added.values()) == pytest.approx(
        2 * 195 * 2.0 + 15 * 10.0
    ), "there are 15 different tasks"
    assert _with_first_times({FIRST: None}, {}) == {FIRST: None}


@pytest.mark.slow
@pytest.mark.usefixtures("quick_workers")
def test_a_trial_that_fails_says_why(options: dict[str, Any], tmp_path: Path) -> None:
    file = tmp_path / "strike"
    file.touch()
    for method, reason in (
        ("raising", "the trial failed with ValueError: cannot learn"),
        ("deadly", "the trial's process ended with exit code -9"),
    ):
        one = {**options, "method": method}
        settings = {method: {"classes": (0, 1), "file": str(file)}}
        plan = edgecil.plan_run(
            **grouped(out=tmp_path / "out", trial_seconds=PATIENT, **one, set=settings)
        )
        assert (plan.seconds, plan.measured) == (None, ())
        assert plan.unknown[method].startswith(reason)
        assert reason in "".join(map(str, plan_tables(plan)))


@pytest.mark.slow
@pytest.mark.usefixtures("quick_workers")
def test_a_network_that_a_run_refuses_is_refused(options: dict[str, Any], tmp_path: Path) -> None:
    one = {**options, "method": "memo", "backbone": "vit-quickdraw"}
    with pytest.raises(UsageError, match=r"^MEMO requires a residual network"):
        edgecil.plan_run(**grouped(out=tmp_path / "out", trial_seconds=PATIENT, **one))


@pytest.mark.slow
def test_a_trial_measures_what_is_not_stored(options: dict[str, Any], tmp_path: Path) -> None:
    one = {**options, "method": "icarl", "epochs": 6, "protocol": "random", "workers": 1}
    ratios: list[float] = []
    while not any(1 / 4 < ratio < 4 for ratio in ratios):
        assert len(ratios) < 4, ratios  # a machine that is busy now and then has four chances
        out = tmp_path / f"out-{len(ratios)}"
        plan = edgecil.plan_run(**grouped(out=out, trial_seconds=PATIENT, **one))
        assert plan.measured == ("icarl",)
        assert plan.seconds is not None
        assert plan.disk is not None
        assert plan.disk > 50_000, "a state has the weights of a network"
        start = time.perf_counter()
        edgecil.run(**grouped(out=out, **one))
        ratios.append((time.perf_counter() - start) / plan.seconds)


def test_a_plan_with_a_goal_is_for_as_many_random_orders_as_it_may_need(
    options: dict[str, Any], tmp_path: Path
) -> None:
    """The goal was not even read, and the orders were those of another protocol."""
    options = {**options, "method": "instant", "protocol": None, "trial_seconds": 0}
    with pytest.warns(EdgecilWarning, match="for 6 orders"):
        plan = edgecil.plan_run(**grouped(out=tmp_path / "out", until="mean ± 0.5", **options))
    drawn = {**options, "protocol": "random", "budget": 6}
    assert plan.methods == edgecil.plan_run(**grouped(out=tmp_path / "out", **drawn)).methods
    with pytest.warns(EdgecilWarning, match="for 2 orders"):
        edgecil.plan_run(**grouped(out=tmp_path / "out", until="instant > 5", budget=2, **options))
    for wrong, words in (("nan", "'until'"), ("icarl > 5", "icarl")):
        with pytest.raises(UsageError, match=words):
            edgecil.plan_run(**grouped(out=tmp_path / "out", until=wrong, **options))


def test_a_plan_uses_the_kernels_of_a_run(
    options: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a processor with AVX-512, stored results seemed to be of another processor."""
    for name in _PORTABLE_KERNELS:
        monkeypatch.delenv(name, raising=False)
    edgecil.plan_run(**grouped(out=tmp_path / "out", trial_seconds=0, **options))
    assert kernel_variables() == _PORTABLE_KERNELS


def test_a_method_without_measurement_is_expected_to_be_as_slow_as_the_slowest() -> None:
    fast, slow, unmeasured = (
        [Node(method, seed, ((0,),)) for seed in range(3)] for method in ("a", "b", "c")
    )
    workload = Workload([*fast, *slow, *unmeasured], {})
    workload.finish(fast[0], 1.0)
    assert workload.seconds_left(passed=1.0) is None, "one training does not stand for all methods"
    workload.finish(fast[1], 1.0)
    assert workload.seconds_left(passed=2.0) == 7.0
    workload.finish(slow[0], 8.0)
    assert workload.seconds_left(passed=5.0) == 5.0 * (1.0 + 2 * 8.0 + 3 * 8.0) / 10.0
