"""Training on this machine: in this process, or in worker processes."""

from __future__ import annotations

import logging
import math
import multiprocessing
import os
import signal
import threading
import time
from collections import Counter, deque
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from multiprocessing.connection import Connection, wait
from pathlib import Path
from types import MappingProxyType
from typing import Any

from edgecil.errors import EdgecilError
from edgecil.experiments.plan import Node
from edgecil.experiments.store import save_state
from edgecil.training.chains import Job, Outcomes, train_job
from edgecil.training.executors import Finished
from edgecil.training.executors.placement import Placement
from edgecil.training.handshake import gpu_identity, worker_identity
from edgecil.training.main_guard import WORKER, check_exit, forget_safe_path, start_worker
from edgecil.training.node_training import Outcome, WorkerContext, failure

_TICK = 1.0
_STARTS = 3

_log = logging.getLogger(__name__)


class InProcess:
    """One job at a time in this process."""

    capacity = 1
    identity: Mapping[str, str] = MappingProxyType({})

    def __init__(self, context: WorkerContext) -> None:
        self._context = context
        self._jobs: deque[Job] = deque()
        context.prepare()

    def submit(self, job: Job) -> None:
        """Queue a job."""
        self._jobs.append(job)

    def wait(self) -> Finished | None:
        """Train the next job."""
        job = self._jobs.popleft()
        outcomes = Outcomes(job)
        train_job(self._context, job, _OnDisk(), outcomes)
        return Finished(job, outcomes.by_chain)

    def close(self) -> None:
        """Drop queued jobs."""
        self._jobs.clear()


class WorkerPool:
    """Several worker processes, which share the memory of the images.

    Each worker has a connection of its own, so it is certain which job a worker died with, and
    nothing (such as a named semaphore) remains in the system after a hard kill. A worker says when
    it begins a node, whose time is limited from then on, and how the node ended.
    """

    def __init__(
        self, context: WorkerContext, placement: Placement, *, timeout: float | None = None
    ) -> None:
        self._placement = placement
        self.identity = gpu_identity(context.environment.device)
        expected = {**worker_identity(context.networks), **self.identity}
        context = self._context = replace(context, expected=expected)
        self._timeout = timeout or math.inf
        self._queued: deque[Job] = deque()
        self._workers: list[_Worker] = []
        self._lost = 0  # workers in a row that ended before they began a job
        context.scenario.share_memory()

    @property
    def capacity(self) -> int:
        """The number of jobs at the same time, which may change after the first one."""
        return self._placement.capacity

    def submit(self, job: Job) -> None:
        """Queue a job for the next free worker."""
        self._queued.append(job)
        self._start_jobs()

    def wait(self) -> Finished | None:
        """Return the next job to end; None if none ends within a second."""
        self._start_jobs()
        busy = [worker for worker in self._workers if worker.job is not None]
        handles = [end for worker in busy for end in (worker.connection, worker.process.sentinel)]
        wait(handles, _TICK)
        for worker in busy:
            has_ended = worker.receive()
            late = worker.begun is not None and time.monotonic() - worker.begun > self._timeout
            if not has_ended and late:
                worker.fail(f"The training was stopped after {self._timeout:g} s.")
                worker.alive = False
            if (has_ended or late) and (finished := self._finish(worker)) is not None:
                return finished
        return None

    def _finish(self, worker: _Worker) -> Finished | None:
        """Free a worker; return its job with the outcomes, or None if it is repeated."""
        job, outcomes, last = worker.job, worker.outcomes, worker.outcomes.last
        assert job is not None
        assert last is not None
        running = sum(
            other.job is not None and other.device == worker.device for other in self._workers
        )
        worker.job = None
        if not worker.alive or last.out_of_memory:  # a new process has none of its memory
            self._workers.remove(worker)
            worker.kill()
            check_exit(worker.process.exitcode)
        self._lost = 0 if worker.alive or worker.has_begun else self._lost + 1
        if self._lost == _STARTS:
            raise EdgecilError(
                f"{_STARTS} worker processes in a row ended before they began a task. "
                f"{last.error} Set `workers` to 1 to see the whole error."
            )
        if self._lost:  # it is not the job that ended the worker
            self._queued.appendleft(job)
            return None
        if last.out_of_memory and self._placement.lower(worker.device, running):
            _log.warning(
                "%s has too little memory for %d jobs; %d run there from now on, and the task is "
                "repeated.",
                worker.device,
                running,
                running - 1,
            )
            outcomes.drop_last()
            return Finished(job, outcomes.by_chain)
        alone = sum(other.device == worker.device for other in self._workers) == 1
        self._placement.learn(worker.device, last.memory, last.room if alone else 0)
        return Finished(job, outcomes.by_chain)

    def _start_jobs(self) -> None:
        while self._queued:
            running = Counter(worker.device for worker in self._workers if worker.job is not None)
            device = self._placement.choose(running)
            if device is None:
                return
            job = self._queued[0]
            idle = [
                other for other in self._workers if other.job is None and other.device == device
            ]
            if not idle:
                idle = [_Worker(self._context, device)]
                self._workers += idle
            # The state before the job may be in a worker's memory.
            before = job.first.parent
            worker = next((other for other in idle if before and before in other.trained), idle[0])
            worker.begin(self._queued.popleft())

    def close(self) -> None:
        """Stop the workers without waiting for their jobs."""
        while self._workers:
            self._workers.pop().kill()
        self._queued.clear()


