"""Processes of other programs: started, timed, and stopped together with this one.

Each program runs below :mod:`edgecil.interop.guard`, which also stops it if this process dies.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from edgecil.errors import PrerequisiteError
from edgecil.interop import guard

GRACE = 5.0  # seconds between SIGTERM and SIGKILL
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


def run_program(
    command: Sequence[str],
    log: Path,
    *,
    lifeline: IO[str],
    cwd: Path,
    environment: Mapping[str, str],
    timeout: float | None = None,
) -> Ended:
    """Run a program to its end; its output goes to a file.

    It is stopped with its children after the timeout, and once the pipe ends that `lifeline` reads.
    """
    start, limits = time.perf_counter(), (str(timeout or 0), str(GRACE))
    with log.open("wb") as file:
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", guard.__file__, *limits, *command],
            stdin=lifeline,
            stdout=file,
            stderr=subprocess.STDOUT,
            cwd=cwd,
            env={**os.environ, **environment},
            start_new_session=True,
        )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    unit = 1 if sys.platform == "darwin" else 1024
    return Ended(process.returncode, time.perf_counter() - start, usage.ru_maxrss * unit)


def require_process_groups() -> None:
    """Raise on Windows, where a program cannot be stopped together with its children."""
    if sys.platform == "win32":
        raise PrerequisiteError(
            "Training with another program requires Linux or macOS. Got Windows; train in WSL or "
            "on another machine, and analyse the results here."
        )


def last_log_line(log: Path) -> tuple[str, str]:
    """Return the last log line, as a clause of an error message, and the end of the log."""
    tail = log.read_text(encoding="utf-8", errors="replace")[-_TAIL:]
    lines = [line.strip() for line in tail.splitlines() if line.strip()]
    return f"; last log line: {lines[-1]}" if lines else "", tail
