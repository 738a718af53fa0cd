"""The interface of executors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from edgecil.engine.executors.placement import Placement
from edgecil.engine.handshake import suits
from edgecil.engine.node_training import Outcome, WorkerContext
from edgecil.engine.plan import Node
from edgecil.errors import UsageError, unknown


@dataclass(frozen=True)
class Job:
    """A node to train."""

    node: Node
    parent: Path | None  # file with the parent's state; None for a first task
    keep: Path | None  # file to write the new state to; None if no task follows
    final: bool = False  # the state is a model, which predicts
    only_child: bool = False  # one node alone will continue from the state


@dataclass(frozen=True)
class Finished:
    """A job that has ended, successfully or not; a state to keep is on disk."""

    job: Job
    outcome: Outcome


class Executor(Protocol):
    """Trains jobs, several at a time."""

    @property
    def capacity(self) -> int:
        """The number of jobs that run at once."""

    @property
    def identity(self) -> Mapping[str, str]:
        """What the results depend on and only workers know: the type of their GPU."""

    def submit(self, job: Job) -> None:
        """Start a job and return at once."""

    def wait(self) -> Finished | None:
        """Return the next job to end; None if none ends within seconds."""

    def close(self) -> None:
        """Cancel all running jobs; closing again does nothing."""


EXECUTORS = ("local", "ray")


def get_executor(
    name: str,
    context: WorkerContext,
    *,
    workers: int | Placement | None,
    address: str | None = None,
    timeout: float | None = None,
    per_device: int | None = None,
    folder: Path | None = None,
) -> Executor:
    """Return an executor by name, `local` or `ray`.

    `workers` is the number of jobs that run at once, or how they are distributed over devices; None
    for as many as a Ray cluster can run, at an `address` or private on this machine. `timeout` is
    in seconds per job, `per_device` the jobs that share a GPU of a cluster, and `folder` the
    experiment directory, in which a private Ray has its files while it runs.
    """
    if isinstance(workers, int) and workers < 1:
        raise UsageError(f"'workers' must be at least 1. Got {workers} instead.")
    if address is not None and name != "ray":
        raise UsageError(f"'address' requires the executor 'ray'. Got the executor {name!r}.")
    if name == "local":
        assert workers is not None
        from edgecil.engine.executors.local import InProcess, WorkerPool

        fixed = isinstance(workers, int) or workers.devices == ("cpu",)
        count = workers if isinstance(workers, int) else workers.capacity
        here = bool(context.interactive) or suits(context.environment.device)
        if fixed and count == 1 and timeout is None and here:
            return InProcess(context)
        return WorkerPool(context, workers, timeout=timeout)
    if name == "ray":
        from edgecil.engine.executors.ray import RayExecutor

        number = workers.capacity if isinstance(workers, Placement) else workers
        return RayExecutor(
            context,
            number,
            address,
            timeout=timeout,
            per_device=per_device or 1,
            folder=folder or Path(),
        )
    raise unknown("executor", name, EXECUTORS)
