"""What runs show beyond one number: by task, by class along the sequence; and the confusion."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from edgecil.experiments.experiment import Experiment
from edgecil.experiments.results import RunResult
from edgecil.experiments.run_values import class_values, metric_curves
from edgecil.io.arrays import Floats
from edgecil.runs.identity import find_budget
from edgecil.runs.run_table import Runs
from edgecil.sequences.sequence import ClassSequence

_BAND = (0.05, 0.95)
_LEARNED = (
    90.0  # per cent of the training inputs of its first task that a trained learner has right
)
_BELOW_MEANS = 5.0  # points by which class means of untrained features may be better
_LONGER = 4  # times the budget is advised
_Values = dict[ClassSequence, list[Floats]]


@dataclass(frozen=True, eq=False, repr=False)
class TaskCurve:
    """A metric after each of the K tasks, over the orders behind a method's answer.

    A(O), forgetting and backward transfer are what they would be if the sequence ended there
    (forgetting and backward transfer are NaN after the first task). A_last and Ā share one curve,
    the accuracy on all test images of the classes seen: A_last is its end, Ā its mean.

    Attributes:
        order_count: how many orders there are.
        mean: shape (K,), in per cent, as are the others.
        low: 5 % of the orders lie below it.
        high: 5 % of the orders lie above it.
    """

    order_count: int
    mean: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True, eq=False, repr=False)
class RunDetails:
    """One method beyond one number. Every order counts once, with its mean over training seeds.

    Attributes:
        curve: the metric after each task; None if unknown.
        by_position: shape (N, K): mean of the metric of class c over the orders in which it is in
            task k; NaN if there are none. For A(O) and A_last this is the final accuracy on the
            class; for Ā its mean accuracy over all tests from its own task on; for forgetting its
            best earlier accuracy minus the final one; for backward transfer the final one minus
            that after its own task. The last two do not exist for classes of the last task. None
            where counts per class are unknown.
        confusion: shape (K, 4): answers on the test images of each task after the last one, in per
            cent of its images: right; wrong ones that name a class of an earlier task, another
            class of the same task, a class of a later task. None where it was not stored.
    """

    curve: TaskCurve | None = None
    by_position: Floats | None = None
    confusion: Floats | None = None
    first_task: FirstTask | None = None


@dataclass(frozen=True)
class FirstTask:
    """What a learner that trains has learned of its first task, where nothing can be forgotten.

    Means over runs, in per cent.

    Attributes:
        accuracy: on the test inputs of the task, right after it was learned.
        training: on its training inputs.
        class_means: on the test inputs, by class means of the untrained learner's features; None if
            unknown.
        budget: how long a task is trained, such as (100, "steps"); None if unknown.
    """

    accuracy: float
    training: float
    class_means: float | None = None
    budget: tuple[int, str] | None = None

    @property
    def is_learned(self) -> bool:
        """Whether most of its training inputs are right, and no class means are much better."""
        is_level = self.class_means is None or self.accuracy >= self.class_means - _BELOW_MEANS
        return self.training >= _LEARNED and is_level


def describe_runs(
    table: Runs,
    experiments: Iterable[Experiment],
    answered: Mapping[str, Sequence[str]],
    classifier: str | None = None,
) -> dict[str, RunDetails]:
    """Return the details of each method on a table's classes, numbered 0 ... N-1.

    `answered` has the protocols whose orders have a curve, by method.
    """
    values: dict[str, tuple[_Values, _Values, _Values]] = {}
    first_tasks: dict[str, list[FirstTask]] = {}
    for experiment in experiments:
        results = experiment.results()
        _add_values(values, table, experiment, results, classifier)
        for method, first_tasks_of_method in _first_tasks(experiment, results).items():
            first_tasks.setdefault(method, []).extend(first_tasks_of_method)
    details = {}
    for method, names in answered.items():
        steps, by_class, confused = (
            {sequence: _mean_over_repeats(repeats) for sequence, repeats in by_sequence.items()}
            for by_sequence in values.get(method, ({}, {}, {}))
        )
        chosen: set[ClassSequence] = set()
        for name in names:
            chosen.update(table.orders(method, name).sequences)
        curves = np.array([curve for sequence, curve in steps.items() if sequence in chosen])
        curve = None
        if len(curves):
            curve = TaskCurve(len(curves), curves.mean(axis=0), *np.quantile(curves, _BAND, axis=0))
        first_of_method = _mean_of(first_tasks.get(method, []))
        if curve is not None or by_class or confused or first_of_method is not None:
            details[method] = RunDetails(
                curve,
                _by_position(by_class, table.space.tasks) if by_class else None,
                np.mean(list(confused.values()), axis=0) if confused else None,
                first_of_method,
            )
    return details


def _mean_over_repeats(repeats: Sequence[Floats]) -> Floats:
    """Return the mean of arrays of one shape; a single one, the usual case, as it is."""
    return repeats[0] if len(repeats) == 1 else np.mean(repeats, axis=0)


def read_first_tasks(experiment: Experiment) -> dict[str, FirstTask]:
    """Return what each learner of an experiment that trains has learned of its first task."""
    means = {
        method: _mean_of(first_tasks)
        for method, first_tasks in _first_tasks(experiment, experiment.results()).items()
    }
    return {method: mean for method, mean in means.items() if mean is not None}


def _first_tasks(
    experiment: Experiment, results: Sequence[RunResult]
) -> dict[str, list[FirstTask]]:
    """Return what each run of a learner that trains has learned of its first task, by method."""
    settings_of_method = experiment.record().identity.methods
    first_tasks: dict[str, list[FirstTask]] = {}
    for run in results:
        first = run.nodes[0]
        if run.reported or first.training is None:
            continue
        right, inputs = first.training
        (total,) = first.totals
        class_means = None if first.class_means is None else 100.0 * first.class_means / total
        first_task = FirstTask(
            accuracy=100.0 * first.correct[run.choose(None)][0] / total,
            training=100.0 * right / inputs,
            class_means=class_means,
            budget=find_budget(settings_of_method.get(run.method)),
        )
        first_tasks.setdefault(run.method, []).append(first_task)
    return first_tasks


def _mean_of(first_tasks: Sequence[FirstTask]) -> FirstTask | None:
    """Return the mean over runs; None without any."""
    if not first_tasks:
        return None
    means = [first.class_means for first in first_tasks if first.class_means is not None]
    return FirstTask(
        float(np.mean([first.accuracy for first in first_tasks])),
        float(np.mean([first.training for first in first_tasks])),
        float(np.mean(means)) if means else None,
        first_tasks[0].budget,
    )


def _add_values(
    values: dict[str, tuple[_Values, _Values, _Values]],
    table: Runs,
    experiment: Experiment,
    results: Sequence[RunResult],
    classifier: str | None,
) -> None:
    """Add curve, values by class and confusion of each run of an experiment, by method."""
    own_names, task_orders = experiment.names, experiment.task_orders
    results = [run for run in results if classifier in (None, *run.classifiers)]
    run_curves = metric_curves(results, table.metric, classifier)
    run_classes = class_values(results, table.metric, classifier)
    for result, run_curve, of_classes in zip(results, run_curves, run_classes, strict=True):
        by_id = None
        if task_orders is not None:
            sequence = task_orders.collapse(result.sequence)
        else:
            ids = list(range(len(result.sequence.order)))
            if table.names is not None and own_names is not None and table.names != own_names:
                ids = [table.names.index(name) for name in own_names]
            sequence = _renumbered(result.sequence, ids)
            if of_classes is not None:
                by_id = np.empty(len(ids))
                by_id[ids] = of_classes
        lists = values.setdefault(result.method, ({}, {}, {}))
        of_run = run_curve, by_id, result.confusion(classifier)
        for by_sequence, value in zip(lists, of_run, strict=True):
            if value is not None:
                by_sequence.setdefault(sequence, []).append(value)


def _renumbered(sequence: ClassSequence, ids: Sequence[int]) -> ClassSequence:
    """Return a sequence whose classes, in ascending order, have other ids."""
    old = sorted(sequence.order)
    if old == list(ids):
        return sequence
    new = dict(zip(old, ids, strict=True))
    return ClassSequence([new[class_] for class_ in task] for task in sequence.tasks)


def note_unlearned(first_tasks: Mapping[str, FirstTask]) -> list[str]:
    """Return a sentence on each learner that has not learned its first task, as measured."""
    notes = []
    for method, first_task in first_tasks.items():
        if first_task.is_learned:
            continue
        facts = f"{first_task.training:.0f} % of its training inputs are right just after it"
        facts += f" and {first_task.accuracy:.0f} % of its test inputs"
        if first_task.class_means is not None:
            facts += (
                f", where class means of untrained features have {first_task.class_means:.0f} %"
            )
        longer = "train longer"
        if first_task.budget is not None:
            number, unit = first_task.budget
            longer += f" (--{unit} {_LONGER * number})"
        notes.append(f"{method} has not learned its first task: {facts}; {longer}.")
    return notes


def _by_position(by_sequence: Mapping[ClassSequence, Floats], tasks: int) -> Floats:
    values = np.array(list(by_sequence.values()))
    places = np.stack([sequence.task_of() for sequence in by_sequence])
    mean = np.full((values.shape[1], tasks), np.nan)
    for position in range(tasks):
        at_position = (places == position) & ~np.isnan(values)
        for class_ in np.flatnonzero(at_position.any(axis=0)):
            mean[class_, position] = values[at_position[:, class_], class_].mean()
    return mean
