"""Results after tasks: matrices and curves of a run become metrics of the run.

A matrix has the accuracy on every task after every step, a curve one value after every step. Their
metrics are defined in :mod:`edgecil.runs.metrics`; other values, such as losses, are averaged over
the tasks of the last step. A run that ended early has failed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import PurePath

import numpy as np

from edgecil.errors import name_some
from edgecil.io.arrays import Floats
from edgecil.runs.cells.cell_table import Cell
from edgecil.runs.metric_names import metric_name, split_words
from edgecil.runs.metrics import DEFAULT_METRIC, METRICS, Counts, find_metric
from edgecil.runs.reading.finished_runs import IDENTITY, SEED_LIKE, resolve_unknown, step_numbers
from edgecil.runs.reading.frames import (
    Frame,
    depends_on,
    groups_of,
    is_constant,
    is_numeric,
    number_in,
    text_of,
)
from edgecil.runs.reading.metric_choice import metric_of_column
from edgecil.runs.reading.path_names import metric_of_file
from edgecil.runs.reading.questions import ReadingQuestion
from edgecil.runs.reading.reading_options import BEST, LAST, Declarations

_MATRIX = {"matrix", "mat", "r"}
_TRAINING = {"train", "training"}
_MEASURED = {"eval", "evaluated", "evaluation", "test", "tested"}
_CURVE = {"curve", "curves", "history", "incremental", "trajectory"}
_PER_TASK = {"task", "tasks"}
_CURVE_PLACE = -1.0  # where the value of a curve stands among tasks


@dataclass
class _Run:
    """The rows of one run, and its values by metric, step and task."""

    rows: list[int] = field(default_factory=list)
    values: dict[str, dict[float, dict[float, float]]] = field(default_factory=dict)

    @property
    def steps(self) -> list[float]:
        """The steps with a value, in ascending order."""
        return sorted({step for by_step in self.values.values() for step in by_step})


def summarise_tasks(frame: Frame, declared: Declarations) -> None:
    """Make one row of the values of every run after its tasks; other frames are left alone."""
    _leave_facts(frame)
    _name_matrix(frame)
    _take_tasks_of_own_runs(frame)
    _decide_lone_tasks(frame, declared)
    if frame.question is not None:
        return
    steps = [name for name in frame.with_role("step") if not is_constant(frame.columns[name])]
    tasks = [name for name in frame.with_role("task") if not is_constant(frame.columns[name])]
    columns = frame.with_role("metric", "curve")
    if steps:
        _number_repeats(frame, [*steps, *tasks])
    if not columns or not (tasks or frame.with_role("curve")):
        return
    try:
        resolve_unknown(frame, declared, columns[0])
    except ReadingQuestion as question:
        frame.question = question
        return
    runs = _runs_of(frame, steps[:1], tasks[:1], columns)
    count = max(len(run.steps) for run in runs)
    results = [_metrics_of(frame, run, columns, declared) for run in runs]
    for run, result in zip(runs, results, strict=True):
        if _is_unfinished(frame, run):
            result.update(dict.fromkeys(result, np.nan))
            place = frame.place_of(run.rows[-1])
            frame.notes.append(f"The run that ends with {place} did not finish; it has failed.")
    _replace(frame, runs, results)
    if steps:
        unit = "tasks" if len(frame.with_role("task")) or count < 100 else "steps"
        named = {LAST: f"last of {count} {unit}", BEST: f"best of {count} {unit}"}
        frame.parts.append(named.get(str(declared.at), f"{steps[0]} {declared.at}"))
    else:
        frame.parts.append("mean over tasks")


def _leave_facts(frame: Frame) -> None:
    """Take the role of a metric from what stands beside a matrix, such as its own summary."""
    facts = {name for table in frame.tables for name in table.facts}
    axes = frame.with_role("index")
    if axes:  # forms put what stands beside a list before its places
        names = list(frame.columns)
        facts |= set(names[: names.index(axes[0])])
    if frame.with_role("step", "task", "index"):
        for name in frame.with_role("metric", "curve"):
            if name in facts:
                frame.roles[name] = "label"


def _name_matrix(frame: Frame) -> None:
    """Find the axes of a square array that is called a matrix."""
    axes = frame.with_role("index")
    values = [
        name
        for name in frame.columns
        if name not in frame.roles or frame.roles[name] in ("metric", "value")
    ]
    facts = {name for table in frame.tables for name in table.facts}
    values = [name for name in values if name not in facts]
    if len(values) != 1:
        return
    name = values[0]
    words = set(split_words(name))
    stems = {PurePath(table.source).name.partition(".")[0] for table in frame.tables}
    is_unnamed = words <= {"value", "index", *_MATRIX}
    is_matrix = bool(_MATRIX & words) or all(_MATRIX & set(split_words(stem)) for stem in stems)
    if is_matrix and len(axes) in (2, 3) and not frame.with_role("step", "task"):
        *run_axes, step, task = axes
        lengths = {len(set(frame.columns[axis])) for axis in (step, task)}
        if len(lengths) == 1:
            if _is_transposed(frame, step, task, name):
                step, task = task, step
            frame.roles |= {step: "step", task: "task"} | dict.fromkeys(run_axes, "seed")
    if not (frame.with_role("step", "task") and (is_matrix or is_unnamed)):
        return
    left = [word for word in split_words(name) if word not in _MATRIX]
    if is_unnamed:
        named = {metric_of_file(table.source) for table in frame.tables}
        left = [named.pop()] if len(named) == 1 else []
    metric = metric_of_column(" ".join(left)) or name
    if metric_name(metric) is not None or metric in METRICS:
        frame.columns[metric] = frame.columns.pop(name)
        frame.roles.pop(name, None)
        frame.roles[metric] = "metric"


def _is_transposed(frame: Frame, step: str, task: str, name: str) -> bool:
    """Return whether the first axis of a matrix counts tasks: its zeros are below the diagonal."""
    upper, lower = [], []
    for first, second, cell in zip(
        frame.columns[step], frame.columns[task], frame.columns[name], strict=True
    ):
        number = number_in(cell)
        value = 0.0 if number is None else number.value
        if int(str(first)) < int(str(second)):
            upper.append(value)
        elif int(str(first)) > int(str(second)):
            lower.append(value)
    return not any(lower) and any(upper)


def _take_tasks_of_own_runs(frame: Frame) -> None:
    """Take names of tasks as datasets where each task has runs of its own."""
    runs = frame.with_role("run")
    for role in ("task", "step") if runs else ():
        for name in frame.with_role(role):
            cells = frame.columns[name]
            has_names = not is_numeric(cells) and not is_constant(cells)
            is_of_run = has_names and depends_on(frame, name, runs)
            if is_of_run and not frame.with_role("task" if role == "step" else ""):
                frame.roles[name] = "scenario" if frame.with_role("dataset") else "dataset"


def _decide_lone_tasks(frame: Frame, declared: Declarations) -> None:
    """Find out whether tasks without steps are those learned or those measured.

    In a log of training, which has epochs or metrics of training, and beside columns of methods,
    as in the data of a plot, they are those learned.
    """
    names = [
        name for name in frame.with_role("task", "index") if not is_constant(frame.columns[name])
    ]
    metrics = frame.with_role("metric")
    if frame.has_task_axis or not metrics or frame.with_role("step", "curve"):
        return
    if len(names) > 1 and all(frame.roles[name] == "index" for name in names):
        frame.question = _question_of_axes(frame, names, metrics[0])
    if len(names) != 1:
        return
    name = names[0]
    if name.lower() in {column.lower() for column in declared.roles}:
        return
    words = set(split_words(name))
    value_words = {word for metric in metrics for word in split_words(metric)}
    if _are_losses(metrics) and not frame.with_role("epoch", *SEED_LIKE):
        _number_epochs(frame, name)
    has_epochs = any(not is_constant(frame.columns[epoch]) for epoch in frame.with_role("epoch"))
    if has_epochs or value_words & _TRAINING or _has_columns_of_methods(frame):
        frame.roles[name] = "step"
    elif words & _MEASURED or (frame.roles[name] == "index" and value_words & _PER_TASK):
        frame.roles[name] = "task"
    elif frame.roles[name] == "index" and value_words & _CURVE:
        frame.roles[name] = "step"
    else:
        frame.question = _question_of_one_axis(frame, name, metrics[0])


def _question_of_one_axis(frame: Frame, axis: str, metric: str) -> ReadingQuestion:
    """Return the question what tasks are that have one value each."""
    roles = {
        "seed": "the runs",
        "step": f"the tasks after which {metric!r} was measured",
        "task": "those on which it was measured in the end",
    }
    if frame.roles[axis] != "index" or frame.with_role(*SEED_LIKE):
        del roles["seed"]
    meanings = [f"{meaning} ({role}={axis})" for role, meaning in roles.items()]
    return ReadingQuestion(
        f"{axis!r} of {frame.origin} may count {', or '.join(meanings)}; say which by `columns`.",
        {"columns": [f"{role}={axis}" for role in roles]},
    )


def _question_of_axes(frame: Frame, axes: Sequence[str], metric: str) -> ReadingQuestion:
    """Return the question what the axes of an array are that is not called a matrix."""
    pairs = (("seed", "step"), ("seed", "task"), ("step", "task"))
    ways = pairs if len(axes) == 2 else (("seed", "step", "task"), ("setting", "step", "task"))
    answers = [
        ",".join(f"{role}={axis}" for role, axis in zip(roles, axes, strict=False))
        for roles in ways
    ]
    return ReadingQuestion(
        f"The axes of {metric!r} in {frame.origin} may be runs and the tasks after which, or on "
        "which, it was measured, or the two axes of a matrix; say which by `columns`: "
        f"{', or '.join(answers)}.",
        {"columns": answers},
    )


def _has_columns_of_methods(frame: Frame) -> bool:
    """Return whether the methods were columns of the file, as in the data of a plot."""
    present = {name for table in frame.tables for name in (*table.header, *table.facts)}
    return "method" in frame.with_role("method") and "method" not in present


def _are_losses(metrics: Sequence[str]) -> bool:
    return all("loss" in " ".join(split_words(metric)) for metric in metrics)


def _number_epochs(frame: Frame, task: str) -> None:
    """Number several losses of a task by epochs, where nothing else tells them apart."""
    counts: Counter[int] = Counter()
    numbers: list[Cell] = []
    for group in groups_of(frame, [*frame.with_role(*IDENTITY), task]):
        numbers.append(counts[group])
        counts[group] += 1
    if max(counts.values()) > 1:
        frame.add("epoch", numbers, "epoch")
        frame.notes.append(f"The rows of {frame.origin} count as epochs; the last one counts.")


def _number_repeats(frame: Frame, axes: Sequence[str]) -> None:
    """Number runs that have no seed: the first values of every step, the second ones, and so on.

    A name that several runs share does not tell them apart.
    """
    if frame.is_log or frame.with_role("seed", "order", "sequence"):
        return
    key_columns = [*frame.with_role(*IDENTITY), *axes, *frame.with_role("epoch")]
    counts: Counter[int] = Counter()
    numbers: list[Cell] = []
    for group in groups_of(frame, key_columns):
        numbers.append(counts[group])
        counts[group] += 1
    identity = groups_of(frame, frame.with_role(*IDENTITY))
    lengths: dict[int, set[int]] = {}
    for whole, group in zip(identity, groups_of(frame, key_columns), strict=True):
        lengths.setdefault(whole, set()).add(counts[group])
    are_equal = all(len(lengths_of_run) == 1 for lengths_of_run in lengths.values())
    if are_equal and max(counts.values()) > 1:
        role = "run" if frame.with_role("run") else "seed"
        frame.add("run", numbers, role)
        frame.notes.append(
            f"{frame.origin} has {max(counts.values())} values of each step; the first ones count "
            "as the first run, and so on."
        )


def _runs_of(
    frame: Frame, steps: Sequence[str], tasks: Sequence[str], columns: Sequence[str]
) -> list[_Run]:
    """Return the runs of a frame; of a run that was started again in one log, the last one."""
    count = len(frame)
    groups = groups_of(frame, frame.with_role(*IDENTITY))
    step_of_row = step_numbers(frame.columns[steps[0]]) if steps else [0.0] * count
    task_of_row = step_numbers(frame.columns[tasks[0]]) if tasks else [0.0] * count
    epochs = [step_numbers(frame.columns[name]) for name in frame.with_role("epoch")]
    order = sorted(range(count), key=lambda row: [numbers[row] for numbers in epochs])
    runs: dict[tuple[int, int], _Run] = {}
    for row in order:
        table = frame.table_of_row[row]
        run = runs.setdefault((groups[row], table), _Run())
        run.rows.append(row)
        for column in columns:
            number = number_in(frame.columns[column][row])
            if number is None:
                continue
            is_curve = frame.roles[column] == "curve"
            place = _CURVE_PLACE if is_curve else task_of_row[row]
            by_step = run.values.setdefault(column, {})
            by_step.setdefault(step_of_row[row], {})[place] = number.value
    for run in runs.values():
        run.rows.sort()
    return _without_restarted(frame, runs)


def _without_restarted(frame: Frame, runs: dict[tuple[int, int], _Run]) -> list[_Run]:
    """Return runs without those that were started again later in the same log."""
    kept: dict[tuple[int, str], _Run] = {}
    for (group, table), run in sorted(runs.items()):
        source = frame.tables[table].source
        if not frame.with_role("seed"):
            source += f" {table}"  # nothing says that two runs are the same
        earlier = kept.get((group, source))
        if earlier is None:
            kept[group, source] = run
            continue
        is_finished = len(run.steps) >= len(earlier.steps)
        if is_finished:
            kept[group, source] = run
        which = "the later one counts" if is_finished else "the longer one counts"
        frame.notes.append(f"{source} has two runs with the same settings; {which}.")
    return list(kept.values())


def _metrics_of(
    frame: Frame, run: _Run, columns: Sequence[str], declared: Declarations
) -> dict[str, float]:
    """Return the metrics of a run."""
    ends = _ends(run, declared)
    results: dict[str, float] = {}
    for column in columns:
        by_step = run.values.get(column, {})
        steps = [step for step in run.steps if step in by_step]
        if not steps:
            continue
        name = metric_of_column(column)
        if frame.roles[column] == "curve":
            curve = [by_step[step][_CURVE_PLACE] for step in steps]
            results |= _curve_metrics(curve, ends)
        elif name == DEFAULT_METRIC and frame.with_role("task"):
            values = _matrix_metrics(_matrix(by_step, steps), _task_sizes(frame, run), ends)
            results = {**values, **results}
        else:
            means = [float(np.mean(list(by_step[step].values()))) for step in steps]
            higher = find_metric(name).higher_is_better
            results[name] = _at_end(means, ends, higher_is_better=higher)
    return results


def _ends(run: _Run, declared: Declarations) -> list[int]:
    """Return how many steps count: all, as many as are declared, or each number of them."""
    steps = run.steps
    if declared.at == BEST:
        return list(range(1, len(steps) + 1))
    if declared.at == LAST:
        return [len(steps)]
    return [number for number, step in enumerate(steps, start=1) if step == declared.at]


def _matrix(by_step: dict[float, dict[float, float]], steps: Sequence[float]) -> Floats:
    """Return accuracies by step and task; NaN before a task was learned, if that is known."""
    tasks = sorted({task for step in steps for task in by_step[step]})
    matrix = np.array([[by_step[step].get(task, np.nan) for task in tasks] for step in steps])
    if matrix.shape[0] == matrix.shape[1]:
        matrix[np.triu_indices(len(tasks), k=1)] = np.nan
    return matrix


def _matrix_metrics(
    matrix: Floats, sizes: Sequence[float], ends: Sequence[int]
) -> dict[str, float]:
    """Return the metrics of a matrix of accuracies."""
    count = matrix.shape[1]
    images = np.array(sizes if len(sizes) == count else np.ones(count), dtype=np.float64)
    results: dict[str, list[float]] = {name: [] for name in METRICS}
    for end in ends:
        counts = Counts.of(matrix[:end] / 100.0 * images, images)
        for name in results:
            results[name].append(float(METRICS[name].compute(counts)))
    best = int(np.argmax(results[DEFAULT_METRIC])) if len(ends) > 1 else 0
    return {name: values[best] for name, values in results.items() if values}


def _curve_metrics(curve: Sequence[float], ends: Sequence[int]) -> dict[str, float]:
    """Return the metrics of a curve of accuracies over everything learned."""
    if not ends:
        return {}
    end = max(ends, key=lambda number: curve[number - 1])
    return {"last": curve[end - 1], "average": float(np.mean(curve[:end]))}


def _at_end(values: Sequence[float], ends: Sequence[int], *, higher_is_better: bool) -> float:
    chosen = [values[end - 1] for end in ends if end <= len(values)]
    if not chosen:
        return np.nan
    return max(chosen) if higher_is_better else min(chosen)


def _task_sizes(frame: Frame, run: _Run) -> list[float]:
    """Return the sizes of the tasks of a run; empty if they are unknown."""
    for name in frame.with_role("task sizes"):
        text = text_of(frame.columns[name][run.rows[0]])
        if text.replace(" ", "").isdigit():
            return [float(size) for size in text.split()]
    return []


def _is_unfinished(frame: Frame, run: _Run) -> bool:
    """Return whether a run has fewer steps than its number of tasks, but more than one."""
    for name in frame.with_role("task count"):
        number = number_in(frame.columns[name][run.rows[0]])
        tasks: set[float] = set()
        for by_step in run.values.values():
            tasks.update(*by_step.values())
        is_joint = len(run.steps) == 1 and number is not None and len(tasks) == number.value
        return number is not None and len(run.steps) < number.value and not is_joint
    return False


def _replace(frame: Frame, runs: Sequence[_Run], results: Sequence[dict[str, float]]) -> None:
    """Leave one row for each run, with its metrics in place of the values after tasks."""
    gone = frame.with_role("metric", "curve", "step", "task", "epoch", "index")
    rows = [run.rows[-1] for run in runs]
    frame.take(rows)
    for name in gone:
        del frame.columns[name]
        del frame.roles[name]
    for name in dict.fromkeys(name for result in results for name in result):
        frame.add(name, [result.get(name) for result in results], "metric")


def describe_metrics(frame: Frame) -> str:
    """Return the metrics of a frame for a sentence."""
    return name_some(frame.with_role("metric"), 12)
