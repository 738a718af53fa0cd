from __future__ import annotations

from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest

from edgecil.engine import Experiment, ExperimentConfig, Node, NodeResult, Store
from edgecil.engine.results import ClassCounts
from edgecil.errors import UsageError
from edgecil.estimation import DatasetAnalysis, analyze
from edgecil.estimation.details import _by_position, describe_runs
from edgecil.sequences import ClassSequence, LabelledSequence

THERE, BACK = ((0, 3), (1, 2)), ((1, 2), (0, 3))
NAMES = ("ant", "bee", "cat", "dog")
# Right answers of 10 on each class after the last task, by sequence and training seed.
RIGHT = {
    (THERE, 0): {0: 2, 1: 8, 2: 10, 3: 4},
    (THERE, 1): {0: 4, 1: 8, 2: 10, 3: 4},
    (BACK, 0): {0: 9, 1: 1, 2: 3, 3: 7},
}

# Wrong answers on each task that name a class of an earlier, of the same, of a later task.
MISTAKES = {
    (THERE, 0): ((0, 4, 10), (2, 0, 0)),
    (THERE, 1): ((0, 2, 10), (0, 2, 0)),
    (BACK, 0): ((0, 6, 10), (4, 0, 0)),
}


def write(directory: Path, names: tuple[str, ...] = NAMES) -> Experiment:
    """Two orders of four classes; the first is trained with two seeds."""
    with closing(Store(directory)) as store:
        store.check_identity({"dataset": {"name": "pets", "classes": list(names)}, "method m": {}})
        labelled = [
            LabelledSequence(label, ClassSequence(tasks))
            for label, tasks in (("seed-0", THERE), ("seed-1", BACK))
        ]
        store.add_sequences("random", labelled)
        for (tasks, seed), right in RIGHT.items():
            first = tuple(10 for _ in tasks[0])
            store.record(Node("m", seed, tasks[:1]), counts((first,)))
            final = tuple(tuple(right[class_] for class_ in task) for task in tasks)
            mistakes = {"head": MISTAKES[tasks, seed]}
            store.record(Node("m", seed, tasks), replace(counts(final), confusion=mistakes))
    return Experiment.open(directory)


def counts(head: ClassCounts) -> NodeResult:
    nme = tuple(tuple(5 for _ in task) for task in head)
    totals = tuple(tuple(10 for _ in task) for task in head)
    return NodeResult.per_class({"head": head, "nme": nme}, totals, 1.0, 1)


def details(directory: Path, **options: object) -> DatasetAnalysis:
    return analyze(write(directory), **options).datasets[0]  # type: ignore[arg-type]


def test_curves_are_the_accuracy_on_all_classes_seen(tmp_path: Path) -> None:
    curve = details(tmp_path).curves["m"]["random"]
    assert curve.order_count == 2
    # after both tasks: 24 and 26 of 40 (mean of two seeds) on one order, 20 of 40 on the other
    assert curve.mean.tolist() == [100.0, 56.25]
    assert curve.std.tolist() == [0.0, 6.25]
    assert (curve.min[1], curve.max[1], curve.quantiles["0.5"][1]) == (50.0, 62.5, 56.25)


def test_classes_by_position(tmp_path: Path) -> None:
    positions = details(tmp_path).class_positions["m"]
    assert positions.order_counts.tolist() == [[1, 1]] * 4
    assert positions.mean.tolist() == [[30.0, 90.0], [10.0, 80.0], [30.0, 100.0], [40.0, 70.0]]
    assert positions.std.max() == 0.0
    assert positions.cost_of_first.tolist() == [60.0, 70.0, 70.0, 30.0]
    assert np.isnan(positions.cost_error).all(), "each class was in each task once"


def test_positions_that_no_order_has_are_missing() -> None:
    places = np.array([[0, 1], [0, 1]])
    positions = _by_position(np.array([[10.0, 20.0], [30.0, 20.0]]), places, 2)
    assert positions.mean[0].tolist()[0] == 20.0
    assert positions.std[0, 0] == 10.0
    assert np.isnan(positions.mean[0, 1])
    assert positions.order_counts.tolist() == [[2, 0], [0, 2]]
    assert np.isnan(positions.cost_of_first).all()


def test_the_cost_of_coming_first_has_the_error_of_a_difference_of_means() -> None:
    first, last = [10.0, 14.0, 12.0], [30.0, 34.0]
    values = np.array([[value] for value in first + last])
    positions = _by_position(values, np.array([[0]] * 3 + [[1]] * 2), 2)
    assert positions.cost_of_first.tolist() == [20.0]
    expected = np.sqrt(np.var(first, ddof=1) / 3 + np.var(last, ddof=1) / 2)
    assert positions.cost_error[0] == pytest.approx(expected)


