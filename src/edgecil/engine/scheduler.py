"""The scheduler: trains the tasks of a plan, stores every result, and resumes."""

from __future__ import annotations

from collections.abc import Callable

from edgecil.engine.executors import Executor, Finished, Job
from edgecil.engine.plan import Node, Plan
from edgecil.engine.results import Summary
from edgecil.engine.store import Store


def execute(
    plan: Plan,
    store: Store,
    executor: Executor,
    on_finished: Callable[[Finished], None] | None = None,
    on_started: Callable[[Job], None] | None = None,
    *,
    keep_states: bool = False,
    keep_models: bool = False,
) -> Summary:
    """Train every node of the plan that the store does not hold yet.

    A node's result is on disk before any node that depends on it starts. Deep nodes go first, so
    that few states exist at a time. With `keep_models` the states after last tasks are kept, and
    finished nodes are trained again where they are missing.
    """
    queue = _Queue(plan, store, keep_states=keep_states, keep_models=keep_models)
    trained, running, failed = 0, 0, []
    try:
        while queue.ready or running:
            while queue.ready and running < executor.capacity:
                job = queue.next_job()
                executor.submit(job)
                running += 1
                if on_started is not None:
                    on_started(job)
            finished = executor.wait()
            running -= 1
            node, outcome = finished.job.node, finished.outcome
            if outcome.result is not None:
                store.record(node, outcome.result)
                queue.finish(node)
                trained += 1
            else:
                store.record_failure(node, outcome.error or "", outcome.trace or "")
                failed.append(node)
                if outcome.damaged and node.parent is not None:
                    store.state_path(node.parent).unlink(missing_ok=True)
            if on_finished is not None:
                on_finished(finished)
    finally:
        executor.close()
    store.remove_leftovers()  # of workers that died while saving
    return Summary(trained, queue.reused, tuple(failed))


class _Queue:
    """The nodes that can be trained now, and the states that are still needed."""

    def __init__(
        self, plan: Plan, store: Store, *, keep_states: bool = False, keep_models: bool = False
    ) -> None:
        self._plan, self._store = plan, store
        self._keep_states, self._keep_models = keep_states, keep_models
        store.remove_leftovers()
        self._remaining = self._find_remaining()
        self.reused = len(plan) - len(self._remaining)
        self.ready = [
            node for node in plan if node in self._remaining and node.parent not in self._remaining
        ][::-1]
        for node in plan:
            if node not in self._remaining:
                self._remove_unneeded_state(node)

    def _find_remaining(self) -> set[Node]:
        """Nodes without a result, and finished nodes whose missing state is needed again."""
        done = self._store.done()
        remaining: set[Node] = set()
        for node in sorted(self._plan, key=lambda node: len(node.prefix), reverse=True):
            lost = self._needed(node, remaining) and not self._store.state_path(node).exists()
            if node not in done or lost or self._lacks_model(node):
                remaining.add(node)
        return remaining

    def _needed(self, node: Node, remaining: set[Node]) -> bool:
        """Whether a child of the node must still be trained."""
        return any(child in remaining for child in self._plan.children(node))

    def _lacks_model(self, node: Node) -> bool:
        return self._keeps_model(node) and not self._store.model_path(node).exists()

    def _keeps_model(self, node: Node) -> bool:
        return self._keep_models and not self._plan.children(node)

    def next_job(self) -> Job:
        """The deepest node that is ready."""
        node = self.ready.pop()
        parent = None if node.parent is None else self._store.state_path(node.parent)
        kept = self._needed(node, self._remaining) or (
            self._keep_states and bool(self._plan.children(node))
        )
        if self._keeps_model(node):
            return Job(node, parent, self._store.model_path(node))
        return Job(node, parent, self._store.state_path(node) if kept else None)

    def finish(self, node: Node) -> None:
        """Mark a node as trained: its children become ready, its parent's state may go."""
        self._remaining.remove(node)
        self.ready.extend(
            child for child in reversed(self._plan.children(node)) if child in self._remaining
        )
        if node.parent is not None:
            self._remove_unneeded_state(node.parent)

    def _remove_unneeded_state(self, node: Node) -> None:
        if not (self._keep_states or self._needed(node, self._remaining)):
            self._store.state_path(node).unlink(missing_ok=True)
