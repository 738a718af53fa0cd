from __future__ import annotations

from dataclasses import replace

import msgspec
import numpy as np
import pytest

from edgecil.engine.metrics import METRICS
from edgecil.engine.results import Accuracies, NodeResult, Reported, RunResult, WholeRun
from edgecil.errors import DataError, UsageError
from edgecil.sequences import ClassSequence

# Three tasks with 10, 40 and 50 test images.
COUNTS = ((9,), (3, 20), (5, 10, 50))
TOTALS = (10, 40, 50)
METRIC_VALUES = Accuracies(COUNTS, TOTALS)


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
    np.testing.assert_allclose(METRIC_VALUES.matrix, expected)


def test_metrics_by_hand() -> None:
    assert METRIC_VALUES.accuracy == pytest.approx((50 + 25 + 100) / 3)
    assert METRIC_VALUES.last == pytest.approx(65.0)
    assert METRIC_VALUES.average == pytest.approx((90 + 100 * 23 / 50 + 65) / 3)
    assert METRIC_VALUES.forgetting == pytest.approx(((90 - 50) + (50 - 25)) / 2)
    assert METRIC_VALUES.bwt == pytest.approx(((50 - 90) + (25 - 50)) / 2)


def test_with_equal_tests_both_final_accuracies_agree() -> None:
    equal = Accuracies(((4,), (2, 3)), (5, 5))
    assert equal.accuracy == pytest.approx(equal.last) == pytest.approx(50.0)


def test_getting_better_is_negative_forgetting() -> None:
    assert Accuracies(((1,), (3, 4)), (4, 4)).forgetting == pytest.approx(-50.0)


def test_one_task_has_nothing_to_forget() -> None:
    single = Accuracies(((4,),), (5,))
    assert single.forgetting is None
    assert single.bwt is None
    assert single.accuracy == single.last == single.average == pytest.approx(80.0)


def test_the_first_classifier_is_the_main_one() -> None:
    run = result()
    assert run.classifiers == ("nme", "head")
    assert run.classifier() == run.classifier("nme") == METRIC_VALUES
    assert run.accuracy == METRIC_VALUES.accuracy
    assert run.classifier("head").accuracy == 0.0


def test_costs() -> None:
    assert result().seconds == 4.5
    assert result().peak_memory == 300


PER_CLASS = NodeResult.per_class(
    {"nme": ((4, 5), (3,)), "head": ((0, 1), (2,))}, ((10, 10), (5,)), 1.0, 10
)


def test_counts_per_task_are_the_sums_of_counts_per_class() -> None:
    assert PER_CLASS.correct == {"nme": (9, 3), "head": (1, 2)}
    assert PER_CLASS.totals == (20, 5)


CONFUSED = NodeResult.per_class(
    {"head": ((4, 5), (3,))}, ((10, 10), (5,)), 1.0, 10, {"head": ((0, 3, 8), (2, 0, 0))}
)


def test_confusion_in_per_cent_of_each_task() -> None:
    first = NodeResult.per_class({"head": ((8, 5),)}, ((10, 10),), 1.0, 10)
    run = RunResult("icarl", 0, ClassSequence([[2, 7], [4]]), (first, CONFUSED))
    assert run.confusion().tolist() == [[45.0, 0.0, 15.0, 40.0], [60.0, 40.0, 0.0, 0.0]]
    assert result().confusion() is None


@pytest.mark.parametrize(
    "mistakes", [((0, 3, 9), (2, 0, 0)), ((0, 3, 8),), ((0, 3, -1), (0, 0, 0))]
)
def test_confusion_of_other_tasks_or_images_is_refused(mistakes) -> None:
    with pytest.raises(DataError):
        replace(CONFUSED, confusion={"head": mistakes})
    with pytest.raises(DataError):
        replace(CONFUSED, confusion={"nme": ((0, 0, 0), (0, 0, 0))})


@pytest.mark.parametrize("node", [PER_CLASS, CONFUSED, result().nodes[-1]])
def test_a_node_survives_json(node: NodeResult) -> None:
    assert msgspec.json.decode(msgspec.json.encode(node), type=NodeResult) == node


def test_counts_that_do_not_add_up_are_refused() -> None:
    with pytest.raises(DataError, match="add up"):
        NodeResult({"head": (3,)}, (4,), 1.0, 1, {"head": ((1, 1),)}, ((2, 2),))
    with pytest.raises(DataError, match="class_totals"):
        NodeResult({"head": (3,)}, (4,), 1.0, 1, {"head": ((1, 2),)})


def test_accuracy_of_each_class_after_each_task() -> None:
    first = NodeResult.per_class({"nme": ((8, 5),), "head": ((1, 1),)}, ((10, 10),), 1.0, 10)
    run = RunResult("icarl", 0, ClassSequence([[2, 7], [4]]), (first, PER_CLASS))
    expected = [[80.0, np.nan, 50.0], [40.0, 60.0, 50.0]]
    np.testing.assert_allclose(run.class_accuracies(), expected)
    np.testing.assert_allclose(run.class_accuracies("head")[0], [10.0, np.nan, 10.0])
    np.testing.assert_allclose(run.final_class_accuracies(), expected[-1])
    assert result().class_accuracies() is None
    assert result().final_class_accuracies() is None


@pytest.mark.parametrize("name", METRICS)
def test_every_metric_reads_counts_and_reports_alike(name: str) -> None:
    rows = tuple(tuple(row[: index + 1]) for index, row in enumerate(METRIC_VALUES.matrix))
    reported = Reported(3, METRIC_VALUES.accuracy, METRIC_VALUES.last, METRIC_VALUES.average, rows)
    cost = NodeResult({}, (), 7.5, 1000)
    other = RunResult("own", 0, ClassSequence([[0], [1], [2]]), (cost,), {}, {"head": reported})
    assert other.metric(name) == pytest.approx(result().metric(name))
    assert result().metric(name, "head") is not None


def test_an_unknown_metric_or_classifier_is_an_error() -> None:
    with pytest.raises(UsageError, match="Did you mean 'accuracy'"):
        result().metric("acuracy")
    with pytest.raises(UsageError, match="classifier"):
        result().metric("accuracy", "nearest")


def test_what_another_tool_reports_stands_in_for_counts() -> None:
    reported = Reported(3, 60.0, last=62.0, rows=((90.0,), (30.0, 50.0), (50.0, 25.0, 100.0)))
    cost = NodeResult({}, (), 7.5, 1000)
    run = RunResult("own", 0, ClassSequence([[0], [1], [2]]), (cost,), {}, {"head": reported})
    assert run.classifiers == ("head",)
    assert (run.accuracy, run.seconds, run.peak_memory) == (60.0, 7.5, 1000)
    main = run.classifier()
    np.testing.assert_array_equal(main.matrix, METRIC_VALUES.matrix)
    assert main.forgetting == METRIC_VALUES.forgetting
    assert (main.last, main.average) == (62.0, None)


def test_an_unknown_matrix_is_nan_everywhere() -> None:
    reported = Reported(2, 60.0)
    assert np.isnan(reported.matrix).all()
    assert reported.matrix.shape == (2, 2)
    assert reported.forgetting is None


@pytest.mark.parametrize("reported", [{}, {"head": Reported(1, 60.0, rows=((60.0,),))}])
def test_a_whole_run_comes_back_from_json(reported) -> None:
    run = WholeRun((NodeResult({"head": (3,)}, (4,), 1.0, 2),), reported)
    assert msgspec.json.decode(msgspec.json.encode(run), type=WholeRun) == run
