from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from edgecil.errors import DataError, UsageError
from edgecil.experiments.results import NodeResult, Reported, RunResult
from edgecil.runs.metrics import METRICS
from edgecil.sequences import ClassSequence

# Three tasks with 10, 40 and 50 test images.
COUNTS = ((9,), (3, 20), (5, 10, 50))
TOTALS = (10, 40, 50)


def result() -> RunResult:
    nodes = tuple(
        NodeResult(
            {"nme": counts, "head": (0,) * len(counts)}, TOTALS[: len(counts)], 1.5, 100 * place
        )
        for place, counts in enumerate(COUNTS, start=1)
    )
    return RunResult("icarl", 3, ClassSequence([[0], [1], [2]]), nodes)


def test_the_matrix() -> None:
    nan = np.nan
    expected = [[90.0, nan, nan], [30.0, 50.0, nan], [50.0, 25.0, 100.0]]
    np.testing.assert_allclose(result().matrix(), expected)
    assert (result().seconds, result().peak_memory) == (4.5, 300)


def test_the_first_classifier_is_the_main_one() -> None:
    run = result()
    assert run.classifiers == ("nme", "head")
    assert run.accuracy == run.metric("accuracy", "nme") == pytest.approx((50 + 25 + 100) / 3)
    assert run.metric("accuracy", "head") == 0.0


PER_CLASS = NodeResult.per_class(
    {"nme": ((4, 5), (3,)), "head": ((0, 1), (2,))}, ((10, 10), (5,)), 1.0, 10
)


CONFUSED = NodeResult.per_class(
    {"head": ((4, 5), (3,))}, ((10, 10), (5,)), 1.0, 10, {"head": ((0, 3, 8), (2, 0, 0))}
)


def test_confusion_in_per_cent_of_each_task() -> None:
    first = NodeResult.per_class({"head": ((8, 5),)}, ((10, 10),), 1.0, 10)
    run = RunResult("icarl", 0, ClassSequence([[2, 7], [4]]), (first, CONFUSED))
    assert run.confusion().tolist() == [[45.0, 0.0, 15.0, 40.0], [60.0, 40.0, 0.0, 0.0]]
    assert result().confusion() is None


def test_counts_per_class_add_up_to_those_per_task() -> None:
    assert PER_CLASS.correct == {"nme": (9, 3), "head": (1, 2)}
    assert PER_CLASS.totals == (20, 5)
    for wrong in ({"head": (5,)}, {"head": (-1,)}, {"head": (1, 2)}):
        with pytest.raises(DataError, match="'head' has"):
            NodeResult(wrong, (4,), 1.0, 1)


def test_accuracy_of_each_class_after_each_task() -> None:
    first = NodeResult.per_class({"nme": ((8, 5),), "head": ((1, 1),)}, ((10, 10),), 1.0, 10)
    run = RunResult("icarl", 0, ClassSequence([[2, 7], [4]]), (first, PER_CLASS))
    expected = [[[80.0], [40.0]], [[np.nan], [60.0]], [[50.0], [50.0]]]
    counts = run.class_counts()
    np.testing.assert_allclose(counts.accuracies, expected)
    np.testing.assert_array_equal(counts.right, [[8, 4], [0, 3], [5, 5]])
    np.testing.assert_array_equal(counts.images, [[10, 10], [0, 5], [10, 10]])
    np.testing.assert_allclose(run.class_counts("head").accuracies[:, 0, 0], [10.0, np.nan, 10.0])
    assert result().class_counts() is None


def of_another_tool(reported: Reported) -> RunResult:
    sequence, cost = ClassSequence([[it] for it in range(reported.tasks)]), (7.5, 1000)
    return RunResult("own", 0, sequence, (NodeResult({}, (), *cost),), {}, {"head": reported})


@pytest.mark.parametrize("name", METRICS)
def test_every_metric_reads_counts_and_reports_alike(name: str) -> None:
    run = result()
    rows = tuple(tuple(row[: index + 1]) for index, row in enumerate(run.matrix()))
    reported = Reported(3, run.accuracy, run.metric("last"), run.metric("average"), rows)
    assert of_another_tool(reported).metric(name) == pytest.approx(run.metric(name), nan_ok=True)
    assert (run.metric(name, "head") is None) == (name == "training_accuracy")


def test_an_unknown_metric_or_classifier_is_an_error() -> None:
    with pytest.raises(UsageError, match="Did you mean 'accuracy'"):
        result().metric("acuracy")
    with pytest.raises(UsageError, match="classifier"):
        result().metric("accuracy", "nearest")


def test_what_another_tool_reports_stands_in_for_counts() -> None:
    reported = Reported(3, 60.0, last=62.0, rows=((90.0,), (30.0, 50.0), (50.0, 25.0, 100.0)))
    run = of_another_tool(reported)
    assert run.classifiers == ("head",)
    assert (run.accuracy, run.seconds, run.peak_memory) == (60.0, 7.5, 1000)
    np.testing.assert_array_equal(run.matrix(), result().matrix())
    assert run.metric("forgetting") == result().metric("forgetting")
    assert (run.metric("last"), run.metric("average")) == (62.0, None)


def test_the_curve_of_a_tool_that_reports_no_tasks() -> None:
    run = of_another_tool(Reported(2, 60.0, steps=(80.0, 60.0)))
    assert run.curve("last").tolist() == run.curve("accuracy").tolist() == [80.0, 60.0]
    assert run.curve("forgetting") is None
    unequal = replace(run, sequence=ClassSequence([[0, 2], [1]]))  # tasks and images differ
    assert unequal.curve("accuracy") is None
