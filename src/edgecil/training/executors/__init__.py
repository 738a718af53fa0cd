"""Executors: where nodes are trained. The plan, the store and the results are the same for all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from edgecil.errors import UsageError
from edgecil.experiments.config import Execution
from edgecil.training.chains import Job
from edgecil.training.executors.placement import place
from edgecil.training.handshake import suits
from edgecil.training.node_training import Outcome, WorkerContext


@dataclass(frozen=True)
class Finished:
    """A job that has ended; states that later nodes need are on disk.

    Attributes:
        job: the job.
        outcomes: by chain, the outcomes of its first nodes; the others were not tried.
        crash: how the worker ended, where it is unknown which of the nodes it was at.
    """

    job: Job
    outcomes: Sequence[Sequence[Outcome]]
    crash: Outcome | None = None


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


def get_executor(execution: Execution, context: WorkerContext, folder: Path) -> Executor:
    """Return the executor that options choose; a private Ray has its files in the folder."""
    workers, interactive, timeout = execution.workers, context.interactive, execution.timeout
    if interactive and (execution.executor == "ray" or (workers or 1) > 1):
        raise UsageError(
            f"{interactive[0]} is defined in a notebook or an interactive session, which workers "
            "cannot import; define it in a file, or set `workers` to 1 on the executor 'local'."
        )
    share = execution.workers_per_device
    if execution.executor == "ray":
        if execution.devices is not None:
            raise UsageError(
                "`devices` cannot be combined with the executor 'ray', which assigns GPUs itself; "
                "leave it out, and set `workers_per_device` to share them."
            )
        from edgecil.training.executors.ray import RayExecutor

        return RayExecutor(context, execution, folder)
    if execution.address is not None:
        raise UsageError("`address` requires the executor 'ray'. Got the executor 'local'.")
    from edgecil.training.executors.local import InProcess, WorkerPool

    device = context.environment.device
    devices = execution.devices or (None if device == "cpu" else (device,))
    workers = 1 if interactive else workers
    placement = place(devices, workers=workers, per_device=share, threads=context.threads)
    here = bool(interactive) or suits(device)
    if placement.devices == ("cpu",) and placement.capacity == 1 and timeout is None and here:
        return InProcess(context)
    return WorkerPool(context, placement, timeout=timeout)
