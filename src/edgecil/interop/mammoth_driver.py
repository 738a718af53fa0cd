"""Runs inside a Mammoth checkout's own Python and makes it train one class order.

Stand-alone, from Python 3.8 on: `python launch.py ROOT ORDER RESULT OPTION …`, with options of
Mammoth's `main.py`. Its own `--custom_class_order` sets an order without applying it; here
the order is set where labels are permuted, and the run stops unless that happened for every task.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from pathlib import Path
from typing import Any


def main(root: str, order_file: str, result_file: str, *options: str) -> None:
    """Train the order, and write the accuracy on each task after each task."""
    order = json.loads(Path(order_file).read_text(encoding="utf-8"))
    result_path = Path(result_file).resolve()
    os.chdir(root)
    sys.path[0] = root
    sys.argv = ["main.py", *options, "--seed", str(order["seed"])]
    rows = follow(order)
    importlib.import_module("main").main()
    tasks = len(order["tasks"])
    if sorted(rows) != list(range(tasks)):
        sys.exit(f"Mammoth was not tested after each of {tasks} tasks, only after {sorted(rows)}.")
    matrix = [rows[task] for task in range(tasks)]
    result = json.dumps({"matrix": matrix, "order": order["order"]})
    result_path.write_text(result, encoding="utf-8")


def follow(order: dict[str, Any]) -> dict[int, list[float]]:
    """Make datasets follow the order, and return rows that each test will fill."""
    import numpy

    dataset_class = importlib.import_module("datasets.utils.continual_dataset").ContinualDataset

    class Applied(numpy.ndarray):
        """The new label of each class; counts how often labels were looked up in it."""

        times = 0

        def __getitem__(self, key: Any) -> Any:
            if isinstance(key, numpy.ndarray):
                Applied.times += 1
            return numpy.asarray(super().__getitem__(key))

    new_label = numpy.argsort(order["order"]).view(Applied)
    sizes = [len(task) for task in order["tasks"]]
    begin, evaluate = dataset_class.__init__, dataset_class.evaluate
    rows: dict[int, list[float]] = {}

    def start(self: Any, args: Any, *more: Any, **named: Any) -> None:
        args.custom_class_order = None
        args.permute_classes = True
        args.class_order = new_label
        begin(self, args, *more, **named)
        dataset_sizes = self.N_CLASSES_PER_TASK
        if isinstance(dataset_sizes, int):
            dataset_sizes = [dataset_sizes] * self.N_TASKS
        if list(dataset_sizes) != sizes:
            sys.exit(
                f"The order has tasks of {sizes} classes, but Mammoth's dataset has "
                f"{list(dataset_sizes)}."
            )

    def test(model: Any, dataset: Any, last: bool = False, **named: Any) -> Any:
        if dataset.args.class_order is not new_label or not dataset.args.permute_classes:
            sys.exit("Mammoth did not keep the class order.")
        if Applied.times < 2 * len(dataset.test_loaders):  # training and test labels of each task
            sys.exit("Mammoth did not apply the class order to the labels.")
        answer = evaluate(model, dataset, last=last, **named)
        if not last:
            rows[len(dataset.test_loaders) - 1] = [float(value) for value in answer[0]]
        return answer

    dataset_class.__init__, dataset_class.evaluate = start, staticmethod(test)
    return rows


if __name__ == "__main__":
    main(*sys.argv[1:])
