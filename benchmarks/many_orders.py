"""What the engine costs beside the training: many orders of 100 classes in 10 tasks on vectors.

    python benchmarks/many_orders.py [--orders 300] [--method finetune] [--dataset caltech101]

CPU seconds of `edgecil.run` in this process against the same trainings and tests as plain loops:
no store, no states, no plan. Start-up, mostly the import of torch, is that of a run of one order.
"""

import argparse
import tempfile
import time
import warnings
from pathlib import Path

import edgecil
from edgecil.experiments.plan import Node
from edgecil.training.node_training import WorkerContext, _test
from edgecil.training.run import resolve, run_resolved


def bare(context: WorkerContext, experiment: edgecil.Experiment) -> float:
    """Train and test every run of an experiment in plain loops; CPU seconds."""
    start = time.process_time()
    for run in experiment.results():
        tasks = run.sequence.tasks
        method = context.build(Node(run.method, run.seed, tasks))
        for end in range(1, len(tasks) + 1):
            node = Node(run.method, run.seed, tasks[:end])
            with context.scenario.task(node.prefix, node.seed) as task:
                method.learn(task)
            _test(method, context.scenario, node)
    return time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--orders", type=int, default=300)
    parser.add_argument("--method", default="finetune")
    parser.add_argument("--dataset", default="caltech101")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    options = {
        "method": args.method,
        "dataset": args.dataset,
        "tasks": 10,
        "protocol": "random",
        "execution": {"workers": 1},
    }
    contexts = []
    seconds = []
    with tempfile.TemporaryDirectory() as folder:
        for orders in (1, args.orders):
            start = time.process_time()
            asked = resolve(None, {**options, "budget": orders}, out=Path(folder) / str(orders))
            experiment = run_resolved(asked, lambda prepared, *_: contexts.append(prepared.context))
            seconds.append(time.process_time() - start)
        loops = bare(contexts[-1], experiment)
    first, engine = seconds
    print(f"{args.orders} orders of {args.method}: {engine:.1f} s, plain loops {loops:.1f} s,")
    print(f"{engine / loops:.2f} times; {(first + engine) / loops:.2f} with {first:.1f} s to start")


if __name__ == "__main__":
    main()
