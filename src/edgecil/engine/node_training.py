"""Training of one node: the same in this process, in a worker process, and on a cluster."""

from __future__ import annotations

import io
import os
import sys
import time
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import torch

from edgecil.engine.plan import Node
from edgecil.engine.results import ClassCounts, NodeResult
from edgecil.io.device import use_portable_kernels
from edgecil.methods import Environment, Method, MethodEntry, get_method
from edgecil.methods.task import Scenario


@dataclass(frozen=True, eq=False)
class WorkerContext:
    """Data and settings that a worker needs besides the node.

    Attributes:
        scenario: the dataset; its labels are on the device.
        environment: the environment of methods; its seed is replaced by the node's.
        configs: method configurations, by method name.
        threads: threads of torch; results depend on it, because it changes the order of sums.
        methods: entries of methods that are not part of edgecil, by name.
    """

    scenario: Scenario
    environment: Environment
    configs: Mapping[str, Any]
    threads: int = 1
    methods: Mapping[str, MethodEntry] = field(default_factory=dict)

    def prepare(self) -> None:
        """Configure this process so that its results equal those of every other process."""
        use_portable_kernels()
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
        torch.set_num_threads(self.threads)
        torch.use_deterministic_algorithms(True, warn_only=True)
        # Results are the same, and small networks train 5 to 15 % faster.
        torch.utils.deterministic.fill_uninitialized_memory = False

    def build(self, node: Node) -> Method:
        """The node's method, untrained."""
        environment = replace(self.environment, seed=node.seed)
        entry = self.methods.get(node.method) or get_method(node.method)
        return entry.build(self.configs[node.method], environment)


@dataclass(frozen=True)
class Outcome:
    """The result or the failure of a node.

    Attributes:
        result: the result; None after a failure.
        error: the error in one line.
        trace: the traceback.
        damaged: whether the parent's state could not be read.
    """

    result: NodeResult | None = None
    error: str | None = None
    trace: str | None = None
    damaged: bool = False


def train_node(
    context: WorkerContext, node: Node, parent: bytes | None, *, keep: bool
) -> tuple[Outcome, bytes | None]:
    """Learn the node's last task from its parent's state and test on all tasks so far.

    Args:
        context: data and settings.
        node: the node to train.
        parent: the parent's state; None for a first task.
        keep: whether to return the new state.

    Returns:
        The outcome, and the new state if it is kept.
    """
    start = time.perf_counter()
    try:
        method = context.build(node)
        if parent is not None:
            try:
                state_before = unpack(parent)
            except Exception:
                message = "The state after the previous task is damaged; run again to repair it."
                return Outcome(error=message, trace=traceback.format_exc(), damaged=True), None
            method.restore(state_before)
        everything = method.sees_everything
        with context.scenario.task(node.prefix, node.seed, everything=everything) as task:
            method.learn(task)
        correct, totals = _test(method, context.scenario, node)
        state = pack(method.state()) if keep else None
    except Exception as error:
        line = f"{type(error).__name__}: {error}".split("\n")[0]
        return Outcome(error=line, trace=traceback.format_exc()), None
    seconds = time.perf_counter() - start
    return Outcome(NodeResult.per_class(correct, totals, seconds, _peak_memory())), state


def pack(state: Mapping[str, Any]) -> bytes:
    """A method's state as bytes."""
    buffer = io.BytesIO()
    torch.save(dict(state), buffer)
    return buffer.getvalue()


def unpack(data: bytes) -> dict[str, Any]:
    """The inverse of :func:`pack`; no code from the bytes is executed."""
    state: dict[str, Any] = torch.load(io.BytesIO(data), map_location="cpu", weights_only=True)
    return state


def _test(
    method: Method, scenario: Scenario, node: Node
) -> tuple[dict[str, ClassCounts], ClassCounts]:
    """Right answers on each class's test images, by classifier, and the number of images."""
    order = tuple(class_ for task in node.prefix for class_ in task)
    images = scenario.test.only(order)
    seen = torch.tensor(method.seen, device=images.labels.device)
    labels = method.classify(images.pixels)
    right = {
        classifier: seen[labels[classifier].to(seen.device)] == images.labels
        for classifier in method.classifiers
    }
    correct = {
        classifier: _count_classes(images.labels[hits], node) for classifier, hits in right.items()
    }
    return correct, _count_classes(images.labels, node)


def _count_classes(labels: torch.Tensor, node: Node) -> ClassCounts:
    """How often each class of each task occurs among the labels."""
    largest = max(class_ for task in node.prefix for class_ in task)
    counts = torch.bincount(labels.cpu(), minlength=largest + 1).tolist()
    return tuple(tuple(counts[class_] for class_ in task) for task in node.prefix)


def _peak_memory() -> int:
    """Peak memory of this process so far, in bytes."""
    try:
        import resource
    except ModuleNotFoundError:  # Windows
        import psutil

        return int(psutil.Process().memory_info().peak_wset)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
