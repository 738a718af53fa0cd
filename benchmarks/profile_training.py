"""Where the time of a training goes: kernels, augmentation, optimiser, storage, Python.

    python benchmarks/profile_training.py [icarl ranpac ease l2p] [--threads 1]

iCaRL trains ResNet-32 on synthetic 32 x 32 x 3 images; RanPAC, EASE and L2P run on a ViT-B/16 with
random weights at 224 pixels. Each method learns two tasks in this process, and is measured twice:
once with clocks around the parts, once with torch's profiler for the share of convolutions and
matrix products within the network. The profiler slows Python down, so shares of whole parts come
from the first pass.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import save_file

from edgecil.backbones.vit import ViT, ViTLayout
from edgecil.data import Dataset, Examples
from edgecil.data.augment import Pipeline, channel_statistics
from edgecil.experiments import Node, Store
from edgecil.methods import Environment, get_method
from edgecil.methods.task import Scenario
from edgecil.training import node_training as training
from edgecil.training.node_training import WorkerContext, train_node

PRODUCTS = ("conv", "mm", "matmul", "linear", "attention")


@dataclass
class Clocks:
    """Seconds spent in parts of the program; a part inside another counts for the inner one."""

    seconds: Counter[str] = field(default_factory=Counter)
    _stack: list[str] = field(default_factory=list)
    _since: float = 0.0

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        self._switch()
        self._stack.append(name)
        try:
            yield
        finally:
            self._switch()
            self._stack.pop()

    def _switch(self) -> None:
        now = time.perf_counter()
        if self._stack:
            self.seconds[self._stack[-1]] += now - self._since
        self._since = now

    def around(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*args: Any, **options: Any) -> Any:
            with self.part(name):
                return function(*args, **options)

        return timed


@contextmanager
def clocked(clocks: Clocks) -> Iterator[None]:
    """Clocks around augmentation, optimiser, network and storage."""
    places: list[tuple[Any, str, str]] = [
        (Pipeline, "__call__", "augmentation"),
        (Pipeline, "plain", "augmentation"),
        (torch.optim.SGD, "step", "optimiser"),
        (torch.optim.Adam, "step", "optimiser"),
        (torch.optim.AdamW, "step", "optimiser"),
        (torch.optim.Optimizer, "zero_grad", "optimiser"),
        (torch.Tensor, "backward", "network"),
        (torch.nn.Module, "__call__", "network"),
        (torch.linalg, "svd", "network"),
        (torch.linalg, "solve", "network"),
        (training, "pack", "storage"),
        (training, "unpack", "storage"),
    ]
    before = [getattr(owner, name) for owner, name, _ in places]
    for (owner, name, part), function in zip(places, before, strict=True):
        setattr(owner, name, clocks.around(part, function))
    try:
        yield
    finally:
        for (owner, name, _), function in zip(places, before, strict=True):
            setattr(owner, name, function)


def images(classes: int, each: int, side: int, seed: int) -> Examples:
    draws = np.random.default_rng(seed)
    pixels = draws.integers(0, 256, (classes * each, 3, side, side), dtype=np.uint8)
    return Examples(pixels, np.repeat(np.arange(classes, dtype=np.int64), each))


def random_vit(folder: Path) -> str:
    """A file with a ViT-B/16 of random weights."""
    layout = ViTLayout(channels=3, patch=16, width=768, depth=12, heads=12, hidden=3072)
    torch.manual_seed(0)
    network = ViT(layout, (3, 224, 224))
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.normal_(std=0.02)
    path = folder / "vit.safetensors"
    save_file(network.state_dict(), path)
    path.with_suffix(".json").write_text(
        '{"mean": [0.5, 0.5, 0.5], "std": [0.5, 0.5, 0.5]}', encoding="utf-8"
    )
    return str(path)


def context_for(method: str, folder: Path, threads: int) -> tuple[WorkerContext, tuple[Any, ...]]:
    """Data and settings of one method, and its two tasks."""
    scratch = method == "icarl"
    classes, each, side = (20, 250, 32) if scratch else (4, 16, 224)
    train = images(classes, each, side, 0)
    test = images(classes, each // 4, side, 1)
    names = tuple(f"class {label}" for label in range(classes))
    dataset = Dataset("synthetic", names, train, test)
    statistics = channel_statistics(torch.from_numpy(train.inputs))
    environment = Environment(
        dataset.shape,
        statistics.mean,
        statistics.std,
        "resnet32" if scratch else random_vit(folder),
    )
    entry = get_method(method)
    schedule, memory = entry.schedule("paper", "resnet32")
    schedule = replace(schedule, epochs=3 if scratch else 2)
    schedule = schedule if scratch else replace(schedule, batch_size=16)
    config = entry.configure(schedule, memory, entry.settings("paper"))
    half = classes // 2
    tasks = (tuple(range(half)), tuple(range(half, classes)))
    return WorkerContext(Scenario(dataset), environment, {method: config}, threads), tasks


def learn(context: WorkerContext, method: str, tasks: tuple[Any, ...], store: Store) -> None:
    """Both tasks with storage, as the engine trains them."""
    state = None
    for end in (1, 2):
        node = Node(method, 0, tasks[:end])
        outcome, state = train_node(context, node, state, keep=True)
        assert outcome.result is not None, outcome.trace
        store.record(node, outcome.result)


def measure(method: str, threads: int) -> str:
    """One row of the table."""
    with tempfile.TemporaryDirectory() as folder:
        context, tasks = context_for(method, Path(folder), threads)
        context.prepare()
        store = Store(Path(folder) / "run")
        context.build(Node(method, 0, tasks))  # reads the weights, imports the compiler
        torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0).step()
        clocks = Clocks()
        store.record = clocks.around("storage", store.record)  # type: ignore[method-assign]
        processor = time.process_time()
        with clocked(clocks), clocks.part("Python and the rest"):
            learn(context, method, tasks, store)
        processor = time.process_time() - processor
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profiler:
            learn(context, method, tasks, store)
        store.close()
    total = sum(clocks.seconds.values())
    own = Counter[str]()
    for event in profiler.key_averages():
        kind = "products" if any(part in event.key for part in PRODUCTS) else "others"
        if event.key.startswith("aten::"):
            own[kind] += event.self_cpu_time_total
    network = clocks.seconds["network"] / total
    inside = own["products"] / (own["products"] + own["others"])
    cells = [f"{total:.1f}", f"{processor:.1f}", f"{inside:.0%}", f"{network:.1%}"]
    for part in ("augmentation", "optimiser", "storage", "Python and the rest"):
        cells.append(f"{clocks.seconds[part] / total:.1%}")
    return f"| {method} | {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("methods", nargs="*", default=["icarl", "ranpac", "ease", "l2p"])
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    print("| method | s | CPU s | conv and matmul among all operators | network | augmentation |")
    print("  … optimiser | storage | Python and the rest |")
    for method in arguments.methods:
        print(measure(method, arguments.threads), flush=True)


if __name__ == "__main__":
    main()
