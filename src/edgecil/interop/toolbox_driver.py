"""Runs inside a PyCIL or PILOT checkout's own Python and makes it train one class order.

Stand-alone, from Python 3.8 on: edgecil need not be installed there. It is started as `python
toolbox_driver.py ROOT DATA SETTINGS ORDER RESULT`, with the settings as JSON and three paths, and
trains in a folder named as the result. Nothing of the checkout is changed; its functions are
wrapped while they run. The order, the task sizes and the labels of all images are checked before
every task, so that a trainer that reorders classes or loops over orders is refused.
"""

from __future__ import annotations

import importlib
import inspect
import itertools
import json
import os
import random
import sys
import traceback
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

CLASSIFIERS = ("head", "nme")  # what the toolboxes call CNN and NME, in the order they return them


def main(root: str, data: str, settings: str, *files: str) -> None:
    """Train the order, and write the counts to the result file."""
    order_file, result_file = map(Path.resolve, map(Path, files))
    place = result_file.with_suffix("")
    mirror(Path(root), place, Path(data).absolute())
    os.chdir(place)
    # In place of this file's own folder, whose modules could be taken for the toolbox's.
    sys.path[0] = root
    order = json.loads(order_file.read_text(encoding="utf-8"))
    sizes = [len(task) for task in order["tasks"]]
    counter, labels = Counter(sizes), ExpectedLabels(order["order"], sizes)
    replace_sequence_choice(Path(root))
    trainer = load_module("trainer", "train", "DataManager")
    manager = load_module("utils.data_manager", "_get_idata")
    factory = load_module("utils.factory", "get_model")
    # The EDGE authors' fork gives its trainer the order, which comes on top of the dataset's own.
    forked = takes_order(trainer)
    manager._get_idata = wrap_dataset(manager._get_idata, labels, in_order=not forked)
    factory.get_model = watch_model(factory.get_model, counter, labels, order["seed"])
    arguments = {**json.loads(settings), "shuffle": False, "seed": [order["seed"]]}
    try:
        if forked:
            trainer._set_device(arguments)
            trainer._train({"eval": "random", **arguments}, labels.places())
        else:
            trainer.train(arguments)
    except Exception:
        # PyCIL's closing table fails where there are more tens of classes than tasks.
        if not counter.complete:
            raise
        traceback.print_exc()
    result = {**counter.result(), "order": order["order"]}
    result_file.write_text(json.dumps(result), encoding="utf-8")


def mirror(root: Path, place: Path, data: Path) -> None:
    """Make a folder to train in, with links to everything in the checkout except its logs.

    The toolboxes read `./data` and write `./logs` and other files, so the checkout and the files of
    other trainings stay unchanged.
    """
    place.mkdir(parents=True, exist_ok=True)
    parts = {part.name: part for part in root.iterdir() if not part.name.startswith(".")}
    parts.pop("logs", None)
    if "data" not in parts:
        data.mkdir(parents=True, exist_ok=True)
        parts["data"] = data
    for name, part in parts.items():
        if (place / name).is_symlink():
            (place / name).unlink()
        (place / name).symlink_to(part)


def load_module(name: str, *needed: str) -> Any:
    """Return a module of the toolbox; one without the needed parts ends the program."""
    module = importlib.import_module(name)
    for part in needed:
        if not hasattr(module, part):
            sys.exit(f"Not a PyCIL or PILOT that edgecil knows: {module.__name__} has no {part}.")
    return module


def takes_order(trainer: Any) -> bool:
    """Return whether this is the EDGE authors' fork, whose `_train` takes a class order."""
    inner = getattr(trainer, "_train", None)
    return inner is not None and "class_order" in inspect.signature(inner).parameters


def replace_sequence_choice(root: Path) -> None:
    """Replace the fork's `utils.edge`, whose import needs CLIP; edgecil has the order already."""
    if (root / "utils" / "edge.py").is_file():
        stand_in = types.ModuleType("utils.edge")
        for name in ("get_edge_sequences", "_get_class_names_or_raise"):
            setattr(stand_in, name, None)
        sys.modules["utils.edge"] = stand_in


