"""Progress on stderr: a bar on a terminal; elsewhere a line per minute."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

_PERIOD = 60.0  # seconds between two lines
_REFRESH = 1.0  # seconds between two estimates on a terminal


class Progress:
    """A counter that shows how much is done, and an `estimate` of the seconds left.

    Without an estimate the time left follows from the mean duration so far.
    """

    def __init__(
        self,
        unit: str,
        clock: Callable[[], float] = time.monotonic,
        *,
        shown: bool = True,
        estimate: Callable[[], float | None] | None = None,
    ) -> None:
        self._unit = unit
        self._clock = clock
        self.shown = shown
        self._estimate = estimate or self._by_mean
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
        """Begin to count to `total`, or begin again; `done` of them were finished before."""
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
                progress.TextColumn("{task.fields[left]}"),
                progress.TextColumn("{task.fields[note]}", markup=False),
                console=Console(stderr=True),
            )
            self._bar.add_task("", total=total, completed=done, left="", note="")
            self._bar.start()

    def advance(self, note: str = "") -> None:
        """Count one more; the note is a few words about it."""
        self._done += 1
        fields = {"note": note}
        period = _PERIOD if self._bar is None else _REFRESH
        if self._clock() - self._printed >= period:
            self._printed = self._clock()
            seconds = self._estimate()
            fields["left"] = "" if seconds is None else f"{timedelta(seconds=round(seconds))} left"
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], completed=self._done, **fields)
        elif self.shown and "left" in fields:
            parts = (f"{self._done} of {self._total} {self._unit}", fields["left"], note)
            sys.stderr.write(", ".join(filter(None, parts)) + "\n")

    def _by_mean(self) -> float:
        mean = (self._clock() - self._begun) / (self._done - self._before)
        return mean * (self._total - self._done)

    def note(self, sentence: str, *, once: str) -> None:
        """Write a remark if progress is shown, the first one with this value of `once` only."""
        if self.shown and once not in self._noted:
            self._noted.add(once)
            sys.stderr.write(f"{sentence}\n")

    def update(self, done: int, total: int) -> None:
        """Set both counts."""
        if not self._total:
            self.start(total)
        self._done = done - 1
        self.advance()
