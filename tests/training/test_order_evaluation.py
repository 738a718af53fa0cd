from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from edgecil.experiments.experiment import Experiment
from edgecil.methods.entry import MethodEntry
from edgecil.methods.simplecil import SimpleCIL
from edgecil.training import order_evaluation
from tests.grouped import train

OPTIONS: dict[str, Any] = {
    "dataset": "quickdraw",
    "method": ("simplecil", "fecam"),
    "classes": 6,
    "tasks": 3,
    "protocol": "random",
    "budget": 4,
    "workers": 1,
}


def counts(experiment: Experiment) -> dict[object, list[object]]:
    """Everything that is counted in every run, after every task."""
    by_run: dict[object, list[object]] = {}
    for run in experiment.results():
        nodes = [replace(node, seconds=0.0, peak_memory=0) for node in run.nodes]
        by_run[run.method, run.seed, run.sequence] = nodes
    return by_run


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> dict[object, list[object]]:
    """The results of the same runs, trained task by task."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MethodEntry, "order_free", False)
        return counts(train(**OPTIONS, out=tmp_path_factory.mktemp("trained")))


def test_counts_equal_those_of_training_task_by_task(trained, tmp_path) -> None:
    experiment = train(**OPTIONS, out=tmp_path)
    assert (experiment.summary.trained, experiment.summary.reused) == (24, 0)
    assert counts(experiment) == trained
    assert experiment.status().complete
    more = train(**{**OPTIONS, "budget": 5}, out=tmp_path)
    assert (more.summary.trained, more.summary.reused) == (6, 24)
    assert not list((tmp_path / "states").iterdir())


def test_a_kill_between_two_orders_loses_no_scores_and_changes_nothing(
    trained, tmp_path, monkeypatch
) -> None:
    monkeypatch.setattr(order_evaluation, "PERIOD", 0.0)
    computed = []
    scores = SimpleCIL.scores

    def counted(learner: SimpleCIL, scenario: Any) -> Any:
        computed.append(learner)
        return scores(learner, scenario)

    results: list[Any] = []
    make_result = order_evaluation._result

    def killed(*arguments: Any) -> Any:
        if len(results) == 2:
            raise KeyboardInterrupt
        results.append(make_result(*arguments))
        return results[-1]

    monkeypatch.setattr(SimpleCIL, "scores", counted)
    with monkeypatch.context() as patch:
        patch.setattr(order_evaluation, "_result", killed)
        with pytest.raises(KeyboardInterrupt):
            train(**OPTIONS, out=tmp_path)
    assert len(Experiment.open(tmp_path).results()) == 2
    assert counts(train(**OPTIONS, out=tmp_path)) == trained
    assert len(computed) == 1
    assert not list((tmp_path / "states").iterdir())


def test_without_scores_a_learner_is_trained_order_by_order(
    trained, tmp_path, monkeypatch, caplog
) -> None:
    monkeypatch.setattr(SimpleCIL, "scores", lambda *_: 1 / 0)
    assert counts(train(**OPTIONS, out=tmp_path)) == trained
    assert "simplecil is trained order by order" in caplog.text
    assert "ZeroDivisionError" in caplog.text


def test_scores_are_in_a_file_only_once_the_store_refuses_other_settings(
    trained, tmp_path, monkeypatch
) -> None:
    monkeypatch.setattr(order_evaluation, "PERIOD", 0.0)
    with monkeypatch.context() as patch:
        patch.setattr(order_evaluation, "_result", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            train(**OPTIONS, out=tmp_path)
    assert not list((tmp_path / "states").iterdir())
    settings = {**OPTIONS, "method": "fecam", "set": {"fecam": {"shrinkage": 7.0}}}
    other = counts(train(**settings, out=tmp_path))
    assert len(other) == 4
    assert all(trained[run] != result for run, result in other.items())
