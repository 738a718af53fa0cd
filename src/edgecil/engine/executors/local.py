"""Training on this machine: in this process, or in worker processes."""

from __future__ import annotations

import logging
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

from edgecil.engine.executors.executor import Finished, Job
from edgecil.engine.executors.placement import Placement
from edgecil.engine.handshake import expected_identity, gpu_identity
from edgecil.engine.main_guard import WORKER, check_exit, start_error, start_worker
from edgecil.engine.node_training import Outcome, WorkerContext, train_node
from edgecil.engine.plan import Node
from edgecil.engine.store import save_state
from edgecil.io.interpreter import forget_safe_path

HEARTBEAT = 2.0  # seconds between two messages of a worker
WARNED_AFTER = 15.0  # seconds without a message after which a warning is logged
LOST_AFTER = 60.0  # and after which a worker that uses no processor time is replaced
_STARTUP = 600.0  # seconds until the first message: a worker imports torch first
_STARTS = 2  # further workers for a job whose worker ended before it began
_FAILED_STARTS = 3  # workers that end in a row before they are ready, which ends the run
_TICK = 1.0

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

    def wait(self, seconds: float | None = None) -> Finished | None:
        """Train the next job, which cannot be interrupted."""
        job = self._jobs.popleft()
        return Finished(job, run_job(self._context, job))

    def close(self) -> None:
        """Drop queued jobs."""
        self._jobs.clear()


class WorkerPool:
    """Several worker processes, which share the memory of the images.

    Each worker has a connection of its own, so it is certain which job a worker died with, and
    nothing (such as a named semaphore) remains in the system after a hard kill. A worker says when
    it begins a job; if it ends before, the job goes to another one. If no worker becomes ready, the
    run ends.

    Attributes:
        identity: the type of GPU.
    """

    def __init__(
        self, context: WorkerContext, workers: int | Placement, *, timeout: float | None = None
    ) -> None:
        if isinstance(workers, int):
            workers = Placement(("cpu",), most=workers, per_device=workers)
        self._placement = workers
        self.identity = gpu_identity(context.environment.device)
        expected = {**expected_identity(context.networks), **self.identity}
        context = self._context = replace(context, expected=expected)
        self._timeout = timeout
        self._queued: deque[Job] = deque()
        self._workers: list[_Worker] = []
        self._lost: Counter[Node] = Counter()  # how often a worker ended before it began the job
        self._failed_starts = 0  # workers in a row that ended before they were ready
        for split in (context.scenario.train, context.scenario.test):
            split.inputs.share_memory_()
            split.labels.share_memory_()

    @property
    def capacity(self) -> int:
        """The number of jobs at the same time, which may change after the first one."""
        return self._placement.capacity

    def submit(self, job: Job) -> None:
        """Queue a job for the next free worker."""
        self._queued.append(job)
        self._start_jobs()

    def wait(self, seconds: float | None = None) -> Finished | None:
        """Return the next job to end; None if none ends within some seconds."""
        deadline = None if seconds is None else time.monotonic() + seconds
        while True:
            self._start_jobs()
            finished = self._next(_TICK if deadline is None else min(_TICK, seconds or 0.0))
            if finished is not None:
                return finished
            if deadline is not None and time.monotonic() >= deadline:
                return None

    def _next(self, seconds: float) -> Finished | None:
        busy = {worker.connection: worker for worker in self._workers if worker.job is not None}
        start = time.monotonic()
        ready = wait([*busy, *(worker.process.sentinel for worker in busy.values())], seconds)
        waited = min(time.monotonic() - start, seconds)
        for connection, worker in busy.items():
            if connection in ready or worker.process.sentinel in ready:
                outcome = worker.receive()
            else:
                outcome = worker.check_silence(waited)
            if worker.was_ready:
                self._failed_starts = 0
            if outcome is None and worker.overdue(self._timeout):
                outcome = _failure(f"The training was stopped after {self._timeout:g} s.")
                worker.alive = False
            if outcome is None:
                continue
            job = worker.job
            assert job is not None
            running = sum(it.job is not None and it.device == worker.device for it in self._workers)
            worker.job = None
            if outcome.out_of_memory:
                worker.alive = False  # a new process has none of its memory
            if not worker.alive:
                worker.kill()
                self._workers.remove(worker)
                self._count_failed_start(worker, outcome.error or "")
                if not worker.has_begun and self._lost[job.node] < _STARTS:
                    self._lost[job.node] += 1  # it is not the job that ended the worker
                    self._queued.appendleft(job)
                    continue
            if outcome.out_of_memory and self._placement.lower(worker.device, running):
                _log.warning(
                    "%s has too little memory for %d jobs; %d run there from now on, and the task "
                    "is repeated.",
                    worker.device,
                    running,
                    running - 1,
                )
                self._queued.appendleft(job)
                continue
            self._placement.learn(worker.device, outcome.memory, rest=outcome.rest, running=running)
            return Finished(job, outcome)
        return None

    def _start_jobs(self) -> None:
        while self._queued:
            running = Counter(worker.device for worker in self._workers if worker.job is not None)
            device = self._placement.choose(running)
            if device is None:
                return
            idle = [it for it in self._workers if it.job is None and it.device == device]
            parent = self._queued[0].node.parent  # its state may be in a worker's memory
            worker = next((it for it in idle if it.last == parent), idle[0] if idle else None)
            if worker is None:
                worker = _Worker(self._context, device)
                self._workers.append(worker)
            if worker.begin(self._queued[0]):
                self._queued.popleft()
            else:  # it died while it had nothing to do
                cause = worker.describe_end()
                worker.kill()
                self._workers.remove(worker)
                self._count_failed_start(worker, cause)

    def _count_failed_start(self, worker: _Worker, cause: str) -> None:
        """Raise an error if no worker can become ready."""
        check_exit(worker.process.exitcode)
        if worker.was_ready:
            return
        self._failed_starts += 1
        if self._failed_starts >= max(_FAILED_STARTS, self.capacity):
            raise start_error(self._failed_starts, cause)

    def close(self) -> None:
        """Stop the workers without waiting for their jobs."""
        while self._workers:
            self._workers.pop().kill()
        self._queued.clear()


