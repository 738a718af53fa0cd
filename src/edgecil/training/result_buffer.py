"""Results on their way to the store, which writes them together, about once a second."""

from __future__ import annotations

import time
from collections.abc import Mapping

from edgecil.experiments.plan import Node
from edgecil.experiments.results import NodeResult, WholeRun
from edgecil.experiments.store import Store
from edgecil.training.chains import PERIOD

_MOST = 5_000  # results that wait


class ResultBuffer:
    """Results that are not on disk yet. A training of a second or more makes writing due at once.

    So a kill loses the work of at most a second here, beside the jobs under way.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._results: dict[Node, NodeResult | WholeRun] = {}
        self._workers: dict[Node, Mapping[str, str]] = {}
        self._due = 0.0  # time

    def add(
        self, node: Node, result: NodeResult | WholeRun, worker: Mapping[str, str] | None = None
    ) -> None:
        """Add a result; `worker` is in what the worker's identity differed, if that is allowed."""
        if not self._results:
            self._due = time.monotonic() + PERIOD
        self._results[node] = result
        if worker:
            self._workers[node] = worker
        is_long = isinstance(result, NodeResult) and result.seconds >= PERIOD
        if is_long or len(self._results) >= _MOST:
            self._due = 0.0

    @property
    def are_due(self) -> bool:
        """Whether the first result has waited for a second."""
        return bool(self._results) and time.monotonic() >= self._due

    def write(self) -> None:
        """Write all results in one transaction."""
        if self._results:
            self._store.record_all(self._results.items(), workers=self._workers)
            self._results, self._workers = {}, {}
