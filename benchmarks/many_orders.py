"""What many orders cost beside a bare torch loop: 100 classes in 10 tasks, bundled features.

    python benchmarks/many_orders.py [--orders 20] [--rounds 5] [--method finetune,lwf,er,…]

Prints a Markdown table: milliseconds of processor and wall time of one run, all ten tests included,
and the ratios, each the median over rounds. A round runs new orders with edgecil and the same
orders with the loop. `edgecil` is `edgecil.run` in this process with its plan, store, states and
checks, less the start-up of a run of one order. `loop` is written here, without edgecil: the same
numbers of steps and of images, on the same orders and features. Learners whose scores do not
depend on the order run 10,000 orders, and the loop a few of them.
"""

from __future__ import annotations

import argparse
import copy
import math
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, log_softmax, normalize, softmax

from edgecil.methods import get_method
from edgecil.training.node_training import WorkerContext
from edgecil.training.run import read_request, run_request

_TASKS = 10
_ORDER_FREE = 10_000  # orders of learners whose scores do not depend on the order


class Budget(NamedTuple):
    """How long a loop trains on a task."""

    epochs: int
    steps: int | None
    batch_size: int
    learning_rate: float
    exemplars: int  # per class, at the end


class Features(NamedTuple):
    """Features (n, d) and labels (n,) for training, features and labels for tests."""

    train: Tensor
    train_labels: Tensor
    test: Tensor
    test_labels: Tensor

    def of(self, classes: list[int], *, test: bool = False) -> tuple[Tensor, Tensor]:
        """Return features and new labels of some classes, which are numbered from 0."""
        vectors, labels = self[2:] if test else self[:2]
        new = torch.full((int(labels.max()) + 1,), -1)
        new[classes] = torch.arange(len(classes))
        chosen = new[labels] >= 0
        return vectors[chosen], new[labels[chosen]]


def train_linear(method: str, tasks: list[list[int]], data: Features, budget: Budget) -> None:
    """Train one linear head on the tasks of an order, and test it after every task."""
    seen: list[int] = []
    head = torch.nn.Linear(data.train.shape[1], len(tasks[0]))
    memory = data.train[:0], data.train_labels[:0]
    for task in tasks:
        old, seen = len(seen), [*seen, *task]
        teacher = copy.deepcopy(head) if old and method == "lwf" else None
        grown = torch.nn.Linear(data.train.shape[1], len(seen))
        with torch.no_grad():
            grown.weight.zero_()
            grown.bias.zero_()
            grown.weight[:old], grown.bias[:old] = head.weight[:old], head.bias[:old]
        head = grown
        new_inputs, new_labels = data.of(task)
        new_labels = new_labels + old
        inputs = torch.cat([memory[0], new_inputs])
        labels = torch.cat([memory[1], new_labels])

        loss = partial(batch_loss, method, head, teacher, inputs, labels, old)
        fit(head, loss, len(inputs), budget)
        test_inputs, test_labels = data.of(seen, test=True)
        with torch.no_grad():
            count_right(head(test_inputs).argmax(dim=1), test_labels, len(seen))
        if method == "er":
            memory = remember(memory, new_inputs, new_labels, budget.exemplars)
            nearest = torch.cdist(normalize(test_inputs, dim=1), class_means(*memory)).argmin(dim=1)
            count_right(nearest, test_labels, len(seen))


def batch_loss(
    method: str,
    head: torch.nn.Module,
    teacher: torch.nn.Module | None,
    inputs: Tensor,
    labels: Tensor,
    old: int,
    batch: Tensor,
) -> Tensor:
    """Return the loss of a batch of indices (b,); `old` classes came before the task."""
    logits = head(inputs[batch])
    if method == "er":
        return cross_entropy(logits, labels[batch])
    value = cross_entropy(logits[:, old:], labels[batch] - old)
    if teacher is None:
        return value
    with torch.no_grad():
        target = softmax(teacher(inputs[batch]) / 2.0, dim=1)
    kept = log_softmax(logits[:, :old] / 2.0, dim=1)
    return value - 3.0 * (target * kept).sum(dim=1).mean()


