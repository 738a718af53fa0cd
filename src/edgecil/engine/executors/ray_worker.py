"""What runs in the workers of a Ray cluster: trainings, their signs of life, the handshake."""

from __future__ import annotations

import itertools
import os
import pickle
import platform
import signal
import threading
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from edgecil.engine.executors.ray_cluster import REACH
from edgecil.engine.node_training import Outcome, WorkerContext, train_node
from edgecil.engine.plan import Node

HEARTBEAT = 2.0  # seconds between two signs of life of a job


@dataclass(frozen=True)
class Beat:
    """The last sign of life of a job; whether it loads its data, or trains already."""

    count: int
    host: str
    node: str
    pid: int
    trains: bool = True


class Pulse:
    """An actor that receives the signs of life of all jobs."""

    def __init__(self) -> None:
        self._beats: dict[int, Beat] = {}

    def beat(self, number: int, beat: Beat) -> None:
        """Note that a job is alive."""
        self._beats[number] = beat

    def read(self) -> dict[int, Beat]:
        """Return the last sign of life of each job."""
        return self._beats


_contexts: dict[Any, WorkerContext] = {}


def _fetch(reference: Any) -> WorkerContext:
    """Return the context in a Ray worker, which fetches it once."""
    import ray

    if reference not in _contexts:
        _contexts.clear()
        _contexts[reference] = pickle.loads(ray.get(reference))
    context = _contexts[reference]
    context.prepare()
    return context


def gpu_type() -> str | None:
    """Return the GPU that Ray gives to a worker; None if torch cannot use it."""
    import torch

    return torch.cuda.get_device_name() if torch.cuda.is_available() else None


def greet(references: list[Any]) -> tuple[str, dict[str, str]]:
    """Return the name of the node, and in what a worker on it differs from the driver.

    Ray hides the GPUs from it; every training compares its own.
    """
    return platform.node(), _fetch(references[0]).differences(gpu=False)


def kill(pid: int) -> None:
    """End a process of this node."""
    with suppress(ProcessLookupError):
        # Windows has no SIGKILL; there SIGTERM ends a process at once.
        os.kill(pid, getattr(signal, "SIGKILL", signal.SIGTERM))


def train(
    references: list[Any],
    number: int,
    node: Node,
    parent: bytes | None,
    keep: bool,
    directory: str | None = None,
) -> tuple[Outcome, bytes | None]:
    """Train a node in a Ray worker, with a sign of life every few seconds.

    Args:
        references: the pickled context, and the actor that receives signs of life.
        number: the job's number.
        node: what to train.
        parent: the state after the previous task.
        keep: whether to return the state after this one.
        directory: the working directory.
    """
    import ray

    if directory is not None:
        os.chdir(directory)
    reference, pulse = references
    identifier, counts = ray.get_runtime_context().get_node_id(), itertools.count()
    trains, ended = threading.Event(), threading.Event()

    def send() -> Any:
        message = Beat(next(counts), platform.node(), identifier, os.getpid(), trains.is_set())
        return pulse.beat.remote(number, message)

    def beat() -> None:
        while not ended.wait(HEARTBEAT):
            with suppress(Exception):
                send()

    with suppress(Exception):
        ray.get(send(), timeout=REACH)  # arrived: this process is missed if it is stopped now
    threading.Thread(target=beat, daemon=True).start()
    try:
        context = _fetch(reference)
        trains.set()
        with suppress(Exception):
            send()
        return train_node(context, node, parent, keep=keep)
    finally:
        ended.set()