class _Worker:
    """A worker process as its parent sees it.

    Attributes:
        process: the process.
        connection: the parent's end of the connection.
        device: the device that it computes on.
        job: the job that it works on.
        last: the node of its last job.
        alive: whether it can take another job.
        was_ready: whether it has begun a job since its start.
    """

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
        self.last: Node | None = None
        self.alive = True
        self.was_ready = False
        self._begun: float | None = None
        self._heard = False
        self._silent = 0.0
        self._processor_time = 0

    @property
    def has_begun(self) -> bool:
        """Whether the worker has said that it began its last job."""
        return self._begun is not None

    def begin(self, job: Job) -> bool:
        """Give the worker a job; whether it could be sent."""
        try:
            self.connection.send(job)
        except OSError:
            return False
        self.job, self.last, self._begun, self._silent = job, job.node, None, 0.0
        return True

    def receive(self) -> Outcome | None:
        """Read what the worker sent: the outcome of its job, or a sign of life."""
        while True:
            alive = self.process.is_alive()  # asked first: it may send its outcome and end
            try:
                if not self.connection.poll():
                    if alive:
                        return None
                    break
                message = self.connection.recv()
            except (EOFError, OSError):
                break
            self._heard, self._silent = True, 0.0
            if message == "begun":
                self._begun = time.monotonic()
                self.was_ready = True
            elif isinstance(message, Exception):
                raise message
            elif isinstance(message, Outcome):
                return message
        self.alive = False
        return _failure(self.describe_end())

    def describe_end(self) -> str:
        """Return how the process ended, as a sentence."""
        self.process.join(5.0)
        return f"The worker process {_how_it_ended(self.process.exitcode)}."

    def check_silence(self, seconds: float) -> Outcome | None:
        """Count the seconds without a message; a failure if the process is stopped or stuck.

        Only time during which this process ran counts, so suspending everything does no harm.
        """
        self._silent += seconds
        patience = LOST_AFTER if self._heard else _STARTUP
        if self._silent - seconds < WARNED_AFTER <= self._silent and self._heard:
            self._processor_time = _processor_time(self.process.pid)
            _log.warning(
                "Worker process %d has not responded for %g s; if it uses no processor time, it "
                "is replaced after %g s.",
                self.process.pid,
                WARNED_AFTER,
                LOST_AFTER,
            )
        if self._silent < patience:
            return None
        if self._heard and _processor_time(self.process.pid) > self._processor_time:
            self._silent = 0.0  # busy in code that keeps other threads waiting
            return None
        self.alive = False
        return _failure(f"The worker process did not respond for {patience:g} s.")

    def overdue(self, timeout: float | None) -> bool:
        """Return whether the job has taken longer than it may."""
        if timeout is None or self._begun is None:
            return False
        return time.monotonic() - self._begun > timeout

    def kill(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.join(5.0)
        self.connection.close()


def _failure(message: str) -> Outcome:
    return Outcome(error=message, trace=message)


def _how_it_ended(code: int | None) -> str:
    """Return the exit code of a process in words.

    >>> _how_it_ended(-9), _how_it_ended(3)
    ('was ended by SIGKILL (often: out of memory)', 'ended with exit code 3')
    """
    if code is None or code >= 0:
        return f"ended with exit code {code}"
    name = signal.Signals(-code).name
    memory = " (often: out of memory)" if name in ("SIGKILL", "SIGSEGV", "SIGABRT") else ""
    return f"was ended by {name}{memory}"


def _processor_time(pid: int) -> int:
    """Processor time that a process has used, in clock ticks; 0 where it is unknown."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        return int(fields[11]) + int(fields[12])
    except (OSError, ValueError, IndexError):
        return 0


def _work(connection: Connection, context: WorkerContext, device: str) -> None:
    """The main function of a worker process, which ignores Ctrl-C and ends with its parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # where it is not blocked
    forget_safe_path()
    sending = threading.Lock()

    def send(message: object) -> None:
        with sending:
            connection.send(message)

    def beat() -> None:
        with suppress(OSError):
            while True:
                send("alive")
                time.sleep(HEARTBEAT)

    threading.Thread(target=_end_with_parent, daemon=True).start()
    threading.Thread(target=beat, daemon=True).start()
    if device.startswith("cuda:"):
        import torch

        torch.cuda.set_device(device)  # `cuda` is this device from now on
    context.prepare()
    with suppress(EOFError):
        while True:
            job: Job = connection.recv()
            send("begun")
            try:
                outcome = run_job(context, job)
            except Exception as error:  # such as a full disk: it ends the run
                send(error)
            else:
                send(outcome)


def _end_with_parent() -> None:
    """End this process when the process that started it has ended."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def run_job(context: WorkerContext, job: Job) -> Outcome:
    """Train a job: read the parent's state unless it is in memory, write the new one."""
    try:
        parent = context.take_handed(job.node) or (
            None if job.parent is None else job.parent.read_bytes()
        )
    except FileNotFoundError as error:
        message = f"The state after the previous task is missing: {error.filename}."
        return Outcome(error=message, trace=message, damaged=True)
    outcome, state = train_node(
        context,
        job.node,
        parent,
        keep=job.keep is not None,
        final=job.final,
        hand_on=job.only_child,
    )
    if job.keep is not None and state is not None:
        save_state(job.keep, state)
    return outcome
