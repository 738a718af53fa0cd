"""Training on this machine: in this process, or in workers of their own."""

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
    """One job at a time, right here."""

    capacity = 1

    def __init__(self, workplace: WorkerContext) -> None:
        self._workplace = workplace
        self._jobs: deque[Job] = deque()
        workplace.prepare()

    def submit(self, job: Job) -> None:
        """Queue a job."""
        self._jobs.append(job)

    def wait(self) -> Finished:
        """Train the next job."""
        job = self._jobs.popleft()
        return Finished(job, run_job(self._workplace, job))

    def close(self) -> None:
        """Forget what was queued."""
        self._jobs.clear()


class WorkerPool:
    """Several processes, each with its own threads; the images are shared, not copied."""

    def __init__(self, workplace: WorkerContext, workers: int) -> None:
        self.capacity = workers
        self._workplace = workplace
        self._queued: deque[Job] = deque()
        self._suspects: deque[Job] = deque()
        self._on_trial: Job | None = None
        self._running: dict[Future[Outcome], Job] = {}
        self._pool = self._start()

    def _start(self) -> ProcessPoolExecutor:
        import torch.multiprocessing

        for split in (self._workplace.scenario.train, self._workplace.scenario.test):
            split.pixels.share_memory_()
            split.labels.share_memory_()
        return ProcessPoolExecutor(
            self.capacity,
            mp_context=torch.multiprocessing.get_context("spawn"),
            initializer=_enter,
            initargs=(self._workplace,),
        )

    def submit(self, job: Job) -> None:
        """Hand a job to the next free worker."""
        self._queued.append(job)
        self._hand_out()

    def wait(self) -> Finished:
        """The next job to end.

        When a worker dies, nobody knows which job killed it: all that were under way are tried
        once more, each alone, and one that loses its worker again counts as failed.
        """
        while True:
            self._hand_out()
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

    def _hand_out(self) -> None:
        """Pass on what may run now: a suspect alone, or all that is queued."""
        if self._suspects:
            if not self._running:
                self._on_trial = self._suspects.popleft()
                self._begin(self._on_trial)
        elif self._on_trial is None:
            while self._queued:
                self._begin(self._queued.popleft())

    def _begin(self, job: Job) -> None:
        try:
            future = self._pool.submit(_work, job)
        except BrokenProcessPool:  # a worker died while none of its jobs was being waited for
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


_workplace: WorkerContext | None = None


def _enter(workplace: WorkerContext) -> None:
    """Begin life as a worker. Ctrl-C is the driver's business; without a driver there is none."""
    global _workplace
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_die_with_driver, daemon=True).start()
    _workplace = workplace
    workplace.prepare()


def _die_with_driver() -> None:
    """End this process when the one that started it is gone, however it went."""
    driver = multiprocessing.parent_process()
    if driver is not None:
        driver.join()
        os._exit(1)


def _work(job: Job) -> Outcome:
    assert _workplace is not None
    return run_job(_workplace, job)


def run_job(workplace: WorkerContext, job: Job) -> Outcome:
    """Train a job from file to file."""
    parent = None if job.parent is None else job.parent.read_bytes()
    outcome, state = train_node(workplace, job.node, parent, keep=job.keep is not None)
    if job.keep is not None and state is not None:
        save_state(job.keep, state)
    return outcome
