"""How the time of a task grows with the number of classes seen before it.

    python benchmarks/growth.py                       all learners, and MOS's alignment
    python benchmarks/growth.py --methods mos,icarl   some learners
    python benchmarks/growth.py --classes 10,50,100   other numbers of classes

Each learner learns all classes but two as one task, then two more, whose CPU seconds count: the
training alone, without tests. The exponent is the slope of the last doubling: 1 is linear growth, 0
no growth. The second table is an epoch of MOS's alignment at 768 features, beside what the count of
multiply-adds predicts from the smallest number of classes: one batch of 240 features per class,
each shaped by a 768 x 768 root and passed three times through a head that grows with the classes.
"""

from __future__ import annotations

import argparse
import math
import time
from dataclasses import fields, replace
from typing import Any

import numpy as np
import torch

from edgecil.backbones import GrowingLinear
from edgecil.backbones.named import default_backbone
from edgecil.data import Dataset
from edgecil.data.dataset import Examples
from edgecil.methods import Environment, Schedule, get_method, method_names
from edgecil.methods.class_statistics import ClassGaussians, align_classifier
from edgecil.methods.memory import MemoryBudget
from edgecil.methods.task import Scenario

NEW, EACH, SIDE, WIDTH = 2, 6, 28, 768
SCHEDULE = Schedule(epochs=2, learning_rate=0.01, batch_size=16, augment=())
MEMORY = MemoryBudget(total=None, per_class=2)
SMALL: dict[str, Any] = {
    "projection": 200,
    "balancing": 2,
    "alignment": {"epochs": 2, "batch_size": 24},
}


def drawings(classes: int) -> Dataset:
    """Noise around one pattern per class."""
    rng = np.random.default_rng(0)
    patterns = rng.integers(0, 256, (classes, 1, 1, SIDE, SIDE))
    noise = rng.integers(-20, 21, (classes, EACH, 1, SIDE, SIDE))
    pixels = np.clip(patterns + noise, 0, 255).astype(np.uint8).reshape(-1, 1, SIDE, SIDE)
    images = Examples(pixels, np.repeat(np.arange(classes), EACH))
    return Dataset("patterns", tuple(f"class {i}" for i in range(classes)), images, images)


def last_task(name: str, classes: int, repeats: int) -> float:
    """Least CPU seconds of a task of two classes after all others."""
    scenario, entry = Scenario(drawings(classes)), get_method(name)
    settings = {one.name: SMALL[one.name] for one in fields(entry.config) if one.name in SMALL}
    config = entry.configure(SCHEDULE, MEMORY, settings)
    backbone = default_backbone((1, SIDE, SIDE), frozen=entry.pretrained)
    environment = Environment((1, SIDE, SIDE), (0.5,), (0.3,), backbone)
    tasks = tuple(range(classes - NEW)), tuple(range(classes - NEW, classes))
    first = entry.build(replace_schedule(config), environment)
    with scenario.task(tasks[:1], 0, everything=first.sees_everything) as task:
        first.learn(task)
    state, seconds = first.state(), []
    for _ in range(repeats):
        method = entry.build(config, environment)
        method.restore(state)
        with scenario.task(tasks, 0, everything=method.sees_everything) as task:
            start = time.process_time()
            method.learn(task)
            seconds.append(time.process_time() - start)
    return min(seconds)


def replace_schedule(config: Any) -> Any:
    """One epoch for the first task, which is not measured."""
    return (
        replace(config, schedule=replace(SCHEDULE, epochs=1))
        if hasattr(config, "schedule")
        else config
    )


def alignment(classes: int, repeats: int) -> float:
    """Least CPU seconds of an epoch of MOS's alignment."""
    statistics, head = ClassGaussians(WIDTH, "cpu"), GrowingLinear(WIDTH)
    head.grow(classes, torch.Generator().manual_seed(0))
    roots = torch.randn(WIDTH, WIDTH, generator=torch.Generator().manual_seed(0)).tril()
    statistics.append([torch.zeros(WIDTH)] * classes, [roots] * classes)
    schedule, seconds = Schedule(epochs=1, learning_rate=0.01, batch_size=240, augment=()), []
    tasks = (tuple(range(classes)),)
    with Scenario(drawings(classes)).task(tasks, 0) as task:
        for _ in range(repeats):
            start = time.process_time()
            align_classifier(head, statistics, schedule, task, batches=classes, stage="alignment")
            seconds.append(time.process_time() - start)
    return min(seconds)


def passes(classes: int) -> int:
    """Multiply-adds of an epoch: shaping the noise of a feature, and three passes of the head."""
    return classes * 240 * (WIDTH * WIDTH + 3 * WIDTH * classes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--methods", type=lambda text: text.split(","), default=method_names())
    parser.add_argument(
        "--classes", type=lambda text: [int(n) for n in text.split(",")], default=[10, 50, 100, 200]
    )
    parser.add_argument("--repeats", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(1)
    counts = options.classes
    rule = "|---" * (len(counts) + 2) + "|"
    print(f"| method | {' | '.join(f'{n} classes' for n in counts)} | exponent |\n{rule}")
    for name in options.methods:
        seconds = [last_task(name, n, options.repeats) for n in counts]
        slope = math.log(seconds[-1] / seconds[-2]) / math.log(counts[-1] / counts[-2])
        print(f"| {name} | {' | '.join(f'{s:.2f}' for s in seconds)} | {slope:.1f} |", flush=True)
    print("\n| classes | epoch of MOS's alignment, CPU s | predicted | ratio |\n|---|---|---|---|")
    epochs = [alignment(n, options.repeats) for n in counts]
    for n, epoch in zip(counts, epochs, strict=True):
        predicted = epochs[0] * passes(n) / passes(counts[0])
        print(f"| {n} | {epoch:.2f} | {predicted:.2f} | {epoch / predicted:.2f} |", flush=True)


if __name__ == "__main__":
    main()
