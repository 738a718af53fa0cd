"""Other programs under way: started, watched, and stopped with us."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_TAIL = 4000


@dataclass(frozen=True)
class Ended:
    """A program that has ended.

    Attributes:
        code: its exit code; minus the signal's number if a signal ended it.
        seconds: it took.
        peak_memory: most memory it used, in bytes.
    """

    code: int
    seconds: float
    peak_memory: int


class Processes:
    """Runs programs from several threads, and stops those under way when asked to."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._alive: set[int] = set()
        self._stopped = False

    def run(
        self, command: Sequence[str], log: Path, *, cwd: Path, environment: Mapping[str, str]
    ) -> Ended:
        """Run a program to its end, with all it says going to a file.

        Raises:
            OSError: it cannot be started.
        """
        start = time.perf_counter()
        with log.open("wb") as file:
            with self._lock:
                if self._stopped:
                    raise InterruptedError("stopped before it began")
                process = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=file,
                    stderr=subprocess.STDOUT,
                    cwd=cwd,
                    env={**os.environ, **environment},
                    start_new_session=True,
                )
                self._alive.add(process.pid)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            with self._lock:
                self._alive.remove(process.pid)
        unit = 1 if sys.platform == "darwin" else 1024
        return Ended(process.returncode, time.perf_counter() - start, usage.ru_maxrss * unit)

    def stop(self) -> None:
        """End whatever is under way, with its children, and start nothing more."""
        with self._lock:
            self._stopped = True
            for pid in self._alive:
                os.killpg(pid, signal.SIGTERM)


def last_words(log: Path, code: int) -> tuple[str, str]:
    """Why a program failed: one line, and the end of what it said."""
    tail = log.read_text(encoding="utf-8", errors="replace")[-_TAIL:]
    lines = [line.strip() for line in tail.splitlines() if line.strip()]
    how = f"exit code {code}"
    if code < 0:
        memory = " (often: out of memory)" if -code == signal.SIGKILL else ""
        how = f"{signal.Signals(-code).name}{memory}"
    said = f"; its last words: {lines[-1]}" if lines else ""
    return f"The program ended with {how}{said}", tail
