"""What enumerating every order costs, side by side, with the learners trained from scratch.

    python benchmarks/from_scratch.py [--methods ewc,icarl,der,foster,memo,tagfex] [--classes 6]

Runs every sequence of the first classes of quickdraw with the fast schedule, all cores at work, and
prints a Markdown table. CPU seconds are those of all workers together: on two idle cores about
twice the seconds, and nearly the same on busy ones.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import tempfile
import time
from contextlib import closing
from pathlib import Path

import numpy as np

from edgecil.experiments import Execution, Node, Store, build_config
from edgecil.io.device import cores
from edgecil.training.executors import get_executor
from edgecil.training.loading import Prepared, prepare
from edgecil.training.node_training import pack
from edgecil.training.scheduler import execute

FROM_SCRATCH = "ewc,icarl,der,foster,memo,tagfex"
COLUMNS = (
    "method",
    "sequences",
    "trainings",
    "seconds",
    "CPU seconds",
    "mean A(O)",
    "std",
    "last state (kB)",
)


def enumerate_all(prepared: Prepared) -> tuple[int, float, float, np.ndarray]:
    """Trainings, seconds, CPU seconds of the workers, and the accuracies of all sequences."""
    with tempfile.TemporaryDirectory() as out, closing(Store(out)) as store:
        for name, runs in prepared.sequences.items():
            store.add_sequences(name, runs)
        executor = get_executor(Execution(workers=cores()), prepared.context, Path(out))
        start, used = time.perf_counter(), cpu_of_workers()
        summary = execute(prepared.plan, store, executor)
        seconds = time.perf_counter() - start
        for worker in multiprocessing.active_children():
            worker.join()
        used = cpu_of_workers() - used
        measured = np.array([run.accuracy for run in store.runs().values()])
        return summary.trained, seconds, used, measured


def cpu_of_workers() -> float:
    """CPU seconds of all processes started from here that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def kilobytes(prepared: Prepared) -> float:
    """Size of the state after the last task of one sequence."""
    name, (run, *_) = next(iter(prepared.context.configs)), prepared.sequences["enumerate"]
    node = Node(name, 0, run.sequence.tasks)
    method = prepared.context.build(node)
    for step in node.path:
        with prepared.context.scenario.task(step.prefix, step.seed) as task:
            method.learn(task)
    return len(pack(method.state())) / 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--methods", default=FROM_SCRATCH)
    parser.add_argument("--classes", type=int, default=6)
    parser.add_argument("--tasks", type=int, default=3)
    args = parser.parse_args()
    print(f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}")
    total = 0.0
    for name in args.methods.split(","):
        config = build_config(
            {
                "method": name,
                "dataset": "quickdraw",
                "classes": args.classes,
                "tasks": args.tasks,
                "protocol": "enumerate",
            }
        )
        prepared = prepare(config)
        trainings, seconds, used, measured = enumerate_all(prepared)
        total += seconds
        row = (
            name,
            len(measured),
            trainings,
            f"{seconds:.0f}",
            f"{used:.0f}",
            f"{measured.mean():.2f}",
            f"{measured.std():.2f}",
            f"{kilobytes(prepared):.0f}",
        )
        print(f"| {' | '.join(map(str, row))} |", flush=True)
    print(f"\n{total:.0f} seconds in all, {cores()} workers.")


if __name__ == "__main__":
    main()
