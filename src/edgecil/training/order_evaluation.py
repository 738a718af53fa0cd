"""Evaluation of order-free learners: all class orders from the scores of one learner."""

from __future__ import annotations

import logging
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby

import numpy as np
import torch

from edgecil.experiments.plan import Node, Plan
from edgecil.experiments.results import NodeResult, WholeRun
from edgecil.experiments.store import Store, save_state
from edgecil.training.chains import PERIOD, Chain, Job, Step
from edgecil.training.executors import Executor
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

    `labels` are those of the test images (n,). A learner whose scores cannot be computed is trained
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
            outcome = None
            if method in order_free and missing:
                outcome = _find_scores(missing[0], store, executor, observer)
            if method not in order_free or (missing and outcome is None):
                remaining += runs
                continue
            before = len(Plan.of(run for run in runs if run in finished))
            reused += before
            added += len(Plan.of(runs)) - before
            if outcome is not None and outcome.scores is not None:
                differences = {**(worker or {}), **outcome.worker}
                for run, result in _evaluate(missing, outcome, labels):
                    buffer.add(run, result, differences)
                    for node, counts in zip(run.path, result.nodes, strict=True):
                        observer.on_node(node, Outcome(counts))
                    if buffer.are_due:
                        buffer.write()
                buffer.write()
                store.state_path(_of_scores(missing[0])).unlink(missing_ok=True)
    finally:
        buffer.write()
    return Evaluated(Plan.of(remaining), added, reused)


def _find_scores(run: Node, store: Store, executor: Executor, observer: Observer) -> Outcome | None:
    """Return the scores of a learner, from a file or a worker; None if they cannot be computed.

    Scores that took more than a second are in a file until all orders are stored.
    """
    path = store.state_path(_of_scores(run))
    with suppress(Exception):  # a missing or damaged file
        state = unpack(path.read_bytes())
        return Outcome(scores=state["scores"].numpy(), worker=state["worker"])
    start = time.perf_counter()
    job = Job((Chain((Step(run, path),)),), scores=True)
    executor.submit(job)
    observer.on_job(job)
    finished = None
    while finished is None:
        finished = executor.wait()
    observer.on_job_end(job)
    outcome = finished.crash or (finished.outcomes[0][0] if finished.outcomes[0] else None)
    if outcome is None or outcome.scores is None:
        if outcome is not None:
            check_refused(outcome)
        _log.warning(
            "%s is trained order by order, because its scores could not be computed (%s).",
            run.method,
            "too little memory" if outcome is None else outcome.error,
        )
        return None
    if time.perf_counter() - start > PERIOD:
        scores = torch.from_numpy(outcome.scores)
        save_state(path, pack({"scores": scores, "worker": dict(outcome.worker)}))
    return outcome


def _of_scores(run: Node) -> Node:
    """Return what stands for the scores of a run's method among nodes."""
    return Node(run.method, 0, ())


def _evaluate(runs: list[Node], outcome: Outcome, labels: Whole) -> Iterator[tuple[Node, WholeRun]]:
    """Yield each run with its result; runs with equally many tasks are counted together."""
    assert outcome.scores is not None
    counter = StageCounter(outcome.scores, labels)
    runs = sorted(runs, key=lambda run: len(run.prefix))
    for _, group in groupby(runs, key=lambda run: len(run.prefix)):
        of_length = list(group)
        start = time.perf_counter()
        for run, counts in zip(
            of_length, counter.count([run.prefix for run in of_length]), strict=True
        ):
            seconds = time.perf_counter() - start
            yield run, _result(run, counts, counter.totals, seconds, outcome.memory)
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
