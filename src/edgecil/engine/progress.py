"""The progress of a call of `run`, in a file that other processes read."""

from __future__ import annotations

import os
import socket
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from edgecil.engine.plan import Node, Prefix
from edgecil.errors import EdgecilError
from edgecil.io import limits
from edgecil.io.files import check_file, replace_file

PROGRESS_FILE = "progress.json"

_PERIOD = 2.0  # seconds between two writes
_SILENT = 60.0  # seconds after which a process on another machine counts as ended


@dataclass(frozen=True)
class RunningTask:
    """A task training under way."""

    method: str
    seed: int
    tasks: Prefix  # this task and all earlier ones
    started: float  # in seconds since 1970

    @property
    def node(self) -> Node:
        """The node in the plan."""
        return Node(self.method, self.seed, self.tasks)


@dataclass(frozen=True)
class RunProgress:
    """The last news of a call of `run` by a process of a host; times are seconds since 1970."""

    process: int
    host: str
    started: float
    updated: float
    workers: int
    shard: str | None = None
    running: tuple[RunningTask, ...] = ()
    ended: bool = False

    @property
    def alive(self) -> bool:
        """Whether the call is still training; from another machine its silence of a minute says."""
        if self.ended or self.host != socket.gethostname():
            return not self.ended and time.time() - self.updated < _SILENT
        if sys.platform == "win32":  # there, signal 0 would interrupt the process
            import psutil

            return bool(psutil.pid_exists(self.process))
        try:
            os.kill(self.process, 0)
        except OSError as error:
            return not isinstance(error, ProcessLookupError)  # or another user's process
        return True


def read_progress(directory: Path) -> RunProgress | None:
    """Return the progress in an experiment directory; None if there is none or it is damaged."""
    path = directory / PROGRESS_FILE
    try:
        check_file(path, limits.TEXT)  # reading a pipe would not end
        return msgspec.json.decode(path.read_bytes(), type=RunProgress)
    except (OSError, EdgecilError, UnicodeDecodeError, msgspec.MsgspecError):
        return None


class ProgressWriter:
    """Keeps the file up to date while trainings run, every two seconds."""

    def __init__(self, directory: Path, *, workers: int, shard: str | None = None) -> None:
        self._path, now = directory / PROGRESS_FILE, time.time()
        self._progress = RunProgress(os.getpid(), socket.gethostname(), now, now, workers, shard)
        self._running: dict[Node, float] = {}
        self._stop = threading.Event()
        self._beat = threading.Thread(target=self._repeat, daemon=True)

    def __enter__(self) -> ProgressWriter:
        self._write()
        self._beat.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._beat.join()
        self._running.clear()
        self._write(ended=True)

    def begin(self, node: Node) -> None:
        """A training has started."""
        self._running[node] = time.time()

    def end(self, node: Node) -> None:
        """A training has ended."""
        self._running.pop(node, None)

    def _repeat(self) -> None:
        while not self._stop.wait(_PERIOD):
            self._write()

    def _write(self, *, ended: bool = False) -> None:
        running = tuple(
            RunningTask(node.method, node.seed, node.prefix, started)
            for node, started in list(self._running.items())
        )
        news = replace(self._progress, updated=time.time(), running=running, ended=ended)
        with suppress(EdgecilError), replace_file(self._path) as file:
            file.write(msgspec.json.encode(news))
