"""Progress on stderr: a bar on a terminal, elsewhere one line per minute."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

_PERIOD = 60.0


def is_watched() -> bool:
    """Return whether people read stderr while the program runs: a terminal or IPython."""
    ipython = sys.modules.get("IPython")
    return sys.stderr.isatty() or (ipython is not None and ipython.get_ipython() is not None)


class Progress:
    """Counts what is done and estimates the time that is left.

    Args:
        unit: what is counted, in the plural.
        clock: seconds that pass.
        shown: whether to show anything; None shows it if people watch, see :func:`is_watched`.

    Attributes:
        shown: whether anything is shown.
    """

    def __init__(
        self,
        unit: str,
        clock: Callable[[], float] = time.monotonic,
        *,
        shown: bool | None = True,
    ) -> None:
        self._unit = unit
        self.shown = is_watched() if shown is None else shown
        self._clock = clock
        self._bar: Any = None
        self._total = self._done = self._before = 0
        self._begun = self._printed = clock()

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def _stop(self) -> None:
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
        now = self._clock()
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], completed=self._done, note=note)
        elif self.shown and now - self._printed >= _PERIOD:
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
