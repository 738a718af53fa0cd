"""Training on this machine: in this process, or in worker processes."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool

from edgecil.engine.executors.executor import Finished, Job
from edgecil.engine.node_training import Outcome, WorkerContext, train_node
from edgecil.engine.store import save_state


class InProcess:
    """One job at a time in this process."""

    capacity = 1

    def __init__(self, context: WorkerContext) -> None:
        self._context = context
        self._jobs: deque[Job] = deque()
        context.prepare()

    def submit(self, job: Job) -> None:
        """Queue a job."""
        self._jobs.append(job)

    def wait(self) -> Finished:
        """Train the next job."""
        job = self._jobs.popleft()
        return Finished(job, run_job(self._context, job))

    def close(self) -> None:
        """Drop queued jobs."""
        self._jobs.clear()


class WorkerPool:
    """Several worker processes, which share the memory of the images."""

    def __init__(self, context: WorkerContext, workers: int) -> None:
        self.capacity = workers
        self._context = context
        self._queued: deque[Job] = deque()
        self._suspects: deque[Job] = deque()
        self._on_trial: Job | None = None
        self._running: dict[Future[Outcome], Job] = {}
        self._pool = self._start()

    def _start(self) -> ProcessPoolExecutor:
        import torch.multiprocessing

        for split in (self._context.scenario.train, self._context.scenario.test):
            split.pixels.share_memory_()
            split.labels.share_memory_()
        return ProcessPoolExecutor(
            self.capacity,
            mp_context=torch.multiprocessing.get_context("spawn"),
            initializer=_initialise,
            initargs=(self._context,),
        )

    def submit(self, job: Job) -> None:
        """Queue a job for the next free worker."""
        self._queued.append(job)
        self._start_jobs()

    def wait(self) -> Finished:
        """The next job to end.

        When a worker dies, it is unknown which job killed it: all running jobs are tried once
        more, each alone, and a job whose worker dies again has failed.
        """
        while True:
            self._start_jobs()
            done = next(iter(wait(self._running, return_when=FIRST_COMPLETED).done))
            job = self._running.pop(done)
            tried, self._on_trial = self._on_trial, None
            try:
                return Finished(job, done.result())
            except BrokenProcessPool:
                crashed = [job, *self._running.values()]
                self._restart()
            if job == tried:
                message = "The worker process died twice (out of memory, or killed)."
                return Finished(job, Outcome(error=message, trace=message))
            self._suspects.extend(crashed)

    def _start_jobs(self) -> None:
        """Start the jobs that may run now: one suspect alone, or all queued jobs."""
        if self._suspects:
            if not self._running:
                self._on_trial = self._suspects.popleft()
                self._begin(self._on_trial)
        elif self._on_trial is None:
            while self._queued:
                self._begin(self._queued.popleft())

    def _begin(self, job: Job) -> None:
        try:
            future = self._pool.submit(_run, job)
        except BrokenProcessPool:  # a worker died before this job was submitted
            future = Future()
            future.set_exception(BrokenProcessPool())
        self._running[future] = job

    def _restart(self) -> None:
        self._running = {}
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._pool = self._start()

    def close(self) -> None:
        """Stop the workers without waiting for their jobs."""
        processes = list((self._pool._processes or {}).values())
        self._pool.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.terminate()


_context: WorkerContext | None = None


def _initialise(context: WorkerContext) -> None:
    """Initialise a worker process, which ignores Ctrl-C and ends with its parent process."""
    global _context
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _context = context
    context.prepare()


def _end_with_parent() -> None:
    """End this process when the process that started it has ended."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _run(job: Job) -> Outcome:
    assert _context is not None
    return run_job(_context, job)


def run_job(context: WorkerContext, job: Job) -> Outcome:
    """Train a job: read the parent's state, write the new one."""
    parent = None if job.parent is None else job.parent.read_bytes()
    outcome, state = train_node(context, job.node, parent, keep=job.keep is not None)
    if job.keep is not None and state is not None:
        save_state(job.keep, state)
    return outcome