def test_a_class_keeps_its_name_across_experiments_that_number_classes_differently(
    tmp_path: Path,
) -> None:
    first = write(tmp_path / "a")
    other = write(tmp_path / "b", ("dog", "cat", "bee", "ant"))
    both = analyze([first, other]).datasets[0]
    assert both.table.names == NAMES
    # ant is class 3 of the second experiment: 40, then 70
    assert both.class_positions["m"].mean[0].tolist() == [35.0, 80.0]
    assert both.class_positions["m"].order_counts[0].tolist() == [1, 1]


def test_another_classifier(tmp_path: Path) -> None:
    dataset = details(tmp_path, classifier="nme")
    assert dataset.curves["m"]["random"].mean.tolist() == [50.0, 50.0]
    assert dataset.table.orders("m").accuracies.tolist() == [50.0, 50.0]
    with pytest.raises(UsageError, match="'foot'"):
        details(tmp_path, classifier="foot")


def test_a_file_has_no_classifiers(tmp_path: Path) -> None:
    table = write(tmp_path).table()
    with pytest.raises(UsageError, match="'nme'"):
        analyze(table, classifier="nme")


def test_classes_follow_the_metric(tmp_path: Path) -> None:
    # ant: 100, then 20 or 40 on the first order; 90 in the last task of the other
    expected = {
        "last": ([30.0, 90.0], 60.0),
        "average": ([65.0, 90.0], 25.0),
        "forgetting": ([70.0, np.nan], np.nan),
        "bwt": ([-70.0, np.nan], np.nan),
    }
    for metric, (mean, cost) in expected.items():
        positions = details(tmp_path / metric, metric=metric).class_positions["m"]
        np.testing.assert_equal(positions.mean[0], np.array(mean))
        np.testing.assert_equal(positions.cost_of_first[0], cost)


def test_more_forgetting_is_a_cost() -> None:
    values = np.array([[30.0, np.nan, 10.0], [10.0, 30.0, np.nan]])
    places = np.array([[0, 2, 1], [1, 0, 2]])
    positions = _by_position(values, places, 3, higher_is_better=False)
    assert positions.cost_of_first[0] == 20.0
    assert positions.order_counts.tolist() == [[1, 1, 0], [1, 0, 0], [0, 1, 0]]


def test_the_orders_of_an_answer_have_one_curve(tmp_path: Path) -> None:
    experiment = write(tmp_path)
    with closing(Store(tmp_path)) as store:
        store.add_sequences("latin", [LabelledSequence("latin-1", ClassSequence(BACK))])
    together = {"m": ("random", "latin")}
    curves, _, _ = describe_runs(experiment.table(), [experiment], together=together)
    assert {name: curve.order_count for name, curve in curves["m"].items()} == {
        "random": 2,
        "latin": 1,
        "random + latin": 2,
    }


def test_confusion_is_averaged_over_seeds_and_orders(tmp_path: Path) -> None:
    confusion = details(tmp_path).confusion["m"]
    assert confusion.order_count == 2
    assert confusion.right.tolist() == [27.5, 85.0]
    assert confusion.earlier.tolist() == [0.0, 12.5]
    assert confusion.same.tolist() == [22.5, 2.5]
    assert confusion.later.tolist() == [50.0, 0.0]
    assert details(tmp_path / "nme", classifier="nme").confusion == {}


def test_every_metric_is_analysed(tmp_path: Path) -> None:
    values = {
        metric: details(tmp_path, metric=metric).table.orders("m").accuracies.tolist()
        for metric in ("accuracy", "last", "average", "forgetting", "bwt")
    }
    assert values == {
        "accuracy": [62.5, 50.0],
        "last": [62.5, 50.0],
        "average": [81.25, 75.0],
        "forgetting": [65.0, 80.0],
        "bwt": [-65.0, -80.0],
    }


def test_the_configuration_names_the_metric(tmp_path: Path) -> None:
    experiment = write(tmp_path)
    with closing(Store(tmp_path)) as store:
        config = ExperimentConfig(("m",), "pets", tasks=2, metric="average")
        store.add_config(asdict(config))
    assert analyze(experiment).options.metric == "average"
    assert analyze(experiment, metric="last").options.metric == "last"
    assert analyze(experiment.table("bwt")).options.metric == "bwt"
