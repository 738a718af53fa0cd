"""Runs inside a PyCIL or PILOT checkout's own Python and makes it train one class order.

Stand-alone, from Python 3.8 on: edgecil need not be installed there. Started by
`edgecil toolbox` as `python toolbox_driver.py ROOT PLACE SETTINGS ORDER RESULT`; nothing of the
checkout is changed, its functions are wrapped while they run.
"""

from __future__ import annotations

import importlib
import itertools
import json
import os
import random
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

CLASSIFIERS = ("head", "nme")  # what the toolboxes call CNN and NME, in the order they return them


def main(root: str, place: str, settings_file: str, order_file: str, result_file: str) -> None:
    """Train the order, with `place` as the working directory, and write down what was counted."""
    os.chdir(place)
    # In place of this file's own folder, whose modules could be taken for the toolbox's.
    sys.path[0] = root
    order = json.loads(Path(order_file).read_text())
    settings = json.loads(Path(settings_file).read_text())
    sizes = [len(task) for task in order["tasks"]]
    trainer = load("trainer", "train", "DataManager")
    data = load("utils.data_manager", "_get_idata")
    factory = load("utils.factory", "get_model")
    counter = Counter(sizes)
    data._get_idata = wrap_dataset(data._get_idata, order["order"])
    trainer.DataManager = check_tasks(trainer.DataManager, order["order"], sizes)
    factory.get_model = watch_model(factory.get_model, counter, order["seed"])
    try:
        trainer.train({**settings, "shuffle": False, "seed": [order["seed"]]})
    except Exception:
        # PyCIL's closing table fails where there are more tens of classes than tasks.
        if not counter.complete:
            raise
        traceback.print_exc()
    Path(result_file).write_text(json.dumps(counter.result()))


def load(name: str, *needed: str) -> Any:
    """A module of the toolbox that has what is needed of it."""
    module = importlib.import_module(name)
    for part in needed:
        if not hasattr(module, part):
            sys.exit(f"Not a PyCIL or PILOT that edgecil knows: {module.__name__} has no {part}.")
    return module


def wrap_dataset(get_dataset: Callable[..., Any], order: list[int]) -> Callable[..., Any]:
    """Datasets that hold the classes of the order only, and follow it."""

    def get(*args: Any, **kwargs: Any) -> Any:
        dataset = get_dataset(*args, **kwargs)
        download = dataset.download_data

        def download_and_choose() -> None:
            download()
            for part in ("train", "test"):
                choose(dataset, part, order)

        dataset.download_data = download_and_choose
        dataset.class_order = list(order)
        return dataset

    return get


def choose(dataset: Any, part: str, order: list[int]) -> None:
    """Keep the images of the order's classes, in training or test data."""
    import numpy

    images = getattr(dataset, f"{part}_data")
    targets = numpy.asarray(getattr(dataset, f"{part}_targets"))
    missing = sorted(set(order) - set(targets.tolist()))
    if missing:
        sys.exit(f"The toolbox's {part} data has no images of class {missing[0]}.")
    chosen = numpy.isin(targets, order)
    as_array = isinstance(images, numpy.ndarray)
    kept = images[chosen] if as_array else list(itertools.compress(images, chosen))
    setattr(dataset, f"{part}_data", kept)
    setattr(dataset, f"{part}_targets", targets[chosen])


def check_tasks(
    data_manager: Callable[..., Any], order: list[int], sizes: list[int]
) -> Callable[..., Any]:
    """A data manager that ends the run unless it has exactly the tasks asked for."""

    def build(*args: Any, **kwargs: Any) -> Any:
        built = data_manager(*args, **kwargs)
        found = [int(class_) for class_ in built._class_order], list(built._increments)
        if found != (order, sizes):
            sys.exit(f"The toolbox did not take over the class order: it has {found}.")
        return built

    return build


def watch_model(get_model: Callable[..., Any], counter: Counter, seed: int) -> Callable[..., Any]:
    """Models that are built and trained from a seed, and counted whenever they are tested."""

    def get(*args: Any, **kwargs: Any) -> Any:
        seed_everything(seed)
        model = get_model(*args, **kwargs)
        counter.watch(model)
        return model

    return get


def seed_everything(seed: int) -> None:
    """Seed every source of randomness; the toolboxes themselves seed torch alone."""
    random.seed(seed)
    numpy = sys.modules["numpy"]
    numpy.random.seed(seed)
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.manual_seed(seed)
        torch.backends.cudnn.benchmark = False
        torch.use_deterministic_algorithms(True, warn_only=True)


class Counter:
    """Right answers on each task's test images, after each task, by classifier."""

    def __init__(self, sizes: list[int]) -> None:
        self.ends = list(itertools.accumulate(sizes))
        self.correct: dict[str, dict[int, list[int]]] = {
            classifier: {} for classifier in CLASSIFIERS
        }
        self.totals: dict[int, list[int]] = {}

    def watch(self, model: Any) -> None:
        """Count what the model's own evaluation sees."""
        evaluate, eval_task, most = model._evaluate, model.eval_task, model.topk
        counted: list[tuple[Any, list[int], list[int]]] = []

        def evaluate_and_count(predicted: Any, true: Any) -> Any:
            accuracies = evaluate(predicted, true)
            # The toolboxes want a top-5 accuracy; with fewer classes that is always 100.
            accuracies.setdefault(f"top{most}", 100.0)
            counted.append((accuracies, predicted[:, 0].tolist(), true.tolist()))
            return accuracies

        def eval_task_and_keep(*args: Any, **kwargs: Any) -> Any:
            model.topk = min(most, model._total_classes)
            counted.clear()
            answers = eval_task(*args, **kwargs)
            for classifier, answer in zip(CLASSIFIERS, answers):  # noqa: B905
                for accuracies, predicted, true in counted:
                    if accuracies is answer:
                        self.count(classifier, predicted, true)
            return answers

        model._evaluate, model.eval_task = evaluate_and_count, eval_task_and_keep

    def count(self, classifier: str, predicted: list[int], true: list[int]) -> None:
        """Keep the counts of one test."""
        task = self.task(max(true))
        right, total = [0] * (task + 1), [0] * (task + 1)
        for guess, label in zip(predicted, true):  # noqa: B905
            total[self.task(label)] += 1
            right[self.task(label)] += guess == label
        self.correct[classifier][task] = right
        self.totals[task] = total

    def task(self, label: int) -> int:
        """The task of a new label."""
        return next(task for task, end in enumerate(self.ends) if label < end)

    @property
    def complete(self) -> bool:
        """Whether each classifier that there is was tested after every task."""
        tested = [sorted(rows) for rows in self.correct.values() if rows]
        return bool(tested) and all(tasks == list(range(len(self.ends))) for tasks in tested)

    def result(self) -> dict[str, Any]:
        """What edgecil reads; ends the run if a task was not tested."""
        tasks = range(len(self.ends))
        if not self.complete:
            found = {name: sorted(rows) for name, rows in self.correct.items()}
            sys.exit(f"The toolbox did not test after each of {len(tasks)} tasks, only: {found}.")
        correct = {
            name: [rows[task] for task in tasks] for name, rows in self.correct.items() if rows
        }
        return {"correct": correct, "totals": self.totals[len(tasks) - 1]}


if __name__ == "__main__":
    main(*sys.argv[1:])
