"""Trials: short trainings before a run, from which its duration and its states are predicted."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from edgecil.data.dataset import Dataset
from edgecil.data.items import Items
from edgecil.errors import UsageError
from edgecil.experiments.plan import Node, Plan
from edgecil.experiments.status import expected_seconds
from edgecil.training.requirements import split_labels

if TYPE_CHECKING:
    from edgecil.training.node_training import Outcome, WorkerContext
    from edgecil.training.planner import Inspection

_FILES, _ARRAYS = 240, 4000  # training inputs of a trial, from files and from memory
_WHOLE = 20_000  # training inputs of a dataset in memory with all of which trials are made
_EVALUATED = 100  # runs of an order-free learner in a trial


@dataclass(frozen=True)
class MethodTrial:
    """What a trial of a method has measured.

    Attributes:
        seconds: durations of the first tasks of a run.
        first_time: further seconds when a task is trained for the first time in any run.
        first_run: further seconds of the first run alone.
        state_size: bytes of a state.
        unknown: why nothing could be measured.
    """

    seconds: Sequence[float] = ()
    first_time: float = 0.0
    first_run: float = 0.0
    state_size: int = 0
    unknown: str = ""


def try_methods(
    inspection: Inspection, plan: Plan, methods: Sequence[str], end: float
) -> dict[str, MethodTrial]:
    """Train until a moment: whole runs if all data are in memory, else a part of a first task."""
    from edgecil.training.loading import load_context

    opened = inspection.opened
    assert opened is not None
    labels = split_labels(opened)[0]
    ids = inspection.ids[list(plan.roots[0].prefix[0])]
    inputs = int(np.isin(labels, ids).sum())
    part = None
    if not isinstance(opened, Dataset):
        first_items = _first_items(opened, max(2, _FILES // len(ids)))
        part = first_items.read(ids, inspection.config.data.image_size)
    elif len(labels) > _WHOLE:
        part = opened.take(ids[: max(1, _ARRAYS * len(ids) // inputs)])
    _, context, _ = load_context(inspection, images=part)
    context.prepare()
    trials = {}
    for number, method in enumerate(methods):
        limit = max(0.5, (end - time.monotonic()) / (len(methods) - number))
        with tempfile.TemporaryDirectory(prefix="edgecil-") as folder:
            environment = replace(context.environment, shared=folder)
            of_method = replace(context, environment=environment)
            if part is not None:
                task = Node(method, 0, (tuple(range(len(part))),))
                trial = _try_run(of_method, task, inputs, limit)
                trials[method] = _scaled(trial, inputs / len(part.train))
            elif of_method.entry(method).order_free:
                trials[method] = _try_orders(of_method, method, plan, Path(folder), limit)
            else:
                trials[method] = _try_run(of_method, first_run(plan, method), inputs, limit)
    return trials


def expected_durations(
    remaining: Sequence[Node],
    measured: Mapping[Node, float],
    plan: Plan,
    trials: Mapping[str, MethodTrial],
) -> dict[Node, float]:
    """Return the expected seconds of task trainings, from stored durations and from trials."""
    durations = dict(measured)
    for method, trial in trials.items():
        durations |= dict(zip(first_run(plan, method).path, trial.seconds, strict=False))
    expected = expected_seconds(remaining, durations)
    first_nodes = {(node.method, node.prefix[-1]): node for node in expected}
    for (method, _), node in first_nodes.items():
        if method in trials:
            expected[node] += trials[method].first_time
    for method, trial in trials.items():
        root = first_run(plan, method).path[0]
        if expected and trial.first_run:
            expected[root] = expected.get(root, 0.0) + trial.first_run
    return expected


def first_run(plan: Plan, method: str) -> Node:
    """Return the first run of a method."""
    return next(run for run in plan.runs if run.method == method)


def _scaled(trial: MethodTrial, factor: float) -> MethodTrial:
    """Return a trial with few inputs as it would be with more."""
    seconds = [factor * duration for duration in trial.seconds]
    return replace(trial, seconds=seconds, first_time=factor * trial.first_time)


def _try_run(context: WorkerContext, run: Node, inputs: int, limit: float) -> MethodTrial:
    """Train the first tasks of a run, as far as time permits.

    The first one is trained twice: the second time, what sequences share (features, adapters) is
    there already. A training that does not end in time is scaled by its steps.
    """
    from torch.optim.optimizer import register_optimizer_step_post_hook

    from edgecil.training.node_training import TooLongError, at_most, learn_node, packed

    import_module("torch._dynamo")  # as optimizers do; an import that is cut off stays broken

    durations: list[float] = []
    step_times: list[float] = []
    state_size = 0
    state: Any = None
    hook = register_optimizer_step_post_hook(lambda *_: step_times.append(time.perf_counter()))
    try:
        with suppress(TooLongError), at_most(limit):
            for node in (run.path[0], *run.path):
                start = time.perf_counter()
                before = None if len(node.prefix) == 1 else state
                outcome, state = learn_node(context, node, before, keep=True)
                if (problem := _problem(outcome)) or state is None:
                    return MethodTrial(unknown=problem)
                durations.append(time.perf_counter() - start)
                state_size = state_size or len(packed(state))
    finally:
        hook.remove()
    if len(durations) > 1:
        first_time = max(0.0, durations[0] - durations[1])
        return MethodTrial(durations[1:], first_time, state_size=state_size)
    if durations:
        return MethodTrial(durations, state_size=state_size)
    schedule = getattr(context.configs[run.method], "schedule", None)
    if schedule is not None and len(step_times) > 1:
        of_step = (step_times[-1] - step_times[0]) / (len(step_times) - 1)
        return MethodTrial((schedule.count_steps(inputs) * of_step,))
    return MethodTrial(unknown="its first task took too long to be measured")


def _try_orders(
    context: WorkerContext, method: str, plan: Plan, folder: Path, limit: float
) -> MethodTrial:
    """Score all classes, and evaluate some runs from these scores."""
    from edgecil.experiments.store import Store
    from edgecil.training.executors.local import InProcess
    from edgecil.training.node_training import TooLongError, at_most, score_classes
    from edgecil.training.order_evaluation import evaluate_orders, save_scores
    from edgecil.training.scheduler import Observer

    runs = [run for run in plan.runs if run.method == method][:_EVALUATED]
    labels = context.scenario.test.labels.cpu().numpy()
    with suppress(TooLongError), at_most(limit), Store(folder / "trial") as store:
        start = time.perf_counter()
        outcome = score_classes(context, runs[0])
        if (problem := _problem(outcome)) or outcome.scores is None:
            return MethodTrial(unknown=problem)
        scored = time.perf_counter()
        save_scores(store, method, outcome.scores, outcome.worker)
        evaluated = Plan.of(runs)
        evaluate_orders(evaluated, [method], labels, store, InProcess(context), Observer())
        of_task = (time.perf_counter() - scored) / len(evaluated)
        return MethodTrial([of_task] * len(runs[0].prefix), first_run=scored - start)
    return MethodTrial(unknown="its scores took too long to be measured")


def _problem(outcome: Outcome) -> str:
    """Return why a trial has failed, or nothing; what a run would refuse, too, is an error."""
    if outcome.permanent:
        raise UsageError((outcome.error or "").partition(": ")[2])
    return "" if outcome.error is None else f"a trial failed with {outcome.error}"


def _first_items(items: Items, each: int) -> Items:
    """Return at most `each` training and test items of every class."""
    parts = 2 * items.labels + items.testing
    places = [np.flatnonzero(parts == part)[:each] for part in np.unique(parts)]
    kept = np.sort(np.concatenate(places))
    few = [items.items[int(index)] for index in kept]
    return replace(items, items=few, labels=items.labels[kept], testing=items.testing[kept])
