from __future__ import annotations

from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest

from edgecil.analysis import DatasetAnalysis, analyze
from edgecil.analysis.details import (
    FirstTask,
    _by_position,
    describe_runs,
    note_unlearned,
)
from edgecil.errors import UsageError
from edgecil.experiments import Experiment, ExperimentConfig, Node, NodeResult, Store
from edgecil.experiments.results import ClassCounts
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


def test_curves_classes_by_position_and_confusion(tmp_path: Path) -> None:
    one = details(tmp_path).details["m"]
    curve, means, confusion = one.curve, one.by_position, one.confusion
    assert curve.order_count == 2
    # after both tasks: 24 and 26 of 40 (mean of two seeds) on one order, 20 of 40 on the other
    assert curve.mean.tolist() == [100.0, 56.25]
    assert (curve.low[1], curve.high[1]) == pytest.approx((50.625, 61.875))
    assert means.tolist() == [[30.0, 90.0], [10.0, 80.0], [30.0, 100.0], [40.0, 70.0]]
    assert confusion.tolist() == [[27.5, 0.0, 22.5, 50.0], [85.0, 12.5, 2.5, 0.0]]


def test_positions_that_no_order_has_are_missing() -> None:
    orders = ClassSequence([[0], [1], [2]]), ClassSequence([[0], [2], [1]])
    values = np.array([10.0, 20.0, np.nan]), np.array([30.0, 40.0, 5.0])
    expected = [[20.0, np.nan, np.nan], [np.nan, 20.0, 40.0], [np.nan, 5.0, np.nan]]
    np.testing.assert_equal(_by_position(dict(zip(orders, values, strict=True)), 3), expected)


def test_a_class_keeps_its_name_across_experiments_that_number_classes_differently(
    tmp_path: Path,
) -> None:
    first = write(tmp_path / "a")
    other = write(tmp_path / "b", ("dog", "cat", "bee", "ant"))
    both = analyze([first, other]).datasets[0]
    assert both.table.names == NAMES
    # ant is class 3 of the second experiment: 40, then 70
    means = both.details["m"].by_position
    assert means[0].tolist() == [35.0, 80.0]


def test_another_classifier(tmp_path: Path) -> None:
    dataset = details(tmp_path, classifier="nme")
    curve = dataset.details["m"].curve
    assert dataset.details["m"].confusion is None
    assert curve.mean.tolist() == [50.0, 50.0]
    assert dataset.table.orders("m").accuracies.tolist() == [50.0, 50.0]
    with pytest.raises(UsageError, match="'foot'"):
        details(tmp_path, classifier="foot")


def test_the_orders_of_an_answer_have_one_curve(tmp_path: Path) -> None:
    experiment = write(tmp_path)
    with closing(Store(tmp_path)) as store:
        store.add_sequences("latin", [LabelledSequence("latin-1", ClassSequence(BACK))])
    for protocols, orders in ((("random",), 2), (("latin",), 1), (("random", "latin"), 2)):
        curve = describe_runs(experiment.table(), [experiment], {"m": protocols})["m"].curve
        assert curve.order_count == orders


# Values of the two orders, and ant in either task: 100, then 20 or 40 on the first order; 90 in
# the last task of the other.
EXPECTED = {
    "accuracy": ([62.5, 50.0], [30.0, 90.0]),
    "last": ([62.5, 50.0], [30.0, 90.0]),
    "average": ([81.25, 75.0], [65.0, 90.0]),
    "forgetting": ([65.0, 80.0], [70.0, np.nan]),
    "bwt": ([-65.0, -80.0], [-70.0, np.nan]),
}


def test_orders_and_classes_follow_the_metric(tmp_path: Path) -> None:
    for metric, (values, ant) in EXPECTED.items():
        dataset = details(tmp_path, metric=metric)
        assert dataset.table.orders("m").accuracies.tolist() == values
        np.testing.assert_equal(dataset.details["m"].by_position[0], np.array(ant))


def test_the_configuration_names_the_metric(tmp_path: Path) -> None:
    experiment = write(tmp_path)
    with closing(Store(tmp_path)) as store:
        config = ExperimentConfig(("m",), "pets", tasks=2, metric="average")
        store.add_config(asdict(config))
    assert analyze(experiment).options.metric == "average"
    assert analyze(experiment, metric="last").options.metric == "last"
    assert analyze(experiment.table("bwt")).options.metric == "bwt"


def test_a_learner_that_has_not_learned_its_first_task_is_named_with_what_mends_it() -> None:
    learned = FirstTask(accuracy=91.0, training=98.0, class_means=95.0, budget=(100, "steps"))
    assert note_unlearned({"a": learned}) == []
    below_means = replace(learned, accuracy=62.9)
    assert note_unlearned({"a": below_means}) == [
        "a has not learned its first task: 98 % of its training inputs are right just after it and "
        "63 % of its test inputs, where class means of untrained features have 95 %; train longer "
        "(--steps 400)."
    ]
    underfit = FirstTask(accuracy=70.0, training=80.0)
    assert note_unlearned({"a": underfit}) == [
        "a has not learned its first task: 80 % of its training inputs are right just after it and "
        "70 % of its test inputs; train longer."
    ]
