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
    """Counts what is done and estimates the time that is left."""

    def __init__(
        self,
        unit: str,
        clock: Callable[[], float] = time.monotonic,
        *,
        shown: bool = True,
    ) -> None:
        self._unit = unit
        self.shown = shown
        self._clock = clock
        self._noted: set[str] = set()
        self._bar: Any = None
        self._written: int | None = None  # the count in the last line
        self._total = self._done = self._before = 0
        self._begun = self._printed = clock()

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def _stop(self) -> None:
        if self._written is not None and self._written < self._done == self._total:
            self._write()  # the last of some lines
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def start(self, total: int, done: int = 0) -> None:
        """Begin to count to `total`; `done` of them were finished before.

        A second call begins a new count.
        """
        self._stop()
        self._total, self._done, self._before = total, done, done
        self._begun = self._printed = self._clock()
        self._written = None
        if self.shown and done < total and sys.stderr.isatty():
            from rich import progress
            from rich.console import Console

            self._bar = progress.Progress(
                progress.TextColumn(self._unit),
                progress.BarColumn(),
                progress.MofNCompleteColumn(),
                progress.TextColumn("{task.fields[left]}", markup=False),
                progress.TextColumn("{task.fields[note]}", markup=False),
                console=Console(stderr=True),
            )
            self._bar.add_task("", total=total, completed=done, left="", note="")
            self._bar.start()

    def advance(self, note: str = "") -> None:
        """Count one more; the note is a few words on the last one."""
        self._done += 1
        if self._bar is not None:
            fields = {"note": note}
            if self._clock() - self._printed >= _REFRESH or self._done == self._total:
                self._printed, fields["left"] = self._clock(), self._left()
            self._bar.update(self._bar.task_ids[0], completed=self._done, **fields)
        elif self.shown and self._clock() - self._printed >= _PERIOD:
            self._write(note)

    def _write(self, note: str = "") -> None:
        """Write a line with the count, the time left if it can be estimated, and the note."""
        self._printed, self._written = self._clock(), self._done
        counted = f"{self._done} of {self._total} {self._unit}"
        sys.stderr.write(", ".join(part for part in (counted, self._left(), note) if part) + "\n")

    def _left(self) -> str:
        """The time left by the mean so far; empty if it cannot be estimated."""
        if not self._before < self._done < self._total:
            return ""
        mean = (self._clock() - self._begun) / (self._done - self._before)
        return f"{timedelta(seconds=round(mean * (self._total - self._done)))} left"

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
