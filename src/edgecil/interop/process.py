"""Processes of other programs: started, timed, and stopped together with this one.

Each program runs below :mod:`edgecil.interop.guard`, which kills it if this process dies.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from edgecil.errors import PrerequisiteError
from edgecil.interop import guard

GRACE = guard.GRACE
_TAIL = 4000


@dataclass(frozen=True)
class Ended:
    """How a program ended: the exit code, or minus a signal's number; memory is in bytes."""

    code: int
    seconds: float
    peak_memory: int

    @property
    def how(self) -> str:
        """The code in words."""
        if self.code >= 0:
            return f"exit code {self.code}"
        memory = " (often: out of memory)" if -self.code == signal.SIGKILL else ""
        return f"{signal.Signals(-self.code).name}{memory}"


class Processes:
    """Runs programs from several threads and can stop all of them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._alive: set[int] = set()
        self._stopped = False

    def run(
        self,
        command: Sequence[str],
        log: Path,
        *,
        cwd: Path,
        environment: Mapping[str, str],
        timeout: float | None = None,
    ) -> Ended:
        """Run a program to its end, or stop it and its children; its output goes to a file."""
        start = time.perf_counter()
        with log.open("wb") as file:
            with self._lock:
                if self._stopped:
                    raise InterruptedError("stopped before it began")
                process = subprocess.Popen(
                    [sys.executable, "-I", "-S", guard.__file__, str(timeout or 0), *command],
                    stdin=subprocess.PIPE,
                    stdout=file,
                    stderr=subprocess.STDOUT,
                    cwd=cwd,
                    env={**os.environ, **environment},
                    start_new_session=True,
                )
                self._alive.add(process.pid)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            assert process.stdin is not None
            process.stdin.close()
            with self._lock:
                self._alive.remove(process.pid)
        unit = 1 if sys.platform == "darwin" else 1024
        return Ended(process.returncode, time.perf_counter() - start, usage.ru_maxrss * unit)

    def stop(self) -> None:
        """Stop all running programs with their children, and start no more."""
        with self._lock:
            self._stopped = True
            alive = set(self._alive)
        _signal_groups(alive, signal.SIGTERM)
        deadline = time.monotonic() + GRACE
        try:
            while alive & self._alive and time.monotonic() < deadline:
                time.sleep(0.02)
        finally:
            _signal_groups(alive, signal.SIGKILL)


def require_process_groups() -> None:
    """Raise on Windows, where a program cannot be stopped together with its children."""
    if sys.platform == "win32":
        raise PrerequisiteError(
            "Training with another program requires Linux or macOS. Got Windows; train in WSL or "
            "on another machine, and analyse the results here."
        )


def _signal_groups(pids: set[int], number: signal.Signals) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.killpg(pid, number)


@contextmanager
def signals_interrupt() -> Iterator[None]:
    """Let SIGTERM and SIGHUP raise KeyboardInterrupt, so that running programs are stopped.

    A signal that is ignored (`nohup`) stays ignored. Only the main thread receives signals.
    """
    before: dict[signal.Signals, Any] = {}
    if threading.current_thread() is threading.main_thread():
        before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}

    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    try:
        for number, handler in before.items():
            if handler != signal.SIG_IGN:
                signal.signal(number, interrupt)
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def last_log_line(log: Path) -> tuple[str, str]:
    """Return the last log line, as a clause of an error message, and the end of the log."""
    tail = log.read_text(encoding="utf-8", errors="replace")[-_TAIL:]
    lines = [line.strip() for line in tail.splitlines() if line.strip()]
    return f"; last log line: {lines[-1]}" if lines else "", tail