class _Worker:
    """A worker process as its parent sees it."""

    def __init__(self, context: WorkerContext, device: str) -> None:
        import torch.multiprocessing

        spawning = torch.multiprocessing.get_context("spawn")
        self.connection, other = spawning.Pipe()
        self.process: Any = spawning.Process(
            target=_work, args=(other, context, device), daemon=True, name=WORKER
        )
        start_worker(self.process, context)
        other.close()
        self.device = device
        self.job: Job | None = None
        self.trained: frozenset[Node] = frozenset()  # nodes of its last job
        self.has_begun = False  # the job
        self.alive = True

    def begin(self, job: Job) -> None:
        """Give the worker a job."""
        self.job, self.trained = job, frozenset(job.nodes)
        self.outcomes = Outcomes(job)
        self.chain = 0  # number of the chain that it is at
        self.begun: float | None = None  # when it began its node
        self.has_begun = False
        with suppress(OSError):  # it has ended, as will show
            self.connection.send(job)

    def fail(self, message: str) -> None:
        """Let the node fail that the worker is at."""
        self.outcomes.end(self.chain, failure(message))

    def receive(self) -> bool:
        """Take the news from the worker; whether its job has ended, or the worker itself."""
        while True:
            alive = self.process.is_alive()  # asked first: it may send its outcome and end
            try:
                if not self.connection.poll():
                    if alive:
                        return False
                    break
                news = self.connection.recv()
            except (EOFError, OSError):
                break
            if isinstance(news, Exception):
                raise news
            if news is None:
                return True
            self.chain, outcome = news
            self.begun, self.has_begun = time.monotonic(), True
            if outcome is not None:
                self.outcomes.end(self.chain, outcome)
        self.alive = False
        self.process.join(5.0)
        code = self.process.exitcode
        if code is None or code >= 0:
            self.fail(f"The worker process ended with exit code {code}.")
            return True
        name = signal.Signals(-code).name
        memory = " (often: out of memory)" if name in ("SIGKILL", "SIGSEGV", "SIGABRT") else ""
        self.fail(f"The worker process was ended by {name}{memory}.")
        return True

    def kill(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.join(5.0)
        self.connection.close()


def _work(connection: Connection, context: WorkerContext, device: str) -> None:
    """The main function of a worker process, which ignores Ctrl-C and ends with its parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # where it is not blocked
    forget_safe_path()
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if device.startswith("cuda:"):
        import torch

        torch.cuda.set_device(device)  # `cuda` is this device from now on
    context.prepare()
    with suppress(EOFError):
        while True:
            job: Job = connection.recv()
            try:
                train_job(context, job, _OnDisk(), _Sender(connection))
                connection.send(None)
            except Exception as error:  # such as a full disk: it ends the run
                connection.send(error)


def _end_with_parent() -> None:
    """End this process when the process that started it has ended."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


class _Sender:
    """Reports to the process that started this one: a chain's number, and how its node ended."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def begin(self, chain: int) -> None:
        """Send that a chain has begun."""
        self._connection.send((chain, None))

    def end(self, chain: int, outcome: Outcome) -> None:
        """Send the outcome of the chain's next node."""
        self._connection.send((chain, outcome))


class _OnDisk:
    """States in the experiment directory."""

    def read(self, path: Path) -> bytes:
        """Return the content of a file."""
        return path.read_bytes()

    def write(self, path: Path, state: bytes) -> None:
        """Write a file that is complete and on disk on return."""
        save_state(path, state)
