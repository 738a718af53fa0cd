"""Progress on stderr: a bar on a terminal, elsewhere one line per minute."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

_PERIOD = 60.0


class Progress:
    """Counts what is done and estimates the time that is left.

    Args:
        unit: what is counted, in the plural.
        clock: seconds that pass.
    """

    def __init__(self, unit: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._unit = unit
        self._clock = clock
        self._bar: Any = None
        self._total = self._done = self._before = 0
        self._begun = self._printed = clock()

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def start(self, total: int, done: int = 0) -> None:
        """Begin to count to `total`; `done` of them were finished before."""
        self._total, self._done, self._before = total, done, done
        self._begun = self._printed = self._clock()
        if sys.stderr.isatty():
            from rich import progress
            from rich.console import Console

            self._bar = progress.Progress(
                progress.TextColumn(self._unit),
                progress.BarColumn(),
                progress.MofNCompleteColumn(),
                progress.TimeRemainingColumn(),
                progress.TextColumn("{task.fields[note]}", markup=False),
                console=Console(stderr=True),
            )
            self._bar.add_task("", total=total, completed=done, note="")
            self._bar.start()

    def advance(self, note: str = "") -> None:
        """Count one more; the note is a few words on the last one."""
        self._done += 1
        now = self._clock()
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], completed=self._done, note=note)
        elif now - self._printed >= _PERIOD:
            self._printed = now
            rest = (now - self._begun) / (self._done - self._before) * (self._total - self._done)
            left = f"{timedelta(seconds=round(rest))} left"
            counted = f"{self._done} of {self._total} {self._unit}"
            sys.stderr.write(", ".join(part for part in (counted, left, note) if part) + "\n")

    def update(self, done: int, total: int) -> None:
        """Set both counts."""
        if not self._total:
            self.start(total)
        self._done = done - 1
        self.advance()
