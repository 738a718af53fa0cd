from __future__ import annotations

import json

import numpy as np
import pytest

from edgecil.engine.results import Accuracies, NodeResult, Reported, RunResult, WholeRun
from edgecil.sequences import ClassSequence

# Three tasks with 10, 40 and 50 test images.
COUNTS = ((9,), (3, 20), (5, 10, 50))
TOTALS = (10, 40, 50)
METRICS = Accuracies(COUNTS, TOTALS)


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
    np.testing.assert_allclose(METRICS.matrix, expected)


def test_metrics_by_hand() -> None:
    assert METRICS.accuracy == pytest.approx((50 + 25 + 100) / 3)
    assert METRICS.last == pytest.approx(65.0)
    assert METRICS.average == pytest.approx((90 + 100 * 23 / 50 + 65) / 3)
    assert METRICS.forgetting == pytest.approx(((90 - 50) + (50 - 25)) / 2)


def test_with_equal_tests_both_final_accuracies_agree() -> None:
    equal = Accuracies(((4,), (2, 3)), (5, 5))
    assert equal.accuracy == pytest.approx(equal.last) == pytest.approx(50.0)


def test_getting_better_is_negative_forgetting() -> None:
    assert Accuracies(((1,), (3, 4)), (4, 4)).forgetting == pytest.approx(-50.0)


def test_one_task_has_nothing_to_forget() -> None:
    single = Accuracies(((4,),), (5,))
    assert single.forgetting is None
    assert single.accuracy == single.last == single.average == pytest.approx(80.0)


def test_the_first_classifier_is_the_main_one() -> None:
    run = result()
    assert run.classifiers == ("nme", "head")
    assert run.classifier() == run.classifier("nme") == METRICS
    assert run.accuracy == METRICS.accuracy
    assert run.classifier("head").accuracy == 0.0


def test_costs() -> None:
    assert result().seconds == 4.5
    assert result().peak_memory == 300


def test_a_node_survives_json() -> None:
    node = result().nodes[-1]
    assert NodeResult.from_dict(json.loads(json.dumps(node.as_dict()))) == node


def test_what_another_tool_reports_stands_in_for_counts() -> None:
    said = Reported(3, 60.0, last=62.0, rows=((90.0,), (30.0, 50.0), (50.0, 25.0, 100.0)))
    cost = NodeResult({}, (), 7.5, 1000)
    found = RunResult("own", 0, ClassSequence([[0], [1], [2]]), (cost,), {}, {"head": said})
    assert found.classifiers == ("head",)
    assert (found.accuracy, found.seconds, found.peak_memory) == (60.0, 7.5, 1000)
    main = found.classifier()
    np.testing.assert_array_equal(main.matrix, METRICS.matrix)
    assert main.forgetting == METRICS.forgetting
    assert (main.last, main.average) == (62.0, None)


def test_an_unknown_matrix_is_nan_everywhere() -> None:
    said = Reported(2, 60.0)
    assert np.isnan(said.matrix).all()
    assert said.matrix.shape == (2, 2)
    assert said.forgetting is None


@pytest.mark.parametrize("reported", [{}, {"head": Reported(1, 60.0, rows=((60.0,),))}])
def test_a_whole_run_comes_back_from_json(reported) -> None:
    run = WholeRun((NodeResult({"head": (3,)}, (4,), 1.0, 2),), reported)
    assert WholeRun.from_dict(json.loads(json.dumps(run.as_dict()))) == run
