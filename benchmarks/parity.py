"""Our learners beside PyCIL's: the same classes, orders, network, recipe, memory and images.

    python benchmarks/parity.py --toolbox PATH [--methods finetune,icarl] [--dataset quickdraw]

PATH is your own checkout of PyCIL; nothing of it is part of edgecil. Prints a Markdown table of
final and average accuracy with the spread over orders and repeats, seconds, peak memory, and a
verdict: the 90 % interval of the difference in final accuracy, from the differences by order and
repeat. Every training runs in a process of its own, one thread each, so that memory is its own.
The defaults take about half an hour on two idle cores; `--dataset cifar100 --backbone resnet32
--classes 100 --tasks 10 --epochs 170` is the full comparison, for a day on a GPU machine.
`--cache FILE` keeps finished trainings, so that an interrupted comparison resumes.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import multiprocessing
import resource
import time
from pathlib import Path
from typing import Any

import numpy as np
import reference
import torch
from scipy.stats import t as student

from edgecil import load_dataset, protocol
from edgecil.data.augment import channel_statistics
from edgecil.methods import Environment, Recipe, get_method
from edgecil.methods.memory import MemoryBudget
from edgecil.methods.task import Scenario
from edgecil.sequences.space import SequenceSpace

COLUMNS = (
    "method",
    "classifier",
    "final: ours",
    "PyCIL",
    "average: ours",
    "PyCIL",
    "std over orders: ours",
    "PyCIL",
    "s: ours",
    "PyCIL",
    "MB: ours",
    "PyCIL",
    "difference (90 %)",
    "verdict",
)
IGNORED = ("cache", "methods", "repeats", "toolbox")  # options that change no single training
MAIN = {"icarl": ("nme", "head"), "foster": ("boosted", "head")}


def recipe_of(args: argparse.Namespace, name: str) -> Recipe:
    """Steps at a half and three quarters; FOSTER has a cosine in both codes."""
    epochs = args.epochs
    return Recipe(
        epochs=epochs,
        learning_rate=args.learning_rate,
        schedule="cosine" if name == "foster" else "steps",
        milestones=(epochs // 2, epochs * 3 // 4),
        batch_size=args.batch_size,
        augment=("crop:2", "flip"),
    )


def train(args: argparse.Namespace, side: str, name: str, order: int, seed: int) -> dict[str, Any]:
    """Accuracies after every task by classifier, CPU seconds and peak memory of one training."""
    torch.set_num_threads(1)
    dataset = load_dataset(args.dataset, root=args.root, count=args.classes)
    statistics = channel_statistics(torch.from_numpy(dataset.train.pixels))
    environment = Environment(
        dataset.shape, statistics.mean, statistics.std, args.backbone, seed=seed
    )
    space = SequenceSpace.choose(len(dataset), tasks=args.tasks)
    # With few classes several of the drawn orders are equal, and would count more than once.
    drawn = (run.sequence for run in protocol("random", space, budget=10 * args.orders))
    tasks = list(dict.fromkeys(drawn))[order].tasks
    recipe, memory = recipe_of(args, name), MemoryBudget(total=None, per_class=args.memory)
    start, curves = time.process_time(), []
    if side == "ours":
        entry = get_method(name)
        config = entry.configure(recipe, memory, entry.settings("published"))
        method, scenario = entry.build(config, environment), Scenario(dataset)
        for end in range(1, len(tasks) + 1):
            with scenario.task(tasks[:end], seed) as task:
                method.learn(task)
            images = scenario.test.only(task.seen)
            seen = torch.tensor(task.seen)
            curves.append(
                {
                    classifier: 100.0 * float((seen[labels] == images.labels).double().mean())
                    for classifier, labels in method.classify(images.pixels).items()
                }
            )
    else:
        reference.find_toolbox(args.toolbox)
        reference.Loader.environment, reference.Loader.recipe = environment, recipe
        torch.manual_seed(1000 + seed)
        np.random.seed(1000 + seed)  # noqa: NPY002
        learner = reference.build_reference(name, environment, recipe, memory)
        images = reference.Images(dataset, tasks, 2 if name == "tagfex" else 1)
        with contextlib.redirect_stdout(io.StringIO()):  # PyCIL prints; the table is on stdout
            for _ in tasks:
                learner.incremental_train(images)
                curves.append(reference.accuracies(learner))
                learner.after_task()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"curves": curves, "seconds": time.process_time() - start, "megabytes": peak}


def _in_process(queue: Any, args: argparse.Namespace, *what: Any) -> None:
    queue.put(train(args, *what))


def measure(args: argparse.Namespace, kept: dict[str, Any], *what: Any) -> dict[str, Any]:
    """A training in a new process, or its result from the cache."""
    settings = {key: value for key, value in vars(args).items() if key not in IGNORED}
    key = json.dumps([settings, *what])
    if key not in kept:
        context = multiprocessing.get_context("spawn")
        queue = context.Queue()
        worker = context.Process(target=_in_process, args=(queue, args, *what))
        worker.start()
        kept[key] = queue.get()
        worker.join()
        if args.cache:
            Path(args.cache).write_text(json.dumps(kept))
    result: dict[str, Any] = kept[key]
    return result


def verdict(differences: np.ndarray) -> tuple[str, str]:
    """The mean difference with its 90 % interval, and what it says."""
    mean, count = differences.mean(), len(differences)
    half = student.ppf(0.95, count - 1) * differences.std(ddof=1) / count**0.5
    text = f"{mean:+.1f} ({mean - half:+.1f} to {mean + half:+.1f})"
    if abs(mean) <= half:
        return text, "no difference detected"
    return text, "ours higher" if mean > 0 else "PyCIL higher"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--toolbox", required=True)
    parser.add_argument("--methods", default=",".join(reference.LEARNERS))
    parser.add_argument("--dataset", default="quickdraw")
    parser.add_argument("--root")
    parser.add_argument("--classes", type=int, default=10)
    parser.add_argument("--tasks", type=int, default=5)
    parser.add_argument("--orders", type=int, default=3)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--backbone", default="resnet-tiny")
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--learning-rate", type=float, default=0.05)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--memory", type=int, default=20, help="exemplars per class")
    parser.add_argument("--cache")
    args = parser.parse_args()
    kept = {}
    if args.cache and Path(args.cache).exists():
        kept = json.loads(Path(args.cache).read_text())
    print(f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}")
    for name in args.methods.split(","):
        runs = {
            side: [
                measure(args, kept, side, name, order, seed)
                for order in range(args.orders)
                for seed in range(args.repeats)
            ]
            for side in ("ours", "PyCIL")
        }
        for classifier in MAIN.get(name, ("head",)):
            print(row(args, name, classifier, runs), flush=True)


def row(args: argparse.Namespace, name: str, classifier: str, runs: dict[str, Any]) -> str:
    """One row of the table."""
    shape, cells = (args.orders, args.repeats), {}
    for side, results in runs.items():
        curves = np.array(
            [
                [task.get(classifier, task["head"]) for task in result["curves"]]
                for result in results
            ]
        )
        cells[side] = {
            "final": curves[:, -1],
            "average": curves.mean(axis=1),
            "std": curves[:, -1].reshape(shape).mean(axis=1).std(ddof=1),
            "seconds": np.mean([result["seconds"] for result in results]),
            "megabytes": np.max([result["megabytes"] for result in results]),
        }
    ours, theirs = cells["ours"], cells["PyCIL"]
    text, outcome = verdict(ours["final"] - theirs["final"])
    numbers = [
        f"{np.mean(side[key]):.1f}"
        for key in ("final", "average", "std", "seconds")
        for side in (ours, theirs)
    ]
    numbers += [f"{side['megabytes']:.0f}" for side in (ours, theirs)]
    return f"| {' | '.join((name, classifier, *numbers, text, outcome))} |"


if __name__ == "__main__":
    main()
