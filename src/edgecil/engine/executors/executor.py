"""What the driver asks of an executor."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from edgecil.engine.node_training import Outcome, WorkerContext
from edgecil.engine.plan import Node
from edgecil.errors import UsageError, unknown


@dataclass(frozen=True)
class Job:
    """A node to train.

    Attributes:
        node: what.
        parent: file with the state to go on from; None for a first task.
        keep: file to leave the new state in; None if nothing comes after.
    """

    node: Node
    parent: Path | None
    keep: Path | None


@dataclass(frozen=True)
class Finished:
    """A job that has ended, well or not; its state is on disk if it was to be kept."""

    job: Job
    outcome: Outcome


class Executor(Protocol):
    """Trains jobs somewhere, several at a time."""

    @property
    def capacity(self) -> int:
        """How many jobs it works on at once."""

    def submit(self, job: Job) -> None:
        """Begin a job; returns at once."""

    def wait(self) -> Finished:
        """The next job to end; raises EdgecilError when results can no longer be stored."""

    def close(self) -> None:
        """Give up whatever is still under way; closing again does nothing."""


EXECUTORS = ("local", "ray")


def get_executor(
    name: str, workplace: WorkerContext, *, workers: int, address: str | None = None
) -> Executor:
    """An executor by name.

    Args:
        name: `local` or `ray`.
        workplace: what its workers need.
        workers: jobs at a time.
        address: of a Ray cluster; a private one on this machine by default.
    """
    if workers < 1:
        raise UsageError(f"--workers must be at least 1. Got {workers} instead.")
    if address is not None and name != "ray":
        raise UsageError("--address is for --executor ray.")
    if name == "local":
        from edgecil.engine.executors.local import InProcess, WorkerPool

        return InProcess(workplace) if workers == 1 else WorkerPool(workplace, workers)
    if name == "ray":
        from edgecil.engine.executors.ray import RayExecutor

        return RayExecutor(workplace, workers, address)
    raise unknown("executor", name, EXECUTORS)
