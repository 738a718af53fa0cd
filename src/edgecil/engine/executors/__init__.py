"""Executors: where nodes are trained. The plan, the store and the results are the same for all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from edgecil.engine.executors.placement import Placement
from edgecil.engine.handshake import suits
from edgecil.engine.node_training import Outcome, WorkerContext
from edgecil.engine.plan import Node
from edgecil.errors import UsageError


@dataclass(frozen=True)
class Job:
    """A node to train."""

    node: Node
    parent: Path | None  # file with the parent's state; None for a first task
    keep: Path | None  # file to write the new state to; None if no task follows
    only_child: bool = False  # one node alone will continue from the state

    @property
    def options(self) -> dict[str, bool]:
        """Options of :func:`train_node`."""
        return {"keep": self.keep is not None, "hand_on": self.only_child}


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
    if name == "ray":
        from edgecil.engine.executors.ray import RayExecutor

        assert not isinstance(workers, Placement)
        share, place = per_device or 1, folder or Path()
        return RayExecutor(
            context, workers, address, timeout=timeout, per_device=share, folder=place
        )
    if address is not None:
        raise UsageError(f"`address` requires the executor 'ray'. Got the executor {name!r}.")
    from edgecil.engine.executors.local import InProcess, WorkerPool

    assert workers is not None
    if isinstance(workers, int):
        workers = Placement(("cpu",), most=workers, per_device=workers)
    here = bool(context.interactive) or suits(context.environment.device)
    if workers.devices == ("cpu",) and workers.capacity == 1 and timeout is None and here:
        return InProcess(context)
    return WorkerPool(context, workers, timeout=timeout)
