"""Training on a Ray cluster: states are passed as object references, this process writes."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import Any

from edgecil.engine.executors.executor import Finished, Job
from edgecil.engine.node_training import Outcome, WorkerContext, train_node
from edgecil.engine.plan import Node
from edgecil.engine.store import save_state
from edgecil.errors import PrerequisiteError


class RayExecutor:
    """Each job is a Ray task that uses as many processors as a worker has threads."""

    def __init__(self, context: WorkerContext, workers: int, address: str | None) -> None:
        try:
            import ray
        except ModuleNotFoundError as error:
            raise PrerequisiteError(
                "The executor 'ray' requires Ray: run pip install 'edgecil[ray]', or use the "
                "executor 'local'."
            ) from error
        self._ray = ray
        self.capacity = workers
        self._owner = not ray.is_initialized()
        if self._owner:
            os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
            processors = None if address else workers * context.threads
            try:
                ray.init(
                    address=address,
                    num_cpus=processors,
                    include_dashboard=None if address else False,
                    log_to_driver=False,
                    logging_level=logging.ERROR,
                )
            except (ConnectionError, RuntimeError, ValueError) as error:
                raise PrerequisiteError(
                    f"Cannot reach a Ray cluster at {address or 'this machine'}: "
                    f"{str(error).splitlines()[0]}"
                ) from error
        self._context = ray.put(context)
        self._train: Any = ray.remote(
            num_cpus=context.threads,
            num_gpus=int(context.environment.device.startswith("cuda")),
            num_returns=2,
            max_retries=1,
        )(_train)
        self._running: dict[Any, tuple[Job, Any]] = {}
        self._states: dict[Path, Any] = {}

    def submit(self, job: Job) -> None:
        """Send a job to the cluster."""
        outcome, state = self._train.remote(
            [self._context], job.node, self._parent_state(job), job.keep is not None
        )
        self._running[outcome] = (job, state)

    def wait(self) -> Finished:
        """The next job to end; a state to keep is fetched and written to disk."""
        done = self._ray.wait(list(self._running), num_returns=1)[0][0]
        job, state = self._running.pop(done)
        try:
            outcome: Outcome = self._ray.get(done)
            if job.keep is not None and outcome.result is not None:
                save_state(job.keep, self._ray.get(state))
                self._states[job.keep] = state
        except self._ray.exceptions.RayError as error:
            line = str(error).splitlines()[0]
            outcome = Outcome(error=f"{type(error).__name__}: {line}", trace=str(error))
        return Finished(job, outcome)

    def close(self) -> None:
        """Cancel running jobs; a cluster that existed before keeps running."""
        while self._running:
            self._ray.cancel(self._running.popitem()[0], force=True)
        if self._owner:
            self._ray.shutdown()
            self._owner = False

    def _parent_state(self, job: Job) -> Any:
        """A reference to the parent's state, from the cluster's memory or from its file.

        References to states whose file has been deleted are released.
        """
        self._states = {path: state for path, state in self._states.items() if path.exists()}
        if job.parent is None:
            return None
        if job.parent not in self._states:
            self._states[job.parent] = self._ray.put(job.parent.read_bytes())
        return self._states[job.parent]


_contexts: dict[Any, WorkerContext] = {}


def _train(
    references: list[Any], node: Node, parent: bytes | None, keep: bool
) -> tuple[Outcome, bytes | None]:
    """Train a node in a Ray worker, which fetches the images once and keeps them."""
    import ray

    reference = references[0]
    if reference not in _contexts:
        _contexts.clear()
        _contexts[reference] = ray.get(reference)
    context = _contexts[reference]
    context.prepare()
    return train_node(context, node, parent, keep=keep)
