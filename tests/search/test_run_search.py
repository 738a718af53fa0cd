"""A search that trains: it confirms, resumes, stores, and refuses what it cannot do."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import edgecil
from edgecil.errors import EdgecilError, UsageError
from edgecil.search.result import SearchResult, Trial
from edgecil.sequences import ClassSequence, SequenceSpace
from tests.grouped import grouped
from tests.toys import save_toy
from tests.training import strange as strange  # registers its learners


@pytest.fixture
def toy(tmp_path: Path) -> dict[str, Any]:
    dataset = save_toy(tmp_path / "toy.npz", train=4)
    options = {"method": "instant", "dataset": dataset, "sizes": (1, 1, 1, 1), "workers": 1}
    return {**options, "budget": 9, "confirm": 2}


def search(**options: Any) -> SearchResult:
    return edgecil.search_orders(**grouped(**options))


def searched(values: Sequence[float], new: Any, share: float, *kind: str) -> SearchResult:
    """A result on orders of four classes in two tasks with values of the search."""
    orders = SequenceSpace.equal(4, 2).enumerate()
    trials = tuple(Trial(one, value) for one, value in zip(orders, values, strict=False))
    first = trials[0].sequence
    return SearchResult("m", *kind, first, values[0], new, share, trials, 12, (), None, 6)


def answer(result: SearchResult) -> tuple[Any, ...]:
    return result.sequence, result.value, result.confirmations, result.share, result.trials


def test_a_search_is_confirmed_by_new_trainings_and_keeps_to_its_budget(toy, tmp_path) -> None:
    rounds: list[int] = []
    out = tmp_path / "out"
    result = search(out=out, **toy, on_round=lambda trials: rounds.append(len(trials)))
    assert rounds == sorted(rounds)
    assert rounds[-1] == len(result.trials) >= 7
    stored = {
        (run.seed, run.sequence.tasks[:end])
        for run in result.experiment.results()
        for end in range(1, 5)
    }
    assert len(stored) == result.trainings <= 9 * 4
    by_seed = {
        run.seed: run.accuracy
        for run in result.experiment.results()
        if run.sequence == result.sequence
    }
    assert result.confirmations == (by_seed[1], by_seed[2])
    assert result.value == by_seed[0]
    assert result.mean == pytest.approx(np.mean(result.confirmations))
    assert 0.0 <= result.share <= 1.0
    names = result.experiment.sequences()
    assert set(names) == {"latin", "search", "confirmation"}, "too small a budget for probes"
    first, proposed = ({run.sequence for run in names[name]} for name in ("latin", "search"))
    assert not first & proposed, "each order is stored under the way it was chosen"
    assert len(first | proposed) == len(result.trials)
    assert result.experiment.status().complete
    assert not list((out / "states").iterdir())


def test_a_search_that_was_interrupted_gives_the_same_answer(toy, tmp_path) -> None:
    def stop(trials: Any) -> None:
        if len(trials) > 4:
            raise KeyboardInterrupt

    whole = search(out=tmp_path / "whole", goal="best", **toy)
    with pytest.raises(KeyboardInterrupt):
        search(out=tmp_path / "parts", goal="best", **toy, on_round=stop)
    for _ in range(2):
        assert answer(search(out=tmp_path / "parts", goal="best", **toy)) == answer(whole)


def test_an_interval_ends_at_the_bounds_of_the_metric(toy, tmp_path) -> None:
    result = searched([100.0, 99.0], (100.0, 95.0), 0.5, "best", "accuracy")
    assert "(95 % interval 65.7 to 100.0, 2 new)" in str(result)
    found = search(out=tmp_path / "out", **toy)
    assert "one_seed" not in str(edgecil.analyze(found.experiment)), "its own choice"


def test_a_metric_of_which_less_is_better_is_searched_in_its_direction(toy, tmp_path) -> None:
    result = search(out=tmp_path / "out", **toy, metric="forgetting", goal="worst")
    values = [trial.value for trial in result.trials]
    assert result.value >= np.median(values)


def test_another_classifier_may_be_searched_and_planned_for(toy, tmp_path) -> None:
    small = {**toy, "method": "icarl", "sizes": (2, 2), "epochs": 1, "budget": 3, "confirm": 0}
    result = search(out=tmp_path / "out", **small, classifier="head")
    runs = {run.sequence: run for run in result.experiment.results()}
    for trial in result.trials:
        assert trial.value == runs[trial.sequence].metric("accuracy", "head")
    assert any(run.accuracy != run.metric("accuracy", "head") for run in runs.values())
    means = set()
    for name in ("nme", "head"):
        assert edgecil.next_runs(result.experiment, classifier=name).datasets[0].steps["icarl"]
        means.add(edgecil.analyze(result.experiment, classifier=name)["icarl"].claims.mean.value)
    assert len(means) == 2
    with pytest.raises(UsageError, match="classifier of 'instant'"):
        search(out=tmp_path / "other", **toy, classifier="nme")


def test_every_option_of_a_search_may_be_in_a_file(toy, tmp_path) -> None:
    text = (
        f"method = 'instant'\ndataset = '{toy['dataset'].as_posix()}'\nsizes = [1, 1, 1, 1]\n"
        f"protocol = ['random', 'edge']\ngoal = 'best'\nbudget = 6\nmetric = 'last'\n"
        f"out = '{(tmp_path / 'file').as_posix()}'\n"
        "[search]\nconfirm = 1\nbatch = 2\n[execution]\nworkers = 1\n"
    )
    (tmp_path / "search.toml").write_text(text, encoding="utf-8")
    result = edgecil.search_orders(config=tmp_path / "search.toml")
    assert (result.goal, result.metric, len(result.confirmations)) == ("best", "last", 1)
    assert set(result.experiment.sequences()) == {"latin", "search", "confirmation"}
    given = {**toy, "goal": "best", "budget": 6, "confirm": 1, "batch": 2, "metric": "last"}
    assert answer(search(out=tmp_path / "given", **given)) == answer(result)
    (tmp_path / "wrong.toml").write_text(text.replace("'best'", "'slow'"), encoding="utf-8")
    with pytest.raises(UsageError, match=r"Unknown goal 'slow'.*worst, best"):
        edgecil.search_orders(config=tmp_path / "wrong.toml")


def test_the_answer_is_one_sentence() -> None:
    sequence = ClassSequence([[0, 1], [2, 3]])
    result = SearchResult(
        "ewc", "worst", "accuracy", sequence, 38.0, (41.0, 41.5, 41.1), 0.97, (), 20, (), None, 9
    )
    assert re.findall(r"[\d.|]+", str(result)) == [
        "0", "1|2", "3", "41.2", "95", "40.5", "41.9", "3", "97",
    ]  # fmt: skip
    assert str(result).startswith("ewc, worst order 0 1|2 3: ")


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"goal": "hardest"}, "Available: worst, best"),
        ({"budget": 3}, r"'budget'.* 4.* 3 "),
        ({"one_seed": True}, "leave 'one_seed' out"),
        ({"first_seed": 2}, "leave 'first_seed' out"),
        ({"shard": "1/2"}, "leave 'shard' out"),
        ({"method": ["instant", "ewc"]}, "one method"),
        ({"metric": "speed"}, "metric"),
    ],
)
def test_bad_arguments_are_refused_before_training(changes, complaint, toy, tmp_path) -> None:
    with pytest.raises(EdgecilError, match=complaint):
        search(out=tmp_path / "out", **{**toy, **changes})
    assert not (tmp_path / "out").exists()


def test_after_all_orders_the_share_is_exact(toy, tmp_path) -> None:
    asked = {**toy, "sizes": (2, 2), "budget": 50}
    result = search(out=tmp_path / "out", **asked)
    assert {"probes", "latin"} <= set(result.experiment.sequences())
    values = np.array([trial.value for trial in result.trials])
    assert (len(values), result.order_count, result.complete) == (6, 6, True)
    assert result.share == np.mean(values > result.value + 1e-9)
    assert result.tied == np.sum(np.abs(values - result.value) <= 1e-9)
    assert re.search(r"\b6 orders\b.* 50 runs", str(result))
    assert "random orders" not in str(result)


VALUES = (72.5, 80.0, 72.5, 72.5, 75.0, 72.5)


def test_ties_at_the_worst_value_are_counted() -> None:
    result = searched(VALUES, (), 1 / 3, "worst", "accuracy")
    assert (result.tied, result.complete) == (4, True)
    assert re.search(r"\b4 share\b.* 72\.5, 33 %", str(result))


@pytest.mark.parametrize(
    ("goal", "metric", "trained", "new", "share", "confirmed"),
    [
        ("worst", "accuracy", 3, (88.0, 88.2), 0.34, False),
        ("worst", "accuracy", 3, (86.0, 86.2), 0.66, True),
        ("best", "accuracy", 3, (88.0, 88.2), 0.66, True),
        ("worst", "accuracy", 3, (), 0.34, None),
        ("worst", "accuracy", 6, (78.0, 79.0), 1 / 3, False),
        ("worst", "accuracy", 6, (72.5, 72.5), 1 / 3, True),
        ("best", "accuracy", 6, (78.0, 79.0), 1 / 3, True),
        ("worst", "forgetting", 6, (78.0, 79.0), 1 / 3, True),
    ],
)
def test_an_order_that_new_trainings_do_not_confirm_is_said_to_be_so(
    goal, metric, trained, new, share, confirmed
) -> None:
    result = searched(VALUES[:trained], new, share, goal, metric)
    assert result.confirmed is confirmed
    assert ("than average" in str(result)) is (confirmed is False)