def fit(
    head: torch.nn.Module, loss: Callable[[Tensor], Tensor], count: int, budget: Budget
) -> None:
    """Train a head by Adam with a rate that falls along half a cosine."""
    optimizer = torch.optim.Adam(head.parameters(), lr=budget.learning_rate)
    total = budget.steps or budget.epochs * math.ceil(count / budget.batch_size)
    step = 0
    while step < total:
        for batch in torch.randperm(count).split(budget.batch_size):
            if step == total:
                break
            for group in optimizer.param_groups:
                group["lr"] = budget.learning_rate * 0.5 * (1 + math.cos(math.pi * step / total))
            value = loss(batch)
            optimizer.zero_grad()
            value.backward()
            optimizer.step()
            step += 1


def remember(
    memory: tuple[Tensor, Tensor], inputs: Tensor, labels: Tensor, count: int
) -> tuple[Tensor, Tensor]:
    """Add the images of each class whose mean is nearest to that of the class (herding)."""
    chosen = []
    for label in labels.unique():
        rows = torch.nonzero(labels == label).squeeze(1)
        vectors = normalize(inputs[rows], dim=1)
        mean, total = vectors.mean(dim=0), torch.zeros(vectors.shape[1])
        left = torch.ones(len(rows), dtype=torch.bool)
        for number in range(1, min(count, len(rows)) + 1):
            distances = (mean - (total + vectors) / number).norm(dim=1)
            best = int(distances.masked_fill(~left, torch.inf).argmin())
            left[best] = False
            total = total + vectors[best]
            chosen.append(rows[best])
    places = torch.stack(chosen)
    return torch.cat([memory[0], inputs[places]]), torch.cat([memory[1], labels[places]])


def class_means(inputs: Tensor, labels: Tensor) -> Tensor:
    """Return the mean of each class's inputs of unit length, of unit length."""
    sums = torch.zeros(int(labels.max()) + 1, inputs.shape[1])
    return normalize(sums.index_add_(0, labels, normalize(inputs, dim=1)), dim=1)


def train_means(method: str, tasks: list[list[int]], data: Features, budget: Budget) -> None:
    """Classify by the cosine similarity to class means, and test after every task."""
    seen: list[int] = []
    means = data.train[:0]
    for task in tasks:
        seen = [*seen, *task]
        inputs, labels = data.of(task)
        sums = torch.zeros(len(task), inputs.shape[1]).index_add_(0, labels, inputs)
        means = torch.cat([means, normalize(sums / labels.bincount()[:, None], dim=1)])
        test_inputs, test_labels = data.of(seen, test=True)
        nearest = (normalize(test_inputs, dim=1) @ means.T).argmax(dim=1)
        count_right(nearest, test_labels, len(seen))


def count_right(answers: Tensor, labels: Tensor, classes: int) -> list[int]:
    """Return the right answers on each class."""
    counts: list[int] = labels[answers == labels].bincount(minlength=classes).tolist()
    return counts


_LOOPS: dict[str, Callable[[str, list[list[int]], Features, Budget], None]] = {
    "finetune": train_linear,
    "lwf": train_linear,
    "er": train_linear,
    "simplecil": train_means,
}


class Times(NamedTuple):
    """Seconds of processor and wall time."""

    cpu: float
    wall: float

    @classmethod
    def now(cls) -> Times:
        """Return the times since some moment."""
        return cls(time.process_time(), time.perf_counter())

    def since(self, earlier: Times) -> Times:
        """Return the times between two moments."""
        return Times(self.cpu - earlier.cpu, self.wall - earlier.wall)

    def per_run(self, runs: int) -> Times:
        """Return milliseconds of one run."""
        return Times(1000.0 * self.cpu / runs, 1000.0 * self.wall / runs)


class Round(NamedTuple):
    """Milliseconds of one run with edgecil and with the loop, and the steps of a task."""

    edgecil: Times
    loop: Times | None
    steps: int


