"""Metrics of many runs at once equal those of each run, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest

from edgecil.experiments.results import NodeResult, Reported, RunResult
from edgecil.experiments.run_values import class_values, metric_curves, metric_values
from edgecil.runs.metrics import METRICS
from edgecil.sequences.sequence import ClassSequence

TOTALS = {0: 7, 1: 10, 2: 4, 3: 9, 4: 6}


def trained_run(order: list[int], sizes: list[int], rng: np.random.Generator) -> RunResult:
    sequence = ClassSequence.from_order(order, sizes)
    nodes = []
    for end in range(1, len(sizes) + 1):
        totals = tuple(tuple(TOTALS[class_] for class_ in task) for task in sequence.tasks[:end])
        correct = tuple(tuple(int(rng.integers(0, n + 1)) for n in task) for task in totals)
        nodes.append(NodeResult.per_class({"head": correct, "nme": totals}, totals, 1.0, 1))
    return RunResult("m", 0, sequence, tuple(nodes))


def mixed_runs() -> list[RunResult]:
    rng = np.random.default_rng(3)
    runs = [trained_run(rng.permutation(5).tolist(), [2, 2, 1], rng) for _ in range(6)]
    runs += [trained_run(rng.permutation(5).tolist(), [3, 2], rng) for _ in range(3)]
    by_task = NodeResult({"head": (3,)}, (7,), 1.0, 1), NodeResult({"head": (3, 2)}, (7, 9), 1.0, 1)
    runs.append(RunResult("m", 0, ClassSequence([[0], [3]]), by_task))
    cost = NodeResult({}, (), 1.0, 1)
    reported = {"head": Reported(2, 50.0, last=40.0, steps=(70.0, 40.0))}
    runs.append(RunResult("m", 0, ClassSequence([[0, 1], [2, 3]]), (cost,), {}, reported))
    return runs


@pytest.mark.parametrize("name", list(METRICS))
def test_values_and_curves_equal_those_of_each_run(name: str) -> None:
    runs = mixed_runs()
    expected = [run.metric(name) for run in runs]
    numbers = [np.nan if value is None else value for value in expected]
    np.testing.assert_array_equal(metric_values([None, *runs], name), [np.nan, *numbers])
    for run, curve in zip(runs, metric_curves(runs, name), strict=True):
        of_run = run.curve(name)
        if of_run is None:
            assert curve is None
        else:
            np.testing.assert_array_equal(curve, of_run)


@pytest.mark.parametrize("name", list(METRICS))
def test_values_of_classes_equal_those_of_each_run(name: str) -> None:
    runs = mixed_runs()
    for run, values in zip(runs, class_values(runs, name), strict=True):
        counts = run.class_counts()
        if counts is None:
            assert values is None
        else:
            np.testing.assert_array_equal(values, METRICS[name].compute(counts))


def test_another_classifier_is_read() -> None:
    runs = mixed_runs()[:9]
    assert metric_values(runs, "accuracy", "nme").tolist() == [100.0] * 9
    assert not np.array_equal(metric_values(runs, "accuracy"), metric_values(runs, "last"))
