"""Goals: how they are written, and when they are decided."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import edgecil
from edgecil.errors import UsageError
from edgecil.experiments.protocol_results import experiment_results
from edgecil.sequences import ClassSequence, SequenceSpace
from edgecil.training.until import FIRST_LOOK, check_goal, next_look, parse_goal
from tests.grouped import train
from tests.toys import save_toy

ORDERS = list(SequenceSpace.equal(6, 3).enumerate())[:12]


def run_on(values: np.ndarray) -> dict[ClassSequence, float]:
    return dict(zip(ORDERS, values.tolist(), strict=False))


RNG = np.random.default_rng(0)
CLEAR = {"icarl": run_on(RNG.normal(60, 2, 12)), "ewc": run_on(RNG.normal(40, 2, 12))}


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("icarl - ewc > 0", ("icarl", "ewc", ">", 0.0)),
        ("icarl − ewc < -1.5", ("icarl", "ewc", "<", -1.5)),
        ("coda-prompt - l2p > .5", ("coda-prompt", "l2p", ">", 0.5)),
        ("icarl > 60", ("icarl", None, ">", 60.0)),
        ("icarl ± 0.5", ("icarl", None, "±", 0.5)),
        ("mean ± 0.5", (None, None, "±", 0.5)),
        ("mean +- 0.5", (None, None, "±", 0.5)),
        ("mean +/-2", (None, None, "±", 2.0)),
    ],
)
def test_a_goal_is_read(text, parts) -> None:
    goal = parse_goal(text)
    assert (goal.first, goal.second, goal.relation, goal.value) == parts


@pytest.mark.parametrize(
    "text", ["", "icarl", "icarl > ewc", "mean ± 0", "icarl-ewc-x >", "a = 3", "a - a > 0"]
)
def test_what_is_no_goal_is_refused(text) -> None:
    with pytest.raises(UsageError, match="until"):
        parse_goal(text)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("icarl - ewc > 0", True), ("ewc - icarl > 0", False), ("icarl - ewc < 0", False),
        ("icarl - ewc > 20", None), ("ewc < 50", True), ("mean ± 5", True), ("mean ± 0.1", None),
    ],
)  # fmt: skip
def test_a_goal_is_decided_by_the_interval(text, answer) -> None:
    status = check_goal(parse_goal(text), CLEAR)
    assert (status.answer, status.order_count) == (answer, 12)


def test_four_orders_decide_nothing() -> None:
    few = {name: dict(list(values.items())[:4]) for name, values in CLEAR.items()}
    assert check_goal(parse_goal("icarl - ewc > 0"), few).answer is None


@pytest.fixture
def options(toy: dict[str, Any], tmp_path: Path) -> dict[str, Any]:
    dataset = save_toy(tmp_path / "six.npz", classes=6, train=4)
    return {**toy, "method": "finetune", "dataset": dataset, "tasks": 3, "epochs": 1}


def test_looks_become_rarer_so_that_many_orders_cost_few_calls() -> None:
    looks = [FIRST_LOOK]
    while looks[-1] < 10_820:
        looks.append(next_look(looks[-1]))
    assert looks[:16] == list(range(5, 21))
    assert len(looks) < 100
    assert all(later <= 1.1 * earlier for earlier, later in pairwise(looks[15:]))


@pytest.mark.slow
def test_a_run_adds_orders_until_the_goal_is_decided(options) -> None:
    experiment = train(until="finetune > -500", **options)
    assert (experiment.goal.answer, len(experiment.sequences()["random"])) == (True, 5)
    assert experiment.goal.order_count == 5  # seed 42 gives the order of seed 0 and is left out
    limited = train(until="mean ± 0.0001", budget=7, **options)
    assert (limited.goal.answer, len(limited.sequences()["random"])) == (None, 7)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"until": "icarl > 60"}, "'until'.*Available: finetune"),
        ({"until": "finetune - ewc > 0"}, "'until'.*Available: finetune"),
        ({"until": "mean ± 1", "protocol": "edge"}, "'random'.*'edge'"),
        ({"repeats_on": 0}, "repeats_on"),
    ],
)
def test_goals_without_a_meaning_are_refused_before_training(options, asked, words) -> None:
    with pytest.raises(UsageError, match=words):
        train(**asked, **options)
    assert not options["out"].exists()


@pytest.mark.slow
def test_two_orders_are_repeated_and_the_others_are_not_missing(options) -> None:
    experiment = train(protocol="random", budget=4, repeats_on=2, **options)
    assert [one.protocol for one in experiment_results(experiment).results] == ["random"]
    assert len(experiment.results()) == 6
    assert experiment.table().missing == 0
    assert experiment.status().complete
    (dataset,) = edgecil.analyze(experiment).datasets
    method = dataset.methods["finetune"]
    assert (method.order_effect.repeated_orders, method.order_effect.repeats) == (2, 2)
    assert (method.claims.protocols, method.claims.order_count) == (("random",), 4)


def test_repeats_are_those_that_next_announces_and_count_in_the_results(toy) -> None:
    announced = edgecil.next_runs(train(protocol="random", budget=3, **toy)).datasets[0].repeat
    train(sequences={"next": ["1 3|0 2"]}, **toy)
    train(protocol="random", budget=4, **toy)
    found = [edgecil.next_runs(toy["out"]).datasets[0].repeat]
    continued = edgecil.run(config=toy["out"], out=toy["out"], execution={"repeats_on": 2})
    found.append(tuple(it.sequence for it in continued.sequences()["repeats"]))
    assert found == [announced] * 2
    assert continued.config.protocol_names == ("random",)
    rows = {row.protocol: row for row in experiment_results(continued).results}
    assert list(rows) == ["random", "next"]
    assert [len(row.runs) for row in rows.values()] == [4 + 2, 1]
    values = continued.table().orders("instant", "random").accuracies
    assert rows["random"].mean == pytest.approx(values.mean())
