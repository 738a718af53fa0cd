"""Our learners beside a reference's: the same classes, orders, network, schedule and images.

    python benchmarks/parity.py --toolbox PATH [--methods finetune,icarl] [--dataset quickdraw]

PATH is your own checkout of PyCIL (learners that train a residual network), PILOT (learners on a
frozen transformer) or the authors' HiDe-Prompt; nothing of them is part of edgecil. Prints a
Markdown table of final and average accuracy with the spread over orders and repeats, CPU seconds,
peak memory, the 90 % intervals of the differences in average and in final accuracy, from the
differences by order, averaged over repeats, and a verdict on the latter; an interval around zero of
more than ± 3 points cannot tell. No two trainings share a random draw, neither both
codes nor two orders: otherwise the luck of one draw would count as a difference of the codes. Every
training runs in a process of its own, one thread each, so that memory is its own. The defaults take
about half an hour on two idle cores. The full comparison is for a GPU, and was never run: `--setup
published --device cuda --dataset cifar100 --root DIR --classes 100 --tasks 10`, with `--backbone
resnet32` for PyCIL and `--backbone vit-b16-in1k --image-size 224` for the others. `--set
small_head=false` changes a setting of our learner; `--set correction=logits` changes BiC in both
codes. `--cache FILE` keeps finished trainings, so that an interrupted comparison resumes.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import logging
import multiprocessing
import resource
import sys
import time
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import reference
import reference_hide
import reference_pilot
import torch
from scipy.stats import t as student

from edgecil import protocol
from edgecil.data import load_dataset
from edgecil.data.augment import channel_statistics
from edgecil.methods import Environment, get_method
from edgecil.methods.entry import replace_settings
from edgecil.methods.task import Scenario
from edgecil.sequences.space import SequenceSpace

TOOLBOXES = (reference, reference_pilot, reference_hide)
LEAST_ORDERS = 6  # for a correlation of the orders' accuracies in both codes
IGNORED = ("cache", "methods", "orders", "repeats", "toolbox")  # they change no single training
MOST_REPEATS = 100
MARGIN = 3.0  # points; a wider interval around zero would hide differences that matter


def open_toolbox(path: str) -> ModuleType:
    """The adapter of a checkout, which is importable afterwards."""
    root = Path(path).expanduser().resolve()
    for toolbox in TOOLBOXES:
        if toolbox.matches(root):
            if str(root) not in sys.path:
                sys.path.insert(0, str(root))
            return toolbox
    sys.exit(f"{root} is not a checkout of {', '.join(one.NAME for one in TOOLBOXES)}.")


def seed_of(side: str, order: int, repeat: int) -> int:
    """The training seed; every training has its own."""
    return (2 * order + (side == "reference")) * MOST_REPEATS + repeat


def settings_of(args: argparse.Namespace) -> dict[str, Any]:
    """Settings of our learner from `--set NAME=VALUE`; a value that is not JSON is text."""
    settings = {}
    for text in args.set or ():
        name, _, value = text.partition("=")
        try:
            settings[name] = json.loads(value)
        except json.JSONDecodeError:
            settings[name] = value
    return settings


def train(
    args: argparse.Namespace, side: str, name: str, order: int, repeat: int
) -> dict[str, Any]:
    """Accuracies after every task by classifier, CPU seconds and peak memory of one training."""
    seed = seed_of(side, order, repeat)
    torch.set_num_threads(1)
    logging.disable(logging.INFO)
    warnings.simplefilter("ignore")
    toolbox = open_toolbox(args.toolbox)
    size = args.image_size
    dataset = load_dataset(args.dataset, root=args.root, count=args.classes, size=size)
    statistics = channel_statistics(torch.from_numpy(dataset.train.inputs))
    environment = Environment(
        dataset.shape,
        statistics.mean,
        statistics.std,
        args.backbone,
        seed=seed,
        device=args.device,
    )
    space = SequenceSpace.choose(len(dataset), tasks=args.tasks)
    # With few classes several of the drawn orders are equal, and would count more than once.
    drawn = (run.sequence for run in protocol("random", space, budget=min(100, space.size)))
    tasks = list(dict.fromkeys(drawn))[order].tasks
    config = replace_settings(toolbox.configure(name, args), settings_of(args), name)
    start = time.process_time()
    if side == "ours":
        scenario = Scenario(dataset, args.device)
        curves = our_curves(name, config, environment, scenario, tasks, seed)
    else:
        torch.manual_seed(seed)
        np.random.seed(seed)  # noqa: NPY002
        with contextlib.redirect_stdout(io.StringIO()):  # the references print; so does the table
            curves = toolbox.curves(name, config, environment, dataset, tasks)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"curves": curves, "seconds": time.process_time() - start, "megabytes": peak}


def our_curves(
    name: str,
    config: Any,
    environment: Environment,
    scenario: Scenario,
    tasks: tuple[tuple[int, ...], ...],
    seed: int,
) -> list[dict[str, float]]:
    """Accuracies of our learner after every task, in per cent, by classifier."""
    method, curves = get_method(name).build(config, environment), []
    for end in range(1, len(tasks) + 1):
        with scenario.task(tasks[:end], seed) as task:
            method.learn(task)
        images = scenario.test.only(task.seen)
        seen = torch.tensor(task.seen, device=environment.device)
        curves.append(
            {
                classifier: 100.0 * float((seen[labels] == images.labels).double().mean())
                for classifier, labels in method.classify(images.inputs).items()
            }
        )
    return curves


def _in_process(queue: Any, args: argparse.Namespace, *what: Any) -> None:
    queue.put(train(args, *what))


def measure(args: argparse.Namespace, kept: dict[str, Any], *what: Any) -> dict[str, Any]:
    """A training in a new process, or its result from the cache."""
    settings = {key: value for key, value in vars(args).items() if key not in IGNORED}
    if not settings["set"]:
        del settings["set"]
    key = json.dumps([settings, *what])
    if key not in kept:
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["reference_pilot", "reference_hide", "scipy.stats"])
        queue = context.SimpleQueue()
        worker = context.Process(target=_in_process, args=(queue, args, *what))
        worker.start()
        while worker.is_alive() and queue.empty():
            worker.join(0.05)
        if queue.empty():
            sys.exit(f"The training of {what} ended with exit code {worker.exitcode}.")
        kept[key] = queue.get()
        worker.join()
        if args.cache:
            Path(args.cache).write_text(json.dumps(kept), encoding="utf-8")
    result: dict[str, Any] = kept[key]
    return result


def verdict(differences: np.ndarray, reference_name: str) -> tuple[str, str]:
    """The mean difference with its 90 % interval, and what it says.

    Args:
        differences: by order, in points.
        reference_name: name of the reference.
    """
    mean, count = differences.mean(), len(differences)
    if count < 3:
        return f"{mean:+.1f}", "too few orders"
    half = student.ppf(0.95, count - 1) * differences.std(ddof=1) / count**0.5
    text = f"{mean:+.1f} ({mean - half:+.1f} to {mean + half:+.1f})"
    if abs(mean) <= half:
        return text, "no difference detected" if half <= MARGIN else f"cannot tell (± {half:.0f})"
    return text, "ours higher" if mean > 0 else f"{reference_name} higher"


def accuracy_of(curve: dict[str, float], classifier: str, whose: str) -> float:
    """The accuracy of one classifier after one task; nothing stands in for one that is missing."""
    if classifier not in curve:
        raise KeyError(
            f"The result of {whose} has no classifier {classifier!r}, only {', '.join(curve)}; if "
            "it is in the file of --cache, remove it there to train again."
        )
    return curve[classifier]


def row(
    args: argparse.Namespace, name: str, classifier: str, runs: dict[str, Any], other: str
) -> str:
    """One row of the table."""
    shape, cells = (args.orders, args.repeats), {}
    for side, results in runs.items():
        curves = np.array(
            [
                [accuracy_of(task, classifier, f"{name} ({side})") for task in result["curves"]]
                for result in results
            ]
        )
        final = curves[:, -1].reshape(shape)
        cells[side] = {
            "final": final.mean(axis=1),
            "average": curves.mean(axis=1).reshape(shape).mean(axis=1),
            "orders": final.mean(axis=1).std(ddof=1) if args.orders > 1 else np.nan,
            "repeats": final.var(axis=1, ddof=1).mean() ** 0.5 if args.repeats > 1 else np.nan,
            "seconds": np.mean([result["seconds"] for result in results]),
            "megabytes": np.max([result["megabytes"] for result in results]),
        }
    ours, theirs = cells["ours"], cells["reference"]
    text, outcome = verdict(ours["final"] - theirs["final"], other)
    between, _ = verdict(ours["average"] - theirs["average"], other)
    numbers = [
        f"{np.mean(ours[key]):.1f} / {np.mean(theirs[key]):.1f}".replace("nan", "–")
        for key in ("final", "average", "orders", "repeats", "seconds")
    ]
    numbers.append(f"{ours['megabytes']:.0f} / {theirs['megabytes']:.0f}")
    agreement = "–"
    if args.orders >= LEAST_ORDERS and min(ours["orders"], theirs["orders"]) > 0.0:
        agreement = f"{np.corrcoef(ours['final'], theirs['final'])[0, 1]:.2f}"
    numbers += [agreement, between]
    count = f"{args.orders} × {args.repeats}"
    return f"| {' | '.join((name, classifier, count, *numbers, text, outcome))} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--toolbox", required=True)
    parser.add_argument("--methods")
    parser.add_argument("--dataset", default="quickdraw")
    parser.add_argument("--root")
    parser.add_argument("--classes", type=int, default=10)
    parser.add_argument("--tasks", type=int, default=5)
    parser.add_argument("--orders", type=int, default=4)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--backbone", default="resnet-tiny")
    parser.add_argument("--image-size", type=int)
    parser.add_argument("--setup", default="fast", help="fast, or published")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--learning-rate", type=float, default=0.05)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--memory", type=int, default=20, help="exemplars per class")
    parser.add_argument("--set", action="append", metavar="NAME=VALUE")
    parser.add_argument("--cache")
    args = parser.parse_args()
    toolbox = open_toolbox(args.toolbox)
    kept = {}
    if args.cache and Path(args.cache).exists():
        kept = json.loads(Path(args.cache).read_text(encoding="utf-8"))
    pairs = ("final", "average", "std over orders", "std over repeats", "CPU s", "MB")
    ends = ("r over orders", "difference of averages", "difference (90 %)", "verdict")
    columns = ("method", "classifier", "orders × repeats", *pairs, *ends)
    print(f"ours / {toolbox.NAME}\n\n| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    for name in args.methods.split(",") if args.methods else toolbox.LEARNERS:
        runs = {
            side: [
                measure(args, kept, side, name, order, repeat)
                for order in range(args.orders)
                for repeat in range(args.repeats)
            ]
            for side in ("ours", "reference")
        }
        for classifier in toolbox.CLASSIFIERS.get(name, ("head",)):
            print(row(args, name, classifier, runs, toolbox.NAME), flush=True)


if __name__ == "__main__":
    main()
