"""The engine's cost: prefix sharing on and off, and time beside forward and backward passes.

    python benchmarks/training.py [--method icarl] [--classes 6] [--tasks 3]

Enumerates every sequence of the first classes of quickdraw with the fast schedule, once with the
shared prefix tree and once sequence by sequence; both give the same accuracies, or this fails.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.multiprocessing
from rich.console import Console
from rich.table import Table

import edgecil.methods.network as network
from edgecil.experiments import Execution, Node, Plan, RunResult, Store, build_config
from edgecil.io.device import cores
from edgecil.sequences import ClassSequence
from edgecil.training.executors import get_executor, local
from edgecil.training.loading import Prepared, prepare
from edgecil.training.node_training import train_node
from edgecil.training.scheduler import execute


class Stopwatch:
    """Adds up the time spent inside some functions."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def timed(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def measured(*args: Any, **options: Any) -> Any:
            start = time.perf_counter()
            try:
                return function(*args, **options)
            finally:
                self.seconds += time.perf_counter() - start

        return measured


def enumerate_shared(prepared: Prepared, workers: int) -> tuple[dict[Any, float], float, int]:
    """All sequences in one tree: accuracies, seconds, trainings."""
    with tempfile.TemporaryDirectory() as out:
        store = Store(out)
        for name, runs in prepared.sequences.items():
            store.add_sequences(name, runs)
        start = time.perf_counter()
        executor = get_executor(Execution(workers=workers), prepared.context, Path(out))
        summary = execute(prepared.plan, store, executor)
        seconds = time.perf_counter() - start
        return _accuracies(store), seconds, summary.trained


def enumerate_one_by_one(prepared: Prepared, workers: int) -> tuple[dict[Any, float], float, int]:
    """Every sequence from its first task on, as separate runs would train it."""
    method = next(iter(prepared.context.configs))
    leaves = [
        Node(method, 0, run.sequence.tasks) for runs in prepared.sequences.values() for run in runs
    ]
    start = time.perf_counter()
    with ProcessPoolExecutor(
        workers,
        mp_context=torch.multiprocessing.get_context("spawn"),
        initializer=local._enter,
        initargs=(prepared.context,),
    ) as pool:
        results = list(pool.map(train_alone, leaves))
    seconds = time.perf_counter() - start
    measured = {result.sequence.tasks: result.accuracy for result in results}
    return measured, seconds, sum(len(result.nodes) for result in results)


def train_alone(leaf: Node) -> RunResult:
    """One sequence, task after task, in a worker."""
    assert local._context is not None
    state, results = None, []
    for node in leaf.path:
        outcome, state = train_node(local._context, node, state, keep=node != leaf)
        assert outcome.result is not None, outcome.trace
        results.append(outcome.result)
    return RunResult(leaf.method, leaf.seed, ClassSequence(leaf.prefix), tuple(results))


def overhead(prepared: Prepared, sequences: int) -> tuple[float, float]:
    """Share of the time beside forward and backward passes, in one process; and the seconds."""
    watch = Stopwatch()
    method = next(iter(prepared.context.configs))
    runs = [run for runs in prepared.sequences.values() for run in runs][:sequences]
    plain_fit, plain_batches, plain_backward = (
        network.fit,
        network.in_batches,
        torch.Tensor.backward,
    )

    def fit(parameters: Any, data: Any, loss: Any, *rest: Any, **options: Any) -> None:
        plain_fit(parameters, data, watch.timed(loss), *rest, **options)

    def in_batches(compute: Any, *rest: Any) -> torch.Tensor:
        return plain_batches(watch.timed(compute), *rest)

    network.fit, network.in_batches = fit, in_batches
    torch.Tensor.backward = watch.timed(plain_backward)  # type: ignore[method-assign]
    try:
        with tempfile.TemporaryDirectory() as out:
            store = Store(out)
            plan = Plan([method], [0], [run.sequence for run in runs])
            executor = get_executor(Execution(workers=1), prepared.context, Path(out))
            start = time.perf_counter()
            execute(plan, store, executor)
            seconds = time.perf_counter() - start
    finally:
        network.fit, network.in_batches = plain_fit, plain_batches
        torch.Tensor.backward = plain_backward  # type: ignore[method-assign]
    return 1.0 - watch.seconds / seconds, seconds


def _accuracies(store: Store) -> dict[Any, float]:
    return {prefix: run.accuracy for (_, _, prefix), run in store.runs().items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--method", default="icarl")
    parser.add_argument("--classes", type=int, default=6)
    parser.add_argument("--tasks", type=int, default=3)
    args = parser.parse_args()
    config = build_config(
        {
            "method": args.method,
            "dataset": "quickdraw",
            "classes": args.classes,
            "tasks": args.tasks,
            "protocol": "enumerate",
        }
    )
    prepared = prepare(config)
    workers = cores()
    shared, shared_seconds, shared_trained = enumerate_shared(prepared, workers)
    alone, alone_seconds, alone_trained = enumerate_one_by_one(prepared, workers)
    if shared != alone:
        raise SystemExit("Sharing changed an accuracy: that is a bug.")
    overhead(prepared, 1)  # the first optimizer of a process imports torch's compiler
    share, seconds = overhead(prepared, 4)
    table = Table("enumeration", "trainings", "seconds", title=f"{args.method}, {workers} workers")
    table.add_row("shared prefixes", str(shared_trained), f"{shared_seconds:.1f}")
    table.add_row("one by one", str(alone_trained), f"{alone_seconds:.1f}")
    values = np.array(list(shared.values()))
    console = Console()
    console.print(table)
    console.print(f"{len(values)} sequences: A(O) {values.mean():.2f} ± {values.std():.2f}")
    console.print(f"beside forward and backward passes: {share:.1%} of {seconds:.1f} s, one worker")


if __name__ == "__main__":
    main()