class ExpectedLabels:
    """The labels that the toolbox must train with, computed from the order and the dataset."""

    def __init__(self, order: list[int], sizes: list[int]) -> None:
        self.order = order
        self.sizes = sizes
        self.expected: dict[str, Any] = {}

    def places(self) -> list[int]:
        """Return the order as places among its own classes in ascending order."""
        ascending = sorted(self.order)
        return [ascending.index(class_) for class_ in self.order]

    def choose(self, dataset: Any, part: str) -> None:
        """Keep the images of the order's classes, in training or test data."""
        import numpy

        images = getattr(dataset, f"{part}_data")
        targets = numpy.asarray(getattr(dataset, f"{part}_targets"))
        missing = sorted(set(self.order) - set(targets.tolist()))
        if missing:
            sys.exit(f"The toolbox's {part} data has no images of class {missing[0]}.")
        chosen = numpy.isin(targets, self.order)
        is_array = isinstance(images, numpy.ndarray)
        chosen_images = images[chosen] if is_array else list(itertools.compress(images, chosen))
        setattr(dataset, f"{part}_data", chosen_images)
        setattr(dataset, f"{part}_targets", targets[chosen])
        new_labels = [self.order.index(target) for target in targets[chosen]]
        self.expected[part] = numpy.array(new_labels)

    def check(self, manager: Any) -> None:
        """End the run unless the data manager divides and labels the images by the order."""
        import numpy

        increments = [int(size) for size in manager._increments]
        if increments != self.sizes:
            sys.exit(f"The toolbox did not keep the task sizes {self.sizes}: it has {increments}.")
        for part, expected in self.expected.items():
            labels = numpy.asarray(getattr(manager, f"_{part}_targets", []))
            if not numpy.array_equal(labels, expected):
                sys.exit(
                    "The toolbox did not keep the class order: it has reordered the classes, or "
                    f"its {part} images have other labels."
                )


def wrap_dataset(
    get_dataset: Callable[..., Any], labels: ExpectedLabels, *, in_order: bool
) -> Callable[..., Any]:
    """Return datasets with the classes of the order, sorted by it unless the trainer does so."""

    def get(*args: Any, **kwargs: Any) -> Any:
        dataset = get_dataset(*args, **kwargs)
        download = dataset.download_data

        def download_and_choose() -> None:
            download()
            for part in ("train", "test"):
                labels.choose(dataset, part)

        dataset.download_data = download_and_choose
        dataset.class_order = list(labels.order) if in_order else sorted(labels.order)
        return dataset

    return get


def watch_model(
    get_model: Callable[..., Any], counter: Counter, labels: ExpectedLabels, seed: int
) -> Callable[..., Any]:
    """Return models that are seeded, checked before each task and counted at each test."""
    built: list[Any] = []

    def get(*args: Any, **kwargs: Any) -> Any:
        if built:
            sys.exit("The toolbox trains several class orders in one call; edgecil asks for one.")
        seed_everything(seed)
        model = get_model(*args, **kwargs)
        built.append(model)
        train = model.incremental_train

        def check_and_train(manager: Any, *more: Any, **named: Any) -> Any:
            labels.check(manager)
            return train(manager, *more, **named)

        model.incremental_train = check_and_train
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
        """Count the predictions in the model's own evaluation."""
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
        """Return the task of a new label."""
        return next(task for task, end in enumerate(self.ends) if label < end)

    @property
    def complete(self) -> bool:
        """Whether every classifier was tested after every task."""
        tested = [sorted(rows) for rows in self.correct.values() if rows]
        return bool(tested) and all(tasks == list(range(len(self.ends))) for tasks in tested)

    def result(self) -> dict[str, Any]:
        """Return the counts that edgecil reads; a task without a test ends the program."""
        tasks = range(len(self.ends))
        if not self.complete:
            tested = {name: sorted(rows) for name, rows in self.correct.items()}
            sys.exit(f"The toolbox did not test after each of {len(tasks)} tasks, only: {tested}.")
        correct = {}
        for name, rows in self.correct.items():
            if rows:
                correct[name] = [rows[task] for task in tasks]
        return {"correct": correct, "totals": self.totals[len(tasks) - 1]}


if __name__ == "__main__":
    main(*sys.argv[1:])
