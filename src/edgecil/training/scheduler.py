"""The scheduler: trains the tasks of a plan, stores every result, retries, and resumes."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from edgecil.errors import PrerequisiteError
from edgecil.experiments.experiment_files import remove_leftovers
from edgecil.experiments.plan import Node, Plan
from edgecil.experiments.results import Summary
from edgecil.experiments.store import Store
from edgecil.training.chains import Chain, Job, Step
from edgecil.training.executors import Executor, Finished
from edgecil.training.node_training import Outcome
from edgecil.training.result_buffer import ResultBuffer

_MOST_REPAIRS = 3  # of one state, which then is a failure: the disk is not usable
_MOST_CHAINS = 64  # of a job

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Observer:
    """Functions to call: when a job starts and ends, and with each node that is finished."""

    on_job: Callable[[Job], None] = lambda job: None
    on_job_end: Callable[[Job], None] = lambda job: None
    on_node: Callable[[Node, Outcome], None] = lambda node, outcome: None


def execute(
    plan: Plan,
    store: Store,
    executor: Executor,
    observer: Observer | None = None,
    *,
    keep_states: bool = False,
    retries: int = 0,
    worker: Mapping[str, str] | None = None,
) -> Summary:
    """Train every node of the plan that the store does not hold yet.

    Deep nodes go first, so that few states exist at a time. A damaged state is trained again.
    Results are on disk about a second after their training; after a long training, before the next
    one starts. `worker` is in what this process differs from the identity.
    """
    execution = _Execution(
        _Queue(plan, store, keep_states=keep_states),
        store,
        ResultBuffer(store),
        observer or Observer(),
        retries,
        dict(worker or {}),
    )
    try:
        execution.run(executor)
    finally:
        try:
            execution.write()
        finally:
            executor.close()
    remove_leftovers(store.directory)  # of workers that died while saving
    return Summary(execution.trained, execution.queue.reused, tuple(execution.failed))


@dataclass
class _Execution:
    """One call of :func:`execute`."""

    queue: _Queue
    store: Store
    results: ResultBuffer
    observer: Observer
    retries: int
    worker: dict[str, str]
    trained: int = 0
    failed: list[Node] = field(default_factory=list)
    attempts: dict[Node, int] = field(default_factory=dict)

    def run(self, executor: Executor) -> None:
        """Send jobs to the executor until nothing is left."""
        while self.queue.ready or self.queue.jobs:
            while self.queue.ready and self.queue.jobs < executor.capacity:
                job = self.queue.next_job(executor.capacity)
                executor.submit(job)
                self.observer.on_job(job)
            finished = executor.wait()
            if finished is not None:
                self._take(finished)
                self.observer.on_job_end(finished.job)
            if self.results.are_due:
                self.write()

    def write(self) -> None:
        """Write the results that wait; states that no unwritten result needs may go then."""
        self.results.write()
        self.queue.remove_unneeded_states()

    def _take(self, finished: Finished) -> None:
        """Take the outcomes of a job; nodes without one are ready again."""
        job, outcomes = finished.job, finished.outcomes
        if finished.crash is not None:
            outcomes = [[] for _ in job.chains]
            if len(list(job.nodes)) == 1:
                outcomes = [[finished.crash]]
            else:  # it is repeated node by node, so that the one that fails is found
                self.queue.separate(job)
        unfinished: list[tuple[Chain, int]] = []
        for chain, of_chain in zip(job.chains, outcomes, strict=True):
            ended = list(zip(chain.steps, of_chain, strict=False))
            for step, outcome in ended:
                self._take_outcome(step.node, outcome)
                if outcome.result is None:
                    break
            else:
                unfinished.append((chain, len(ended)))
        self.queue.end_job(job)
        for chain, trained in reversed(unfinished):
            self.queue.put_back(chain, trained)

    def _take_outcome(self, node: Node, outcome: Outcome) -> None:
        """Take the outcome of a node: store its result, train it again, or note its failure."""
        if outcome.result is not None:
            self.results.add(node, outcome.result, {**self.worker, **outcome.worker})
            self.queue.finish(node)
            self.trained += 1
            self.observer.on_node(node, outcome)
            return
        check_refused(outcome)
        if outcome.damaged and self.queue.repair(node):
            _log.warning("The state before %s was damaged; it is trained again.", node)
            return
        attempts = self.attempts.get(node, 0)
        if not outcome.permanent and attempts < self.retries and self.queue.retry(node):
            self.attempts[node] = attempts + 1
            _log.warning(
                "Attempt %d of %d at task %d of a sequence failed (%s); it is tried again.",
                attempts + 1,
                self.retries + 1,
                len(node.prefix),
                outcome.error,
            )
            return
        self.write()
        self.store.record_failure(node, outcome.error or "", outcome.trace or "")
        self.failed.append(node)
        self.observer.on_node(node, outcome)


def check_refused(outcome: Outcome) -> None:
    """Raise an error if a worker was refused."""
    if outcome.refused:
        raise PrerequisiteError(
            f"{outcome.error} Install the same versions and weights on every node, or use "
            "`allow_mismatch` to train there too, which is recorded with each result."
        )


class _Queue:
    """The nodes that can be trained, the last one first, and the states that are still needed."""

    def __init__(self, plan: Plan, store: Store, *, keep_states: bool) -> None:
        self._plan, self._store, self._keep_states = plan, store, keep_states
        self._remaining: set[Node] = set()  # without a result, or whose missing state is needed
        self._stored = store.states()  # files that may exist
        done = store.done()
        for node in sorted(plan, key=lambda node: len(node.prefix), reverse=True):
            if node not in done or (self._children(node) and not self._has_state(node)):
                self._remaining.add(node)
        self.reused = len(plan) - len(self._remaining)
        self.jobs = 0  # under way
        self._running: set[Node] = set()  # nodes of these
        self.ready = [
            node for node in plan if node in self._remaining and node.parent not in self._remaining
        ][::-1]
        self._repairs: dict[Node, int] = {}
        self._parents: set[Node] = set()  # of finished nodes, whose states may be unneeded
        self._separate: set[Node] = set()  # nodes that are jobs of their own
        self._chains = 1  # of the next job
        if self._stored:
            self._parents.update(node for node in plan if node not in self._remaining)
            self.remove_unneeded_states()

    def _children(self, node: Node) -> list[Node]:
        """Return the children of a node that must still be trained."""
        return [child for child in self._plan.children(node) if child in self._remaining]

    def _has_state(self, node: Node) -> bool:
        return bool(self._stored) and self._store.state_path(node) in self._stored

    def next_job(self, capacity: int) -> Job:
        """Return a job that starts with the deepest node that is ready.

        It has so many chains that there are as many for each worker, at most twice as many as the
        last job finished within its time.
        """
        count = max(1, min(self._chains, len(self.ready) // capacity, _MOST_CHAINS))
        self.jobs += 1
        return Job(tuple(self._next_chain() for _ in range(count)))

    def _next_chain(self) -> Chain:
        """Return a node that is ready, and below it the first child of each node."""
        node = self.ready.pop()
        before = None if node.parent is None else self._store.state_path(node.parent)
        steps: list[Step] = []
        next_node: Node | None = node
        while next_node is not None:
            node, children = next_node, self._children(next_node)
            self._running.add(node)
            next_node = None
            if children and node not in self._separate:
                next_node = children[0]
            elsewhere = len(children) - (next_node is not None)
            keep = elsewhere > 0 or (self._keep_states and bool(self._plan.children(node)))
            path = self._store.state_path(node)
            if keep:
                self._stored.add(path)
            steps.append(Step(node, path, keep))
        return Chain(tuple(steps), before)

    def end_job(self, job: Job) -> None:
        """Mark the nodes of a job as no longer under way."""
        self.jobs -= 1
        self._running.difference_update(job.nodes)
        self._chains = 0

    def put_back(self, chain: Chain, trained: int) -> None:
        """Take a chain that did not fail, whose first nodes are finished; the others are ready."""
        if trained == len(chain.steps):
            self._chains += 2
            return
        if trained:
            self._stored.add(chain.steps[trained - 1].state)
        node = chain.steps[trained].node
        if node.parent not in self._remaining:  # else it is ready when that is finished
            self.ready.append(node)

    def separate(self, job: Job) -> None:
        """From now on, let each node of a job be a job of its own."""
        self._separate.update(job.nodes)

    def finish(self, node: Node) -> None:
        """Mark a node as trained: its children become ready."""
        self._remaining.discard(node)
        self.ready += [
            child for child in reversed(self._children(node)) if child not in self._running
        ]
        if node.parent is not None:
            self._parents.add(node.parent)

    def retry(self, node: Node) -> bool:
        """Train a node again, after all others; whether that is possible."""
        if node.parent is not None and not self._store.state_path(node.parent).exists():
            return self.repair(node)
        self.ready.insert(0, node)
        return True

    def repair(self, node: Node) -> bool:
        """Train the parent of a node again, whose state is damaged; whether that may help."""
        lost = node.parent
        if lost is None or self._repairs.get(lost, 0) >= _MOST_REPAIRS:
            return False
        if lost in self._remaining:  # another child reported it before
            return True
        self._repairs[lost] = self._repairs.get(lost, 0) + 1
        self._store.state_path(lost).unlink(missing_ok=True)
        waiting = self._children(lost)
        self.ready = [other for other in self.ready if other not in waiting]
        self._remaining.add(lost)
        while lost.parent is not None and not self._store.state_path(lost.parent).exists():
            lost = lost.parent
            if lost in self._remaining:  # it is trained again already
                return True
            self._remaining.add(lost)
        self.ready.append(lost)
        return True

    def remove_unneeded_states(self) -> None:
        """Delete the states from which no node will continue."""
        for node in self._parents:
            self._remove_unneeded_state(node)
        self._parents.clear()

    def _remove_unneeded_state(self, node: Node) -> None:
        if self._stored and not (self._keep_states or self._children(node)):
            path = self._store.state_path(node)
            if path in self._stored:
                self._stored.discard(path)
                path.unlink(missing_ok=True)
