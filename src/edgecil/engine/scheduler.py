"""The scheduler: trains the tasks of a plan, stores every result, retries, and resumes."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping

from edgecil.engine.directory import remove_leftovers
from edgecil.engine.executors import Executor, Finished, Job
from edgecil.engine.plan import Node, Plan
from edgecil.engine.results import Summary
from edgecil.engine.store import Store
from edgecil.errors import PrerequisiteError

_MOST_REPAIRS = 3  # of one state, which then is a failure: the disk is not usable

_log = logging.getLogger(__name__)


def execute(
    plan: Plan,
    store: Store,
    executor: Executor,
    on_finished: Callable[[Finished], None] = lambda finished: None,
    on_started: Callable[[Job], None] = lambda job: None,
    *,
    keep_states: bool = False,
    retries: int = 0,
    worker: Mapping[str, str] | None = None,
) -> Summary:
    """Train every node of the plan that the store does not hold yet.

    A node's result is on disk before any node that depends on it starts. Deep nodes go first, so
    that few states exist at a time. A damaged state is trained again.
    """
    queue = _Queue(plan, store, keep_states=keep_states)
    trained, failed = 0, []
    attempts: dict[Node, int] = {}
    try:
        while queue.ready or queue.running:
            while queue.ready and len(queue.running) < executor.capacity:
                job = queue.next_job()
                executor.submit(job)
                on_started(job)
            finished = executor.wait()
            if finished is None:
                continue
            node, outcome = finished.job.node, finished.outcome
            queue.running.discard(node)
            if outcome.result is not None:
                store.record(node, outcome.result, worker={**(worker or {}), **outcome.worker})
                queue.finish(node)
                trained += 1
            elif outcome.refused:
                raise PrerequisiteError(
                    f"{outcome.error} Install the same versions and weights on every node, or "
                    "use `allow_mismatch` to train there too, which is recorded with each result."
                )
            elif outcome.damaged and queue.repair(node):
                _log.warning("The state before %s was damaged; it is trained again.", node)
                continue
            elif not outcome.permanent and attempts.get(node, 0) < retries:
                attempts[node] = attempts.get(node, 0) + 1
                queue.ready.insert(0, node)  # after all others
                _log.warning(
                    "Attempt %d of %d at task %d of a sequence failed (%s); it is tried again.",
                    attempts[node],
                    retries + 1,
                    len(node.prefix),
                    outcome.error,
                )
                continue
            else:
                store.record_failure(node, outcome.error or "", outcome.trace or "")
                failed.append(node)
            on_finished(finished)
    finally:
        executor.close()
    remove_leftovers(store.directory)  # of workers that died while saving
    return Summary(trained, queue.reused, tuple(failed))


class _Queue:
    """The nodes that can be trained, the last one first, and the states that are still needed."""

    def __init__(self, plan: Plan, store: Store, *, keep_states: bool) -> None:
        self._plan, self._store, self._keep_states = plan, store, keep_states
        self._remaining: set[Node] = set()  # without a result, or whose missing state is needed
        done = store.done()
        for node in sorted(plan, key=lambda node: len(node.prefix), reverse=True):
            needed = self._children(node)
            if node not in done or (needed and not self._store.state_path(node).exists()):
                self._remaining.add(node)
        self.reused = len(plan) - len(self._remaining)
        self.running: set[Node] = set()
        self.ready = [
            node for node in plan if node in self._remaining and node.parent not in self._remaining
        ][::-1]
        self._repairs: dict[Node, int] = {}
        for node in plan:
            if node not in self._remaining:
                self._remove_unneeded_state(node)

    def _children(self, node: Node) -> list[Node]:
        """Return the children of a node that must still be trained."""
        return [child for child in self._plan.children(node) if child in self._remaining]

    def next_job(self) -> Job:
        """Return the deepest node that is ready."""
        node = self.ready.pop()
        self.running.add(node)
        parent = None if node.parent is None else self._store.state_path(node.parent)
        needed = self._plan.children(node) if self._keep_states else self._children(node)
        keep = self._store.state_path(node) if needed else None
        return Job(node, parent, keep, only_child=len(self._children(node)) == 1)

    def finish(self, node: Node) -> None:
        """Mark a node as trained: its children become ready, its parent's state may go."""
        self._remaining.discard(node)
        self.ready += [it for it in reversed(self._children(node)) if it not in self.running]
        if node.parent is not None:
            self._remove_unneeded_state(node.parent)

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

    def _remove_unneeded_state(self, node: Node) -> None:
        if not (self._keep_states or self._children(node)):
            self._store.state_path(node).unlink(missing_ok=True)
