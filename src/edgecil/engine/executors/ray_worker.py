"""What runs in the workers of a Ray cluster: trainings and the handshake."""

from __future__ import annotations

import os
import pickle
import platform
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from edgecil.engine.node_training import Outcome, WorkerContext, train_node
from edgecil.engine.plan import Node

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


def train(
    references: list[Any],
    node: Node,
    parent: bytes | None,
    keep: bool,
    timeout: float | None = None,
    directory: str | None = None,
) -> tuple[Outcome, bytes | None]:
    """Train a node in a Ray worker.

    Args:
        references: the pickled context.
        node: what to train.
        parent: the state after the previous task.
        keep: whether to return the state after this one.
        timeout: seconds that it may take.
        directory: the working directory.
    """
    if directory is not None:
        os.chdir(directory)
    context = _fetch(references[0])
    try:
        with _at_most(timeout):
            return train_node(context, node, parent, keep=keep)
    except _TooLong:
        message = f"The training was stopped after {timeout:g} s."
        return Outcome(error=message, trace=message), None


class _TooLong(BaseException):  # noqa: N818: learners catch errors
    """A training has taken longer than it may."""


@contextmanager
def _at_most(seconds: float | None) -> Iterator[None]:
    """Raise :class:`_TooLong` after some seconds."""
    if seconds is None:
        yield
        return

    def stop(*_: object) -> None:
        raise _TooLong

    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
