"""Evaluation of order-free learners: all class orders from the scores of one learner."""

from __future__ import annotations

import logging
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

import numpy as np
import torch

from edgecil.experiments.plan import Node, Plan
from edgecil.experiments.results import NodeResult, WholeRun
from edgecil.experiments.store import Store, save_state
from edgecil.io.arrays import Floats
from edgecil.io.file_reads import ReadFiles
from edgecil.training.chains import PERIOD, Chain, Job, Step
from edgecil.training.executors import Executor
from edgecil.training.learner_checks import LearnerChecks
from edgecil.training.node_training import Outcome, pack, unpack
from edgecil.training.order_free import OrderCounts, StageCounter, Whole
from edgecil.training.result_buffer import ResultBuffer
from edgecil.training.scheduler import Observer, check_refused

_CLASSIFIER = "head"

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Evaluated:
    """How many tasks an evaluation found stored or added, and the runs that must be trained."""

    plan: Plan
    added: int
    reused: int


def evaluate_orders(
    plan: Plan,
    order_free: Collection[str],
    labels: Whole,
    store: Store,
    executor: Executor,
    observer: Observer,
    *,
    worker: Mapping[str, str] | None = None,
) -> Evaluated:
    """Store the results of all runs of order-free learners, whose scores a worker computes once.

    `labels` belong to the test images (n,). A learner whose scores cannot be computed is trained
    like all others, which shows why. `worker` is in what this process differs from the identity.
    """
    if not order_free:
        return Evaluated(plan, 0, 0)
    finished = set(store.finished_nodes())
    buffer = ResultBuffer(store)
    remaining: list[Node] = []
    added = reused = 0
    try:
        for method in dict.fromkeys(run.method for run in plan.runs):
            runs = [run for run in plan.runs if run.method == method]
            missing = [run for run in runs if run not in finished]
            scored = None
            if method in order_free and missing:
                scored = _find_scores(missing[0], store, executor, observer)
            if method not in order_free or (missing and scored is None):
                remaining += runs
                continue
            before = len(Plan.of(run for run in runs if run in finished))
            reused += before
            added += len(Plan.of(runs)) - before
            if scored is not None:
                differences = {**(worker or {}), **scored.worker}
                results = _evaluate(missing, scored, labels)
                _store_runs(results, scored, store, buffer, observer, differences)
    finally:
        buffer.write()
    return Evaluated(Plan.of(remaining), added, reused)


@dataclass(frozen=True)
class _Scored:
    """The scores (n_test, classes) of a method, and what computing them took.

    `worker` is in what the worker differed, `memory` its peak in bytes; `checks` and `files` are of
    a learner that is not part of edgecil.
    """

    method: str
    scores: Floats
    worker: Mapping[str, str]
    memory: int = 0
    seconds: float = 0.0
    checks: LearnerChecks | None = None
    files: ReadFiles = field(default_factory=ReadFiles)


def _find_scores(run: Node, store: Store, executor: Executor, observer: Observer) -> _Scored | None:
    """Return the scores of a learner, from a file or a worker; None if they cannot be computed."""
    path = _scores_path(store, run.method)
    with suppress(Exception):  # a missing or damaged file
        state = unpack(path.read_bytes())
        return _Scored(run.method, state["scores"].numpy(), state["worker"])
    start = time.perf_counter()
    job = Job((Chain((Step(run, path),)),), scores=True)
    executor.submit(job)
    observer.on_job(job)
    finished = None
    while finished is None:
        finished = executor.wait()
    observer.on_job_end(job)
    outcome = finished.crash or (finished.outcomes[0][0] if finished.outcomes[0] else None)
    if outcome is not None and outcome.scores is not None:
        return _Scored(
            run.method,
            outcome.scores,
            outcome.worker,
            outcome.memory,
            time.perf_counter() - start,
            outcome.checks,
            outcome.files,
        )
    if outcome is not None:
        check_refused(outcome)
    _log.warning(
        "%s is trained order by order, because its scores could not be computed (%s).",
        run.method,
        "too little memory" if outcome is None else outcome.error,
    )
    return None


def _store_runs(
    results: Iterable[tuple[Node, WholeRun]],
    scored: _Scored,
    store: Store,
    buffer: ResultBuffer,
    observer: Observer,
    differences: Mapping[str, str],
) -> None:
    """Store the results of runs; scores that took more than a second are in a file meanwhile.

    The file is written after the first result, from when on the store refuses other settings of the
    method, to which these scores would not belong.
    """
    is_first, checks = True, scored.checks
    for run, result in results:
        buffer.add(run, result, differences)
        for node, counts in zip(run.path, result.nodes, strict=True):
            observer.on_node(node, Outcome(counts, checks=checks, files=scored.files))
            checks = None
        if is_first or buffer.are_due:
            buffer.write()
        if is_first and scored.seconds > PERIOD:
            save_scores(store, scored.method, scored.scores, scored.worker)
        is_first = False
    buffer.write()
    _scores_path(store, scored.method).unlink(missing_ok=True)


def save_scores(store: Store, method: str, scores: Floats, worker: Mapping[str, str]) -> None:
    """Write the scores of a method to a file, from which an evaluation continues."""
    content = pack({"scores": torch.from_numpy(scores), "worker": dict(worker)})
    save_state(_scores_path(store, method), content)


def _scores_path(store: Store, method: str) -> Path:
    """Return the file for the scores of a method, named like a node without tasks."""
    return store.state_path(Node(method, 0, ()))


def _evaluate(runs: list[Node], scored: _Scored, labels: Whole) -> Iterator[tuple[Node, WholeRun]]:
    """Yield each run with its result; runs with equally many tasks are counted together."""
    counter = StageCounter(scored.scores, labels)
    runs = sorted(runs, key=lambda run: len(run.prefix))
    for _, group in groupby(runs, key=lambda run: len(run.prefix)):
        of_length = list(group)
        start = time.perf_counter()
        for run, counts in zip(
            of_length, counter.count([run.prefix for run in of_length]), strict=True
        ):
            seconds = time.perf_counter() - start
            yield run, _result(run, counts, counter.totals, seconds, scored.memory)
            start = time.perf_counter()


def _result(
    run: Node, counts: OrderCounts, totals: Whole, seconds: float, peak_memory: int
) -> WholeRun:
    """Return the results after every task; the last one has the cost."""
    nodes = []
    order = np.concatenate([np.array(task) for task in run.prefix])
    ends = np.cumsum([len(task) for task in run.prefix])
    totals_of_tasks = _by_task(totals[order], ends)
    for stage in range(len(run.prefix)):
        is_last = stage == len(run.prefix) - 1
        right = _by_task(counts.correct[stage, order[: ends[stage]]], ends[: stage + 1])
        wrong = counts.wrong[stage, : stage + 1].tolist()
        nodes.append(
            NodeResult.per_class(
                {_CLASSIFIER: right},
                totals_of_tasks[: stage + 1],
                seconds if is_last else 0.0,
                peak_memory if is_last else 0,
                {_CLASSIFIER: tuple(map(tuple, wrong))},
            )
        )
    return WholeRun(tuple(nodes))


def _by_task(values: Whole, ends: Whole) -> tuple[tuple[int, ...], ...]:
    """Return values (classes,) as one tuple per task."""
    return tuple(tuple(part.tolist()) for part in np.split(values, ends[:-1]))
