"""Progress on stderr: a bar on a terminal; elsewhere a line per minute."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

_PERIOD = 60.0  # seconds between two lines


class Progress:
    """Counts what is done and estimates the time that is left, by the mean so far."""

    def __init__(
        self, unit: str, clock: Callable[[], float] = time.monotonic, *, shown: bool = True
    ) -> None:
        self._unit, self._clock, self.shown = unit, clock, shown
        self._noted: set[str] = set()
        self._bar: Any = None
        self._total = self._done = self._before = 0
        self._begun = self._printed = clock()

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def start(self, total: int, done: int = 0) -> None:
        """Begin to count to `total`, again if need be; `done` of them were finished before."""
        self.__exit__()
        self._bar = None
        self._total, self._done, self._before = total, done, done
        self._begun = self._printed = self._clock()
        if self.shown and done < total and sys.stderr.isatty():
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
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], completed=self._done, note=note)
        elif self.shown and self._clock() - self._printed >= _PERIOD:
            self._printed = self._clock()
            mean = (self._printed - self._begun) / (self._done - self._before)
            left = timedelta(seconds=round(mean * (self._total - self._done)))
            parts = [f"{self._done} of {self._total} {self._unit}, {left} left", note]
            sys.stderr.write(", ".join(filter(None, parts)) + "\n")

    def note(self, sentence: str, *, once: str) -> None:
        """Write a remark, if anything is shown; only the first one under a name."""
        if self.shown and once not in self._noted:
            self._noted.add(once)
            sys.stderr.write(f"{sentence}\n")

    def update(self, done: int, total: int) -> None:
        """Set both counts."""
        if not self._total:
            self.start(total)
        self._done = done - 1
        self.advance()
