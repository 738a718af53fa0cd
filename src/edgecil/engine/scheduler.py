"""The driver: works through a plan, keeps what is finished, goes on where it stopped."""

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
    on_finished: Callable[[Finished], None] = lambda finished: None,
) -> Summary:
    """Train every node of the plan that the store does not have yet.

    A node's result is on disk before anything that depends on it begins. Deep nodes go first, so
    that few states are alive at a time.
    """
    queue = _Queue(plan, store)
    trained, running, failed = 0, 0, []
    try:
        while queue.ready or running:
            while queue.ready and running < executor.capacity:
                executor.submit(queue.next_job())
                running += 1
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
            on_finished(finished)
    finally:
        executor.close()
    store.remove_leftovers()  # of workers that died while saving
    return Summary(trained, queue.reused, tuple(failed))


class _Queue:
    """Which nodes can be trained now, and which states are still needed."""

    def __init__(self, plan: Plan, store: Store) -> None:
        self._plan, self._store = plan, store
        store.remove_leftovers()
        self._todo = self._find_todo()
        self.reused = len(plan) - len(self._todo)
        self.ready = [
            node for node in plan if node in self._todo and node.parent not in self._todo
        ][::-1]
        for node in plan:
            if node not in self._todo:
                self._forget_if_unneeded(node)

    def _find_todo(self) -> set[Node]:
        """Nodes without a result, and finished ones whose state is gone but needed again."""
        done = self._store.done()
        todo: set[Node] = set()
        for node in sorted(self._plan, key=lambda node: len(node.prefix), reverse=True):
            lost = self._needed(node, todo) and not self._store.state_path(node).exists()
            if node not in done or lost:
                todo.add(node)
        return todo

    def _needed(self, node: Node, todo: set[Node]) -> bool:
        """Whether something below the node must still be trained."""
        return any(child in todo for child in self._plan.children(node))

    def next_job(self) -> Job:
        """The deepest node that is ready."""
        node = self.ready.pop()
        parent = None if node.parent is None else self._store.state_path(node.parent)
        keep = self._store.state_path(node) if self._needed(node, self._todo) else None
        return Job(node, parent, keep)

    def finish(self, node: Node) -> None:
        """A node is done: its children are ready, its parent may be forgotten."""
        self._todo.remove(node)
        self.ready.extend(
            child for child in reversed(self._plan.children(node)) if child in self._todo
        )
        if node.parent is not None:
            self._forget_if_unneeded(node.parent)

    def _forget_if_unneeded(self, node: Node) -> None:
        if not self._needed(node, self._todo):
            self._store.state_path(node).unlink(missing_ok=True)
