"""What the order of test images changes for learners that choose prompts for a whole batch.

    python benchmarks/test_order.py [--classes 10] [--tasks 5] [--orders 6]

With published settings, L2P and DualPrompt give all images of a test batch the prompts that most of
them choose, and test images arrive class by class. Prints a Markdown table: A(O) of random class
orders with test images class by class and in a random order, and the mean difference with its 90 %
interval, from the differences by order.
"""

from __future__ import annotations

import argparse
import logging

import numpy as np
import torch
from scipy.stats import t as student

from edgecil.experiments.config import ExperimentConfig, Training
from edgecil.experiments.plan import Node
from edgecil.methods.method import Method
from edgecil.methods.task import Split
from edgecil.training.loading import prepare
from edgecil.training.node_training import WorkerContext

SETTINGS = {"l2p": {"batchwise": True}, "dualprompt": {"batchwise": True, "mixed": True}}


def accuracy(method: Method, test: Split, tasks: tuple[tuple[int, ...], ...]) -> float:
    """Return A(O): the mean over tasks of the accuracy on their test images, in per cent."""
    order = [class_ for task in tasks for class_ in task]
    answers = torch.tensor(order)[method.classify(test.inputs)["head"]]
    is_right = answers == test.labels
    of_tasks = [is_right[torch.isin(test.labels, torch.tensor(task))] for task in tasks]
    return 100 * float(np.mean([right.float().mean().item() for right in of_tasks]))


def train(context: WorkerContext, node: Node) -> Method:
    """Return a learner that has learned all tasks of a run."""
    method = context.build(node)
    for count in range(1, len(node.prefix) + 1):
        with context.scenario.task(node.prefix[:count], node.seed) as task:
            method.learn(task)
    return method


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--classes", type=int, default=10)
    parser.add_argument("--tasks", type=int, default=5)
    parser.add_argument("--orders", type=int, default=6)
    args = parser.parse_args()
    logging.disable(logging.WARNING)
    config = ExperimentConfig(
        tuple(SETTINGS),
        "quickdraw",
        tasks=args.tasks,
        protocol="random",
        budget=args.orders,
        data={"classes": args.classes},
        training=Training(set=SETTINGS),
    )
    prepared = prepare(config)
    prepared.context.prepare()
    columns = ("method", "settings", "class by class", "random order", "difference")
    print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    for name, settings in SETTINGS.items():
        accuracies = []
        for node in [node for node in prepared.plan.runs if node.method == name]:
            method = train(prepared.context, node)
            order = [class_ for task in node.prefix for class_ in task]
            test = prepared.context.scenario.test.only(tuple(order))
            shuffled = torch.randperm(len(test.labels), generator=torch.Generator().manual_seed(0))
            both = (test, test.take(shuffled))
            accuracies.append([accuracy(method, split, node.prefix) for split in both])
        by_class, mixed = np.array(accuracies).T
        apart = mixed - by_class
        half = student.ppf(0.95, len(apart) - 1) * apart.std(ddof=1) / len(apart) ** 0.5
        text = ", ".join(f"`{key} = true`" for key in settings)
        interval = f"{apart.mean() - half:+.2f} to {apart.mean() + half:+.2f}"
        print(
            f"| {name} | {text} | {by_class.mean():.2f} | {mixed.mean():.2f} "
            f"| {apart.mean():+.2f} ({interval}) |"
        )


if __name__ == "__main__":
    main()
