"""What RanPAC computes besides the network: Gram matrix, choice of the ridge, solution.

    python benchmarks/ranpac_solve.py [--images 5000] [--projection 10000] [--threads 1]

One task of ten classes with random features of width 768, as a task of CIFAR-100 on ViT-B/16 gives
them. Prints a Markdown table: CPU seconds and elapsed seconds of learning the task and of the
solution that a test needs, for both rules of the ridge, and the peak memory of the process.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch

from edgecil.data.dataset import Dataset, Examples
from edgecil.methods import Environment, get_method
from edgecil.methods.task import Scenario

CLASSES = 10
WIDTH = 768


def seconds(work: Callable[[], Any]) -> str:
    """CPU and elapsed seconds of a call."""
    start = time.process_time(), time.perf_counter()
    work()
    return f"{time.process_time() - start[0]:.0f} | {time.perf_counter() - start[1]:.0f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--images", type=int, default=5000)
    parser.add_argument("--projection", type=int, default=10_000)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rules", default="leave-one-out,last-task")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    # Class 0 is a first task that is left out, so that no adapters are trained.
    labels = np.concatenate([[0], 1 + np.arange(args.images) % CLASSES])
    images = Examples(np.zeros((len(labels), 1, 28, 28), dtype=np.uint8), labels)
    names = tuple(f"class {label}" for label in range(1 + CLASSES))
    scenario = Scenario(Dataset("blank", names, images, images))
    features = torch.randn(args.images, WIDTH) + torch.randn(1 + CLASSES, WIDTH)[labels[1:]]
    print("| ridge | task: CPU s | s | solution: CPU s | s | peak MB |\n|---|---|---|---|---|---|")
    entry = get_method("ranpac")
    for rule in args.rules.split(","):
        schedule, memory = entry.schedule("published", "resnet32")
        settings = {"projection": args.projection, "ridge": rule}
        environment = Environment((1, 28, 28), (0.0,), (1.0,), "resnet32")
        learner: Any = entry.build(entry.configure(schedule, memory, settings), environment)
        learner.projection = torch.randn(WIDTH, args.projection)
        learner.features = lambda _: features
        with scenario.task(((0,), tuple(range(1, 1 + CLASSES))), 0) as task:
            spent = seconds(partial(learner.learn, task)), seconds(learner.weights)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"| {rule} | {' | '.join(spent)} | {peak:.0f} |", flush=True)


if __name__ == "__main__":
    main()