def run_edgecil(
    method: str, dataset: str, orders: int, out: Path, *, order_seed: int = 0
) -> tuple[Times, WorkerContext, list[list[list[int]]]]:
    """Run some orders; return times, data and settings, and the orders."""
    contexts: list[WorkerContext] = []
    options = {
        "method": method,
        "dataset": dataset,
        "tasks": _TASKS,
        "protocol": "random",
        "budget": orders,
        "order_seed": order_seed,
        "execution": {"workers": 1, "progress": False},
    }
    start = Times.now()
    experiment = run_request(
        read_request(None, options, out=out), lambda prepared, *_: contexts.append(prepared.context)
    )
    times = Times.now().since(start)
    sequences = [run.sequence.tasks for run in experiment.results()]
    return times, contexts[0], [[list(task) for task in tasks] for tasks in sequences]


def run_loop(method: str, context: WorkerContext, orders: list[list[list[int]]]) -> Times:
    """Train the same orders by the loop of this file."""
    train, test = context.scenario.train, context.scenario.test
    data = Features(train.inputs, train.labels, test.inputs, test.labels)
    config = context.configs[method]
    schedule = getattr(config, "schedule", None)
    budget = Budget(0, None, 1, 0.0, 0)
    if schedule is not None:
        memory = getattr(config, "memory", None)
        exemplars = 0 if memory is None else memory.quota(context.scenario.classes)
        steps = getattr(schedule, "steps", None)
        budget = Budget(
            schedule.epochs, steps, schedule.batch_size, schedule.learning_rate, exemplars
        )
    start = Times.now()
    for tasks in orders:
        _LOOPS[method](method, tasks, data, budget)
    return Times.now().since(start)


def measure_round(method: str, dataset: str, orders: int, number: int) -> Round:
    """Run new orders with edgecil, and the same ones with the loop if there is one."""
    count = _ORDER_FREE if get_method(method).order_free else orders
    with tempfile.TemporaryDirectory() as folder:
        start_up, *_ = run_edgecil(method, dataset, 1, Path(folder) / "first")
        total, context, drawn = run_edgecil(
            method, dataset, count, Path(folder) / "all", order_seed=number
        )
    of_edgecil = total.since(start_up).per_run(count - 1)
    of_loop = None
    if method in _LOOPS:
        few = drawn[:orders]
        of_loop = run_loop(method, context, few).per_run(len(few))
    return Round(of_edgecil, of_loop, count_steps(context, method))


def count_steps(context: WorkerContext, method: str) -> int:
    """Return the optimisation steps of a task; 0 for a learner without a schedule."""
    schedule = getattr(context.configs[method], "schedule", None)
    if schedule is None:
        return 0
    images = len(context.scenario.train.labels) // _TASKS
    batches: int = schedule.epochs * math.ceil(images / schedule.batch_size)
    return getattr(schedule, "steps", None) or batches


def format_row(method: str, rounds: list[Round]) -> str:
    """Return a line of the table: medians over rounds."""
    cells = [method, str(rounds[0].steps or "–")]
    for part in ("cpu", "wall"):
        ours = median(getattr(measured.edgecil, part) for measured in rounds)
        cells.append(f"{ours:.2f}")
        pairs = [
            (getattr(measured.edgecil, part), getattr(measured.loop, part))
            for measured in rounds
            if measured.loop is not None
        ]
        if pairs:
            cells.append(f"{median(loop for _, loop in pairs):.2f}")
            cells.append(f"{median(of_edgecil / loop for of_edgecil, loop in pairs):.2f}")
        else:
            cells += ["–", "–"]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Print a line for each method."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--orders", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--method", default="finetune,lwf,er,simplecil,fecam")
    parser.add_argument("--dataset", default="caltech101")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    columns = ("edgecil, CPU", "loop, CPU", "ratio", "edgecil, wall", "loop, wall", "ratio")
    print(f"| method | steps per task | {' | '.join(columns)} |")
    print("|---|---|---|---|---|---|---|---|")
    for method in arguments.method.split(","):
        rounds = [
            measure_round(method, arguments.dataset, arguments.orders, number)
            for number in range(arguments.rounds)
        ]
        print(format_row(method, rounds), flush=True)


if __name__ == "__main__":
    main()
