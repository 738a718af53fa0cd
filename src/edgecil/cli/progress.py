"""Progress of a run on a terminal: how much is done, how fast, and the range so far."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from edgecil.engine.executors import Finished
    from edgecil.engine.plan import Node
    from edgecil.engine.results import NodeResult
    from edgecil.engine.run import Prepared
    from edgecil.engine.store import Store


class Progress:
    """A bar on stderr when that is a terminal; silent otherwise."""

    def __init__(self) -> None:
        self._bar: Any = None
        self._task: Any = None
        self._leaves: set[Any] = set()
        self._sequences = 0
        self._found: dict[str, list[float]] = {}
        self._begun = time.monotonic()
        self._ended = 0

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def start(self, prepared: Prepared, store: Store) -> None:
        """Begin to count."""
        if not sys.stderr.isatty():
            return
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        plan = prepared.plan
        wanted = set(plan)
        done = {node: result for node, result in store.done().items() if node in wanted}
        self._leaves = {node for node in plan if not plan.children(node)}
        for node, result in done.items():
            self._note(node, result)
        self._bar = Bar(
            TextColumn("tasks"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[note]}"),
            console=Console(stderr=True),
        )
        self._task = self._bar.add_task("", total=len(plan), completed=len(done), note="")
        self._begun = time.monotonic()
        self._bar.start()

    def advance(self, finished: Finished) -> None:
        """Count a node that has ended."""
        if self._bar is None:
            return
        node = finished.job.node
        if finished.outcome.result is not None:
            self._note(node, finished.outcome.result)
        self._ended += 1
        rate = 60.0 * self._ended / max(time.monotonic() - self._begun, 1e-9)
        told = f"{rate:.0f} per minute, {self._sequences}/{len(self._leaves)} sequences"
        found = self._found.get(node.method)
        if found:
            told += f", {node.method} A(O) {min(found):.1f} to {max(found):.1f}"
        self._bar.update(self._task, advance=1, note=told)

    def _note(self, node: Node, result: NodeResult) -> None:
        """Remember the A(O) of a whole sequence."""
        if node in self._leaves:
            self._sequences += 1
            correct = next(iter(result.correct.values()))
            shares = [right / total for right, total in zip(correct, result.totals, strict=True)]
            self._found.setdefault(node.method, []).append(100.0 * sum(shares) / len(shares))
