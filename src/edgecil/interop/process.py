"""Other programs under way: started, watched, and stopped with us."""

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

GRACE = 5.0  # seconds between asking a program to end and killing it
_TAIL = 4000


@dataclass(frozen=True)
class Ended:
    """A program that has ended.

    Attributes:
        code: its exit code; minus the signal's number if a signal ended it.
        seconds: it took.
        peak_memory: most memory it used, in bytes.
        too_long: whether we ended it because its time was over.
    """

    code: int
    seconds: float
    peak_memory: int
    too_long: bool

    @property
    def how(self) -> str:
        """The code in words."""
        if self.code >= 0:
            return f"exit code {self.code}"
        memory = " (often: out of memory)" if -self.code == signal.SIGKILL else ""
        return f"{signal.Signals(-self.code).name}{memory}"


class Processes:
    """Runs programs from several threads, and stops those under way when asked to."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._alive: set[int] = set()
        self._expired: set[int] = set()
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
        """Run a program to its end, with all it says going to a file.

        Args:
            command: its words.
            log: the file.
            cwd: where it runs.
            environment: variables it gets besides ours.
            timeout: seconds after which it is ended, with its children.

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
            alarm = threading.Timer(timeout or threading.TIMEOUT_MAX, self._expire, [process.pid])
            alarm.daemon = True
            alarm.start()
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            alarm.cancel()
            with self._lock:
                self._alive.remove(process.pid)
                too_long = process.pid in self._expired
                self._expired.discard(process.pid)
        unit = 1 if sys.platform == "darwin" else 1024
        return Ended(
            process.returncode,
            time.perf_counter() - start,
            usage.ru_maxrss * unit,
            too_long,
        )

    def stop(self) -> None:
        """End whatever is under way, with its children, and start nothing more."""
        with self._lock:
            self._stopped = True
            alive = set(self._alive)
        self._end(alive)

    def _expire(self, pid: int) -> None:
        """End a program whose time is over, with its children."""
        with self._lock:
            if pid not in self._alive:
                return
            self._expired.add(pid)
        self._end({pid})

    def _end(self, pids: set[int]) -> None:
        """Ask programs and their children to end, and kill what has not after a while."""
        _signal_groups(pids, signal.SIGTERM)
        deadline = time.monotonic() + GRACE
        try:
            while pids & self._alive and time.monotonic() < deadline:
                time.sleep(0.02)
        finally:
            _signal_groups(pids, signal.SIGKILL)


def _signal_groups(pids: set[int], number: signal.Signals) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.killpg(pid, number)


@contextmanager
def signals_interrupt() -> Iterator[None]:
    """Let SIGTERM and SIGHUP raise KeyboardInterrupt, so that whoever ends us ends programs too.

    A signal that is ignored (`nohup`) stays so; other threads than the main one get no signals.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        for number, handler in before.items():
            if handler != signal.SIG_IGN:
                signal.signal(number, interrupt)
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def last_words(log: Path) -> tuple[str, str]:
    """How a program's last line goes on a sentence about it, and the end of what it said."""
    tail = log.read_text(encoding="utf-8", errors="replace")[-_TAIL:]
    lines = [line.strip() for line in tail.splitlines() if line.strip()]
    return f"; its last words: {lines[-1]}" if lines else "", tail
